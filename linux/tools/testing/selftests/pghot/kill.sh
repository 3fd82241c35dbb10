#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Processes die while their pages are recorded and moved.

. "$(dirname "$0")/lib.sh"

ROUNDS=${PGHOT_TEST_ROUNDS:-8}

untainted() {
	local now
	now=$(</proc/sys/kernel/tainted)
	[ "$now" = "$TAINTED" ] || fail "the kernel is tainted: $TAINTED, now $now"
}

# All records are ready; leave to move comes together with the signal.
test_while_pages_move() {
	local i
	need_pghot
	TAINTED=$(</proc/sys/kernel/tainted)
	balance 2
	knob $PGHOT/window_ms 60000
	knob $RATE 0
	for ((i = 0; i < ROUNDS; i++)); do
		memory -c "$CPU" anon "$MB" "$SLOW"
		ask run
		wait_until ready_at_least $((PAGES / 2)) ||
			fail "only $(ready_now) records became ready"
		echo 65536 >$RATE
		kill_memory
		wait_until ready_is 0 || fail "$(ready_now) records are left"
		echo 0 >$RATE
	done
	conserved
	untainted
}

test_while_hint_faults_report() {
	local i
	need_pghot
	TAINTED=$(</proc/sys/kernel/tainted)
	balance 2
	knob $PGHOT/batch_pages 32
	for ((i = 0; i < ROUNDS; i++)); do
		memory -p -c "$CPU,$CPU" shmem "$MB" "$SLOW"
		remember
		ask run
		wait_until grown pghot_promoted_pages $((1 + i * 64)) ||
			fail "nothing is promoted"
		kill_memory
	done
	wait_until ready_is 0 || fail "$(ready_now) records are left"
	conserved
	untainted
}

run_tests "$@"
