#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Which pages reclaim takes does not depend on who has cleared their accessed bits
# before.

. "$(dirname "$0")/lib.sh"

LRU_GEN=/sys/kernel/debug/lru_gen
# The two youngest generations are not reclaimed.
ROUNDS=3

need_generations() {
	[ -w $LRU_GEN ] || skip "no $LRU_GEN"
	(($(</sys/kernel/mm/lru_gen/enabled) & 3)) || skip "no multi-gen LRU"
	cgroup "$1" memory
	IN=$GROUP
}

# Sets ID, which reclaim has for the cgroup, and NEWEST and OLDEST, its generations
# on node SLOW. FILES[generation] are pages of files there.
generations() {
	local a b c d mine=0 here=0
	FILES=()
	OLDEST=
	while read -r a b c d; do
		case $a in
		memcg)
			mine=$([ "$c" = "${GROUP#/sys/fs/cgroup}" ] && echo 1 || echo 0)
			if [ "$mine" = 1 ]; then ID=$b; fi
			;;
		node)
			here=$((mine && b == SLOW))
			;;
		*)
			if [ "$here" = 1 ]; then
				OLDEST=${OLDEST:-$a}
				NEWEST=$a
				FILES[a]=${d%%[^0-9]*}
			fi
			;;
		esac
	done <$LRU_GEN
	[ -n "$OLDEST" ] || fail "the cgroup has no generations on node $SLOW"
}

# A new generation: what was accessed since the last one comes there.
age() {
	generations
	echo "+ $ID $SLOW $NEWEST 200 1" >$LRU_GEN || fail "no new generation"
	generations
}

# ROUNDS new generations, before each of which the process HOT accesses its pages.
# Once more from the beginning where kswapd made one, too: what was accessed before
# its one is in the next to newest.
rounds() { # hot
	local i tries first
	for ((tries = 0; tries < 10; tries++)); do
		age
		first=$NEWEST
		for ((i = 0; i < ROUNDS; i++)); do
			# Nor do TLBs keep an access from setting its bit.
			echo 1 >"/proc/$1/clear_refs"
			expect 0 check
			if [ "$(<$SCAN/running)" = 1 ]; then
				wait_until passed $(($(<$SCAN/passes) + 3)) ||
					fail "the scan stands still"
			fi
			age
		done
		((NEWEST == first + ROUNDS)) && return
		say "$((NEWEST - first)) generations came where $ROUNDS were asked for"
	done
	fail "somebody else makes new generations all the time"
}

# One file is accessed before each new generation, and another one is not. Sets
# YOUNG, pages of the newest generation; LEFT, pages that are left when the oldest
# generations are gone; and KEPT, those of them that were accessed.
reclaim() { # name
	local dir=${PGHOT_TEST_DIR:-/var/tmp} i hot
	need_page_cache "$dir"
	need_generations "$1"
	memory "file:$dir/pghot-cold.$$" "$MB" "$SLOW"
	memory "file:$dir/pghot-hot.$$" "$MB" "$SLOW"
	hot=$HOTMEM
	[ -w "/proc/$hot/clear_refs" ] || skip "no clear_refs"
	sync
	rounds "$hot"
	YOUNG=${FILES[NEWEST]}
	echo "- $ID $SLOW $((NEWEST - 2)) 1 $((4 * PAGES))" >$LRU_GEN ||
		fail "nothing is reclaimed"
	generations
	LEFT=0
	for i in "${FILES[@]}"; do
		((LEFT += i))
	done
	ask where
	KEPT=$(on "$SLOW")
	say "scan $1: $YOUNG of $((2 * PAGES)) pages in the newest generation, $LEFT left," \
		"$KEPT of them accessed"
}

# Accesses are too far apart to make a page ready: all stay where they are.
test_takes_the_same_with_the_scan() {
	local young kept left
	need_pghot
	knob $BALANCING 0
	reclaim off
	young=$YOUNG kept=$KEPT left=$LEFT
	((kept >= PAGES * 9 / 10)) || skip "what is accessed is reclaimed all the same"
	((left <= PAGES * 11 / 10)) || skip "what is not accessed is not reclaimed"
	kill_memory
	need_scan
	knob $PGHOT/window_ms 100
	knob $PGHOT/freq_threshold 3
	remember
	reclaim on
	untouched pghot_ready
	((YOUNG >= young * 95 / 100 && YOUNG <= young * 105 / 100)) ||
		fail "$YOUNG pages are in the newest generation, $young without the scan"
	((KEPT >= kept * 95 / 100)) || fail "$KEPT accessed pages are left, $kept without"
	((LEFT <= left * 105 / 100)) || fail "$LEFT pages are left, $left without"
}

run_tests "$@"
