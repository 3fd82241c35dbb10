#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What is promoted because it is hot is young where it arrives, so that reclaim
# does not take it first.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lru.sh"

# Some wait with the thread's CPU until they are put on the LRU.
arrive_young() { # hotmem's arguments
	local kind=${1%%:*} before grown
	balance 2
	remember
	memory -c "$CPU" "$@"
	before=$(active "$kind") || fail "no Active($kind) of node $FAST"
	ask run
	placed "$FAST" "$PAGES"
	promoted "$PAGES"
	grown=$(($(active "$kind") - before))
	((grown >= PAGES * 3 / 4)) ||
		fail "of $PAGES pages promoted, $grown are active"
}

file_arrives_young() {
	local dir=${PGHOT_TEST_DIR:-/var/tmp}
	need_page_cache "$dir"
	arrive_young "file:$dir/pghot-test.$$" "$MB" "$SLOW"
}

test_anon() {
	need_pghot
	multi_gen
	arrive_young anon "$MB" "$SLOW"
}

test_file() {
	need_pghot
	multi_gen
	file_arrives_young
}

test_anon_classic() {
	need_pghot
	classic
	arrive_young anon "$MB" "$SLOW"
}

test_file_classic() {
	need_pghot
	classic
	file_arrives_young
}

run_tests "$@"
