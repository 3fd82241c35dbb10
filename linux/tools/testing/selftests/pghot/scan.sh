#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NUMA balancing adapts how often it scans a task to the task's hint faults, with
# pghot as without.

. "$(dirname "$0")/lib.sh"

# Scan periods are doubled up to a multiple of eight: four rounds and some more.
ROUNDS=6
SECONDS_COUNTED=6

need_sched() {
	need_pghot
	[ -r "/proc/$$/sched" ] || skip "no /proc/<pid>/sched"
	grep -q numa_scan_seq "/proc/$$/sched" || skip "/proc/<pid>/sched has no numa_scan_seq"
}

# What hotmem's busiest thread is told of itself: its only worker.
worker() {
	local tasks=("/proc/$HOTMEM/task"/*)
	WORKER=${tasks[-1]}/sched
}

of_worker() { # name
	local name value
	while IFS=: read -r name value; do
		if [ "${name// /}" = "$1" ]; then
			echo $((value))
			return
		fi
	done <"$WORKER"
	return 1
}

# Pages come to the top tier again and again, each time by hint faults.
rounds() {
	local i
	# All of it is in use alike, and goes to and fro: for that a target takes less.
	knob $PGHOT/backoff 0
	remember
	memory -c "$CPU" anon "$MB" "$SLOW"
	worker
	ask run
	for ((i = 0; i < ROUNDS; i++)); do
		placed "$FAST" "$PAGES"
		ask move "$SLOW"
	done
	placed "$FAST" "$PAGES"
}

# Sets SCANS: how often the whole task is scanned in the end.
scans() {
	local before
	rounds
	before=$(of_worker "mm->numa_scan_seq") || fail "no numa_scan_seq"
	sleep $SECONDS_COUNTED
	SCANS=$(($(of_worker "mm->numa_scan_seq") - before))
	kill_memory
}

test_period_follows_faults() {
	local stock
	need_sched
	balance 2
	knob $DEBUG_BALANCING/scan_period_max_ms 800
	knob $PGHOT/enabled 0
	scans
	stock=$SCANS
	knob $PGHOT/enabled 1
	scans
	say "scans in $SECONDS_COUNTED s: $SCANS, without pghot $stock"
	((SCANS <= stock * 2 + 2)) || fail "the task is scanned too often"
	((SCANS * 2 + 2 >= stock)) || fail "the task is scanned too seldom"
}

# Faults on pages that go are booked where the pages go, as if the fault had moved
# them, and none draws the task to the lower tier.
test_faults_count_on_the_target() {
	local line booked
	need_sched
	balance 2
	rounds
	booked=$(of_worker total_numa_faults) || fail "no total_numa_faults"
	((booked >= PAGES / 4)) || fail "$booked faults are counted"
	while read -r line; do
		case $line in
		"numa_faults node=$FAST "*"task_private=0 task_shared=0 "*)
			fail "none on node $FAST: $line"
			;;
		"numa_faults node=$SLOW "*"task_private=0 task_shared=0 "*) ;;
		"numa_faults node=$SLOW "*) fail "on the lower tier: $line" ;;
		esac
	done <"$WORKER"
}

run_tests "$@"
