#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# memory.stat says for each memory cgroup what was promoted and what that cost.

. "$(dirname "$0")/lib.sh"

# A line of a cgroup's memory.stat.
stat_of() { # group name
	local name value
	while read -r name value; do
		if [ "$name" = "$2" ]; then
			echo "$value"
			return
		fi
	done <"$1/memory.stat"
	return 1
}

# A memory cgroup's counters are brought up to date every two seconds, or once 64 of a CPU's
# changes per online CPU have come together: what was read before lacks some of them.
stat_becomes() { # group name value
	wait_until stat_equals "$@"
}

stat_equals() { # group name value
	[ "$(stat_of "$1" "$2")" = "$3" ]
}

# Two cgroups' pages are ready together and move in the same batches.
test_each_cgroup_counts_its_own() {
	local one two none to from us1 us2 began had
	need_pghot
	balance 2
	cgroup one memory
	one=$GROUP
	cgroup two memory
	two=$GROUP
	cgroup none memory
	none=$GROUP
	IN=$one memory -c "$CPU" anon "$MB" "$SLOW"
	to=$TO
	from=$FROM
	IN=$two memory -c "$CPU" anon $((MB / 4)) "$SLOW" 2>/dev/null
	knob $RATE 0
	knob $PGHOT/window_ms 60000
	remember
	ask run
	echo run >&"$to"
	read -r -t "$LIMIT" -u "$from" _ || fail "no answer"
	wait_until ready_at_least $((PAGES + PAGES / 4)) ||
		fail "only $(ready_now) records became ready"
	ask stop
	began=${EPOCHREALTIME/[.,]/}
	echo 65536 >"$RATE"
	wait_until grown pghot_promoted_pages $((PAGES + PAGES / 4)) ||
		fail "promoted_pages grew by $(grew pghot_promoted_pages)"
	had=$((${EPOCHREALTIME/[.,]/} - began))

	stat_becomes "$one" pgpromote_success "$PAGES" ||
		fail "one: $(stat_of "$one" pgpromote_success) of $PAGES pages"
	stat_becomes "$two" pgpromote_success $((PAGES / 4)) ||
		fail "two: $(stat_of "$two" pgpromote_success) of $((PAGES / 4)) pages"
	[ "$(stat_of "$none" pgpromote_success)" = 0 ] || fail "promotions in an empty cgroup"

	us1=$(stat_of "$one" pghot_usec) || fail "no pghot_usec"
	us2=$(stat_of "$two" pghot_usec)
	say "pghot_usec: $us1 for $PAGES pages, $us2 for $((PAGES / 4))"
	((us1 > 0 && us2 > 0)) || fail "moving pages took no time"
	[ "$(stat_of "$none" pghot_usec)" = 0 ] || fail "time in an empty cgroup"
	# One thread for each node.
	((us1 + us2 <= had * ${#LOWER[@]})) || fail "more time than passed: $had"
	conserved
}

run_tests "$@"
