#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Hint faults promote what a busy loop accesses, whatever kind of memory it is,
# and its contents arrive with it.

. "$(dirname "$0")/lib.sh"

# Pages arrive in the top tier, all of them, and are counted.
promotes() { # hotmem's arguments
	need_pghot
	balance 2
	memory "$@"
	remember
	ask run
	placed "$TOPLIST" "$PAGES"
	ask stop
	expect 0 check
	grown pgpromote_success "$PAGES" ||
		fail "pgpromote_success grew by $(grew pgpromote_success)"
	wait_until grown pghot_promoted_pages "$PAGES" ||
		fail "pghot_promoted_pages grew by $(grew pghot_promoted_pages)"
	conserved
}

test_anon() { promotes anon "$MB" "$(lower)"; }

test_shared_threads() { promotes -c "$(cpus)" anon "$MB" "$(lower)"; }

test_shmem_one_process() { promotes shmem "$MB" "$(lower)"; }

test_shmem_two_processes() { promotes -p -c "$(cpus)" shmem "$MB" "$(lower)"; }

test_file() {
	local dir=${PGHOT_TEST_DIR:-/var/tmp}
	need_pghot
	case $(stat -f -c %T "$dir") in
	tmpfs | overlayfs) skip "no file system with files of its own at $dir: set PGHOT_TEST_DIR" ;;
	esac
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
	ask stop
	expect 0 check
	# In one piece, and moved as one record.
	expect "$PAGES" huge
	arrived=$(grew thp_migration_success)
	((arrived >= huge)) || fail "$arrived of $huge huge pages migrated whole"
	conserved
	(($(grew pghot_moved) <= huge + 64)) ||
		fail "$huge huge pages took $(grew pghot_moved) records"
	grown pghot_promoted_pages "$PAGES" || fail "pages of huge pages not counted"
}

test_large_folios() {
	local sizes=/sys/kernel/mm/transparent_hugepage
	need_pghot
	[ -e $sizes/hugepages-64kB/enabled ] || skip "no 64 KiB folios"
	knob_choice $sizes/hugepages-64kB/enabled madvise
	knob_choice $sizes/hugepages-2048kB/enabled never
	promotes thp "$MB" "$SLOW"
}

# A file that shows its choices with the present one in brackets.
knob_choice() {
	local now
	now=$(<"$1")
	now=${now#*[}
	SAVED_FILES+=("$1")
	SAVED_VALUES+=("${now%]*}")
	echo "$2" >"$1" || fail "cannot set $1 to $2"
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
