#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Hint faults promote what a busy loop accesses, whatever kind of memory it is,
# and its contents arrive with it.

. "$(dirname "$0")/lib.sh"

# Pages arrive in the top tier, all of them, and are counted.
promotes() { # hotmem's arguments
	need_pghot
	balance 2
	arrives "$@"
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
	need_pghot
	balance 2
	arrives_huge
}

test_large_folios() {
	need_pghot
	only_64kib
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
