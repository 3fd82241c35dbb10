#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each page goes to the socket it is accessed from.

. "$(dirname "$0")/lib.sh"

# A node that earlier tests' pages gained nothing on takes few for a while, and others go
# to another node, which is right.
need_both_alike() {
	need_pghot
	need_two_sockets
	knob $PGHOT/backoff 0
}

own_socket() { # share kind
	need_both_alike
	balance 2
	remember
	memory -c "$CPU,$CPU2" -s "$1" "$2" "$MB" "$SLOW"
	ask run
	placed own "$PAGES"
	promoted "$PAGES"
}

test_halves() { own_socket halves anon; }

# Neighbours in each 2 MiB block belong to different sockets.
test_turns() { own_socket turns anon; }

test_turns_shmem() { own_socket turns shmem; }

test_halves_thp() { own_socket halves thp; }

# Page tables find what is hot, and do not know for whom. The NUMA scanner stands still:
# hint faults are the answers to questions, and nothing else.
answers_only() {
	need_both_alike
	balance 2
	knob $DEBUG_BALANCING/scan_delay_ms 10000000
	knob $SCAN/cpu_permille 1000
	knob $SCAN/enabled 1
	remember
}

asked_socket() { # share kind questions
	answers_only
	memory -c "$CPU,$CPU2" -s "$1" "$2" "$MB" "$SLOW"
	ask run
	placed own "$PAGES"
	promoted "$PAGES"
	(($(grew numa_hint_faults) >= $3)) || fail "$(grew numa_hint_faults) answers"
	# What was reported again meanwhile, by the answer or by the scan, is not counted.
	(($(grew pghot_skip_asked) * 2 >= $3)) || fail "asked $(grew pghot_skip_asked) times"
}

test_halves_asked() { asked_socket halves anon "$PAGES"; }

test_turns_asked() { asked_socket turns anon "$PAGES"; }

test_turns_shmem_asked() { asked_socket turns shmem "$PAGES"; }

test_halves_thp_asked() { asked_socket halves thp $((PAGES / 512)); }

# No hint fault is taken on what processes have until one of them writes to it: such
# pages go where they can, without a question that would stay without an answer.
test_not_asked_of_processes_that_share() {
	answers_only
	memory -p -c "$CPU,$CPU2" anon "$MB" "$SLOW"
	ask run
	placed "$TOPLIST" "$PAGES"
	promoted "$PAGES"
	(($(grew pghot_skip_asked) < PAGES / 8)) || fail "asked $(grew pghot_skip_asked) times"
}

test_targets_count() {
	local before after
	need_both_alike
	before=$(<"$PGHOT/target$OTHER/promoted")
	balance 2
	remember
	memory -c "$CPU2" anon "$MB" "$SLOW"
	ask run
	placed "$OTHER" "$PAGES"
	promoted "$PAGES"
	after=$(<"$PGHOT/target$OTHER/promoted")
	((after - before >= PAGES)) ||
		fail "target$OTHER/promoted grew by $((after - before))"
}

run_tests "$@"
