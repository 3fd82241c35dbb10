#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Hint faults promote what a busy loop accesses, whatever kind of memory it is,
# and its contents arrive with it.

. "$(dirname "$0")/lib.sh"

# Pages arrive in the top tier, all of them, and are counted.
promotes() { # hotmem's arguments
	need_pghot
	balance 2
	remember
	memory "$@"
	ask run
	placed "$TOPLIST" "$PAGES"
	promoted "$PAGES"
}

test_anon() { promotes anon "$MB" "$(lower)"; }

test_shared_threads() { promotes -c "$(cpus)" anon "$MB" "$(lower)"; }

test_shmem_one_process() { promotes shmem "$MB" "$(lower)"; }

test_shmem_two_processes() { promotes -p -c "$(cpus)" shmem "$MB" "$(lower)"; }

test_file() {
	local dir=${PGHOT_TEST_DIR:-/var/tmp}
	need_pghot
	need_page_cache "$dir"
	promotes "file:$dir/pghot-test.$$" "$MB" "$SLOW"
}

test_thp() {
	local huge=$((PAGES / 512)) arrived
	need_pghot
	grep -q '\[madvise\]\|\[always\]' /sys/kernel/mm/transparent_hugepage/enabled ||
		skip "no transparent huge pages"
	balance 2
	memory thp "$MB" "$SLOW"
	expect "$PAGES" huge
	remember
	ask run
	placed "$TOPLIST" "$PAGES"
	promoted "$PAGES"
	# In one piece, and moved as one record.
	expect "$PAGES" huge
	arrived=$(grew thp_migration_success)
	((arrived >= huge)) || fail "$arrived of $huge huge pages migrated whole"
	(($(grew pghot_moved) < huge + 64)) ||
		fail "$huge huge pages took $(grew pghot_moved) records"
}

test_large_folios() {
	local sizes=/sys/kernel/mm/transparent_hugepage
	need_pghot
	[ -e $sizes/hugepages-64kB/enabled ] || skip "no 64 KiB folios"
	knob $sizes/hugepages-64kB/enabled madvise
	knob $sizes/hugepages-2048kB/enabled never
	promotes thp "$MB" "$SLOW"
}

lower() {
	find_tiers
	echo "${LOWER[0]:-0}"
}

# One CPU of the first top-tier node, and one of the second if there is one.
cpus() {
	local cpu
	find_tiers
	cpu=$(cpu_of "${TOP[0]:-0}")
	echo "$cpu,$(cpu_of "${TOP[1]:-${TOP[0]:-0}}")"
}

run_tests "$@"
