#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Pages wait for room for longer than the window, and no source reports them again:
# those in use keep their place, those that nobody uses lose it.

. "$(dirname "$0")/lib.sh"

# Seconds. A worker has to come round in a part of it.
WINDOW=$((4 * SLOWER))

# All but a few: a page that is locked whenever it is looked at, say.
nearly() { # number of all
	(($1 >= $2 - $2 / 10))
}

# Of those that found no room, at whatever time others did.
each_waits() {
	ask where
	(($(ready_now) >= $(on "$SLOW")))
}

# Some find the room that kswapd makes, before hog takes that. kswapd comes to an end.
none_moves() {
	local moved
	moved=$(grew pghot_moved)
	sleep 0.5
	[ "$(grew pghot_moved)" = "$moved" ]
}

# What a CPU has in its TLB it accesses without telling the page table. Another program
# takes that away, as other work does on a real machine.
others() {
	while :; do
		taskset -c "$CPU" true
		sleep 0.1
	done
}

# Fill the top tier, have all pages become ready, and then no more hint faults.
all_wait() {
	local try
	need_pghot
	command -v taskset >/dev/null || skip "no taskset"
	balance 2
	knob $PGHOT/window_ms $((WINDOW * 1000))
	memory -c "$CPU" anon "$MB" "$SLOW"
	hog "${TOP[@]}"
	remember
	others &
	CHILDREN+=("$!")
	ask run
	for try in {1..5}; do
		wait_until each_waits ||
			fail "$(ready_now) pages became ready: $REPLY"
		wait_until none_moves || fail "there is room again and again"
		(($(ready_now) < PAGES / 2)) || break
		# hog has taken by now what these leave.
		ask move "$SLOW" >/dev/null
		remember
	done
	ask run unscanned
	# Nor of the programs that this script starts.
	knob $DEBUG_BALANCING/scan_delay_ms 60000
	(($(ready_now) >= PAGES / 4)) || fail "$(ready_now) of $PAGES pages wait"
}

test_pages_in_use_keep_waiting() {
	local waited left both
	all_wait
	remember
	waited=$(ready_now)
	sleep $((WINDOW * 3))
	left=$(ready_now)
	both=$((left < waited ? left : waited))
	# Each of them once in each of the last two windows, at least.
	nearly "$(grew pghot_refreshed)" $((both * 2)) ||
		fail "pghot_refreshed grew by $(grew pghot_refreshed)"
	say "of $waited pages in use $left wait, after three windows"
	nearly $((left + $(grew pghot_moved))) "$waited" ||
		fail "pages in use went stale: $(grew pghot_skip_stale)"
	# Since they were counted some may have found room.
	remember
	left=$(ready_now)
	release
	wait_until ready_is 0 || fail "$(ready_now) records are left"
	nearly "$(grew pghot_moved)" "$left" || fail "$(grew pghot_moved) of $left moved"
	promoted $((left - left / 10))
}

test_pages_nobody_uses_go_stale() {
	local left stale
	all_wait
	ask stop
	# Some may go before they are counted.
	remember
	left=$(ready_now)
	sleep $((WINDOW * 3))
	all_but_few_went() { nearly $((left - $(ready_now))) "$left"; }
	wait_until all_but_few_went || fail "$(ready_now) of $left records are left"
	stale=$(grew pghot_skip_stale)
	# Some find room by chance, where a program that ran gave its memory back.
	if ((stale < left * 3 / 4)) || ! nearly $((stale + $(grew pghot_moved))) "$left"; then
		fail "skip_stale grew by $stale, $left waited"
	fi
	remember
	release
	sleep 1
	# What this script uses itself goes.
	nearly $((left - $(grew pghot_moved))) "$left" || fail "$(grew pghot_moved) moved"
	expect 0 check
	conserved
}

run_tests "$@"
