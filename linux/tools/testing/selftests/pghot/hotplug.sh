#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Memory of the lower tier goes offline and comes back, with records in it.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/blocks.sh"

sections_are() { [ "$(<"$PGHOT/node$SLOW/sections")" = "$1" ]; }

sections_came_back() {
	sections_are "$SECTIONS" ||
		fail "$(<"$PGHOT/node$SLOW/sections") of $SECTIONS sections came back"
}

# What is accessed now is promoted.
works_again() {
	arrives -c "$CPU" anon "$MB" "$SLOW"
}

test_map_follows_blocks() {
	local bytes
	need_blocks
	bytes=$(<"$PGHOT/node$SLOW/map_bytes")
	wait_until offline "${BLOCKS[-1]}" || fail "${BLOCKS[-1]} stays online"
	sections_are $((SECTIONS - SECTIONS / ${#BLOCKS[@]})) ||
		fail "$(<"$PGHOT/node$SLOW/sections") of $SECTIONS sections are left"
	(($(<"$PGHOT/node$SLOW/map_bytes") < bytes)) || fail "the map is as large as before"
	online "${BLOCKS[-1]}"
	sections_came_back
	[ "$(<"$PGHOT/node$SLOW/map_bytes")" = "$bytes" ] ||
		fail "the map is not as large as before"
}

# Memory that comes while pghot is off gets records when it is on again; what
# went meanwhile does not.
test_map_follows_blocks_while_off() {
	need_blocks
	knob $PGHOT/enabled 0
	wait_until offline "${BLOCKS[-1]}" || fail "${BLOCKS[-1]} stays online"
	sections_are 0 || fail "$(<"$PGHOT/node$SLOW/sections") sections while off"
	echo 1 >$PGHOT/enabled
	sections_are $((SECTIONS - SECTIONS / ${#BLOCKS[@]})) ||
		fail "$(<"$PGHOT/node$SLOW/sections") of $SECTIONS sections are left"
	echo 0 >$PGHOT/enabled
	online "${BLOCKS[-1]}"
	sections_are 0 || fail "$(<"$PGHOT/node$SLOW/sections") sections came while off"
	echo 1 >$PGHOT/enabled
	sections_came_back
}

# A node that comes while pghot is off gets a thread that is parked.
test_node_goes_and_comes_back_while_off() {
	local block
	need_blocks
	knob $PGHOT/enabled 0
	for block in "${BLOCKS[@]}"; do
		wait_until offline "$block" || fail "$block stays online"
	done
	[ ! -e "$PGHOT/node$SLOW" ] || fail "node$SLOW is still there"
	online "${BLOCKS[@]}"
	wait_until [ -e "$PGHOT/node$SLOW/kmigrated" ] || fail "node$SLOW does not come back"
	sections_are 0 || fail "$(<"$PGHOT/node$SLOW/sections") sections came while off"
	is_parked || fail "kmigrated$SLOW is in state $(thread_state), not parked"
	echo 1 >$PGHOT/enabled
	sections_came_back
	balance 2
	works_again
}

# Records wait, and their memory goes: each is accounted for.
test_records_go_with_their_memory() {
	local block
	need_blocks
	balance 2
	memory -c "$CPU" anon "$MB" "$SLOW"
	hold_ready "$PAGES"
	# All but the last block, so that there is somewhere to go.
	for block in "${BLOCKS[@]::${#BLOCKS[@]}-1}"; do
		wait_until offline "$block" || fail "$block stays online"
	done
	expect 0 check
	conserved
	say "offline $(grew pghot_skip_offline), gone $(grew pghot_skip_gone)"
	(($(grew pghot_skip_offline) + $(grew pghot_skip_gone) >= PAGES / 2)) ||
		fail "records of memory that went are still there: $CONSERVED"
	online "${BLOCKS[@]}"
	echo 65536 >$RATE
	ask run
	placed "$TOPLIST" "$PAGES"
	ask stop
	expect 0 check
	conserved
}

test_blocks_go_under_load() {
	local i
	need_blocks
	balance 2
	knob $PGHOT/batch_pages 16
	knob $RATE 1
	remember
	memory -c "$CPU" anon "$MB" "$SLOW"
	ask run
	for ((i = 0; i < 3; i++)); do
		wait_until offline "${BLOCKS[0]}" || fail "${BLOCKS[0]} stays online"
		wait_until offline "${BLOCKS[1]}" || fail "${BLOCKS[1]} stays online"
		online "${BLOCKS[0]}" "${BLOCKS[1]}"
	done
	echo 65536 >$RATE
	placed "$TOPLIST" "$PAGES"
	ask stop
	expect 0 check
	conserved
}

# Nothing is promoted meanwhile: memory hotplug complains of what others isolate.
test_while_page_tables_are_scanned() {
	local i
	need_blocks
	need_scan
	knob $RATE 0
	memory -c "$CPU" anon "$MB" "$SLOW"
	ask run
	for ((i = 0; i < 3; i++)); do
		wait_until offline "${BLOCKS[0]}" || fail "${BLOCKS[0]} stays online"
		online "${BLOCKS[0]}"
	done
	echo 65536 >$RATE
	placed "$TOPLIST" "$PAGES"
	kill_memory
	works_again
}

test_node_goes_and_comes_back() {
	local block pid
	need_blocks
	pid=$(<"$PGHOT/node$SLOW/kmigrated")
	balance 2
	memory -c "$CPU" anon "$MB" "$SLOW"
	hold_ready "$PAGES"
	for block in "${BLOCKS[@]}"; do
		wait_until offline "$block" || fail "$block stays online"
	done
	[ ! -e "$PGHOT/node$SLOW" ] || fail "node$SLOW is still there"
	# Who waits for a thread to stop does not wait until it is buried.
	wait_until [ ! -e "/proc/$pid" ] || fail "kmigrated$SLOW still runs"
	expect 0 check
	conserved
	online "${BLOCKS[@]}"
	wait_until [ -e "$PGHOT/node$SLOW/kmigrated" ] || fail "node$SLOW does not come back"
	[ -e "/proc/$(<"$PGHOT/node$SLOW/kmigrated")" ] || fail "kmigrated$SLOW does not come back"
	sections_came_back
	kill_memory
	echo 65536 >$RATE
	works_again
}

# What nobody could promote nobody looks for.
test_page_tables_rest_without_the_node() {
	local block passes
	need_blocks
	need_scan
	echo 0 >$SCAN/enabled
	for block in "${BLOCKS[@]}"; do
		wait_until offline "$block" || fail "$block stays online"
	done
	passes=$(<$SCAN/passes)
	# It begins with several passes at once.
	echo 1 >$SCAN/enabled
	sleep $SLOWER
	! passed $((passes + 1)) || fail "$(($(<$SCAN/passes) - passes)) passes without the node"
	online "${BLOCKS[@]}"
	wait_until passed $((passes + 1)) || fail "it does not begin again"
}

run_tests "$@"
