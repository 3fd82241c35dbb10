#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What is promoted because it is hot is young where it arrives, so that reclaim
# does not take it first.

. "$(dirname "$0")/lib.sh"

MULTI_GEN=/sys/kernel/mm/lru_gen/enabled

# Pages of node FAST on the active list, or in generations that count as such.
active() { # anon|file
	local line
	refresh
	while read -r line; do
		case $line in
		*"Active($1):"*)
			line=${line%kB*}
			echo $((${line##*:} / 4))
			return
			;;
		esac
	done <"$NODES/node$FAST/meminfo"
	return 1
}

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

need_multi_gen() {
	need_pghot
	[ -w $MULTI_GEN ] || skip "no multi-gen LRU"
}

test_anon() {
	need_multi_gen
	knob $MULTI_GEN 1
	arrive_young anon "$MB" "$SLOW"
}

test_file() {
	need_multi_gen
	knob $MULTI_GEN 1
	file_arrives_young
}

test_anon_classic() {
	need_pghot
	[ ! -w $MULTI_GEN ] || knob $MULTI_GEN 0
	arrive_young anon "$MB" "$SLOW"
}

test_file_classic() {
	need_pghot
	[ ! -w $MULTI_GEN ] || knob $MULTI_GEN 0
	file_arrives_young
}

run_tests "$@"
