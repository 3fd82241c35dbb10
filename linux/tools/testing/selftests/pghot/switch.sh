#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pghot and its source switched off and on while at work.

. "$(dirname "$0")/lib.sh"

SOURCE=$PGHOT/sources/hint_fault/enabled

# Switched off, the fault itself promotes, as in a kernel without pghot.
stock_promotes() { # switch
	need_pghot
	balance 2
	knob "$1" 0
	remember
	memory -c "$CPU" anon "$MB" "$SLOW"
	ask run
	placed "$FAST" "$PAGES"
	expect 0 check
	untouched pghot_recorded pghot_ready pghot_promoted_pages
	wait_until grown pgpromote_success "$PAGES" ||
		fail "pgpromote_success grew by $(grew pgpromote_success)"
}

test_off_leaves_it_to_the_fault() { stock_promotes $PGHOT/enabled; }

test_source_off_leaves_it_to_the_fault() { stock_promotes $SOURCE; }

test_off_drops_records() {
	need_pghot
	balance 2
	memory -c "$CPU" anon "$MB" "$SLOW"
	hold_ready "$PAGES"
	knob $PGHOT/enabled 0
	ready_is 0 || fail "$(ready_now) records are left"
	grown pghot_skip_disabled "$PAGES" ||
		fail "only $(grew pghot_skip_disabled) counted as dropped"
	conserved
	echo 1 >$PGHOT/enabled
	echo 65536 >$RATE
	remember
	ask run
	placed "$FAST" "$PAGES"
	promoted "$PAGES"
}

test_off_gives_its_memory_back() {
	local sections bytes
	need_records
	sections=$(<"$PGHOT/node$SLOW/sections")
	bytes=$(<"$PGHOT/node$SLOW/map_bytes")
	knob $PGHOT/enabled 0
	[ "$(<"$PGHOT/node$SLOW/sections")" = 0 ] ||
		fail "$(<"$PGHOT/node$SLOW/sections") of $sections sections are left"
	[ "$(<"$PGHOT/node$SLOW/map_bytes")" = 0 ] ||
		fail "$(<"$PGHOT/node$SLOW/map_bytes") of $bytes bytes are left"
	echo 1 >$PGHOT/enabled
	[ "$(<"$PGHOT/node$SLOW/sections")" = "$sections" ] ||
		fail "$(<"$PGHOT/node$SLOW/sections") of $sections sections came back"
	[ "$(<"$PGHOT/node$SLOW/map_bytes")" = "$bytes" ] ||
		fail "$(<"$PGHOT/node$SLOW/map_bytes") of $bytes bytes came back"
}

test_on_and_off_under_load() {
	local i pid
	need_pghot
	balance 2
	pid=$(<"$PGHOT/node$SLOW/kmigrated")
	knob $PGHOT/batch_pages 16
	knob $PGHOT/enabled 0
	knob $RATE 4
	remember
	memory -c "$CPU" anon "$MB" "$SLOW"
	ask run
	for ((i = 0; i < 40; i++)); do
		echo $((i % 2)) >$PGHOT/enabled
		echo $((i % 3 > 0)) >$SOURCE
	done
	echo 1 >$SOURCE
	echo 1 >$PGHOT/enabled
	echo 65536 >$RATE
	placed "$FAST" "$PAGES"
	ask stop
	expect 0 check
	conserved
	[ "$(<"$PGHOT/node$SLOW/kmigrated")" = "$pid" ] || fail "another kmigrated$SLOW"
}

test_parked_thread_sleeps() {
	need_records
	knob $PGHOT/enabled 0
	is_parked || fail "kmigrated$SLOW is in state $(thread_state), not parked"
	echo 1 >$PGHOT/enabled
	wait_until is_unparked || fail "kmigrated$SLOW stays parked"
}

run_tests "$@"
