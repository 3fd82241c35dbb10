#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# No room in the top tier: pages wait, or go to the other socket.

. "$(dirname "$0")/lib.sh"

test_waits_for_room() {
	need_pghot
	balance 2
	knob $PGHOT/window_ms 60000
	memory anon "$MB" "$SLOW"
	hog "${TOP[@]}"
	remember
	ask run
	wait_until grown pghot_delay_target_full 1 ||
		fail "no room, but nothing says so"
	expect 0 check
	release
	placed "$TOPLIST" "$PAGES"
	promoted "$PAGES"
}

test_takes_the_other_socket() {
	need_pghot
	need_two_sockets
	balance 2
	memory -c "$CPU" anon "$MB" "$SLOW"
	hog "$FAST"
	remember
	ask run
	placed "$TOPLIST" "$PAGES"
	# The first node may find room for some in between, but not for most of them.
	(($(on "$OTHER") >= PAGES / 2)) || fail "node $FAST is full: $REPLY"
	promoted "$PAGES"
}

run_tests "$@"
