#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernel.numa_balancing keeps its meaning: 0 nothing, 1 between sockets, 2 from
# lower tiers, 3 both. Only what concerns lower tiers is pghot's, and where nothing
# does it takes no memory and moves nothing.

. "$(dirname "$0")/lib.sh"

# Twenty scan periods: what is not to happen gets time to.
PAUSE=2

HINT=$PGHOT/sources/hint_fault

# The switch stays what the administrator asked for.
source_rests() {
	[ "$(<$HINT/enabled)" = 1 ] || fail "the switch is $(<$HINT/enabled)"
	[ "$(<$HINT/running)" = 0 ] || fail "hint faults are reported"
	[ "$(<"$PGHOT/node$SLOW/sections")" = 0 ] || fail "there are records"
	[ "$(<"$PGHOT/node$SLOW/map_bytes")" = 0 ] || fail "records take memory"
	is_parked || fail "kmigrated$SLOW is in state $(thread_state), not parked"
}

source_runs() {
	[ "$(<$HINT/enabled)" = 1 ] || fail "the switch is $(<$HINT/enabled)"
	[ "$(<$HINT/running)" = 1 ] || fail "hint faults are not reported"
	(($(<"$PGHOT/node$SLOW/sections") > 0)) || fail "there are no records"
	(($(<"$PGHOT/node$SLOW/map_bytes") > 0)) || fail "records take no memory"
	wait_until is_unparked || fail "kmigrated$SLOW stays parked"
}

test_memory_is_taken_for_tiering_only() {
	local mode
	need_pghot
	knob $BALANCING 0
	source_rests
	for mode in 2 1 3 0 2 3 1 0; do
		echo $mode >$BALANCING
		case $mode in
		2 | 3) source_runs ;;
		*) source_rests ;;
		esac
	done
}

test_switches_wait_for_tiering() {
	need_pghot
	knob $BALANCING 1
	knob $HINT/enabled 0
	echo 2 >$BALANCING
	[ "$(<$HINT/running)" = 0 ] || fail "it runs though it is switched off"
	echo 1 >$BALANCING
	echo 1 >$HINT/enabled
	source_rests
	knob $PGHOT/enabled 0
	echo 1 >$PGHOT/enabled
	source_rests
	echo 2 >$BALANCING
	source_runs
}

running_is() { # value source...
	local source
	for source in "${@:2}"; do
		[ "$(<"$PGHOT/sources/$source/running")" = "$1" ] ||
			fail "$source: running is $(<"$PGHOT/sources/$source/running")"
	done
}

# What is on by default takes nothing where nobody asked for promotion.
test_sources_that_are_on_by_default() {
	local source
	need_pghot
	knob $BALANCING 1
	for source in page_table page_cache; do
		[ "$(<$PGHOT/sources/$source/enabled)" = tiering ] ||
			fail "$source: enabled is $(<$PGHOT/sources/$source/enabled)"
	done
	running_is 0 hint_fault page_table page_cache
	echo 2 >$BALANCING
	running_is 1 hint_fault page_table page_cache
	echo 1 >$BALANCING
	running_is 0 hint_fault page_table page_cache
	knob $PGHOT/sources/page_table/enabled 1
	running_is 1 page_table
	running_is 0 hint_fault page_cache
	echo tiering >$PGHOT/sources/page_table/enabled
	running_is 0 page_table
}

# Pages of the lower tier are promoted in mode $1.
promotes_in_mode() {
	need_pghot
	balance "$1"
	remember
	memory -c "$CPU" anon "$MB" "$SLOW"
	ask run
	placed "$FAST" "$PAGES"
	promoted "$PAGES"
}

test_mode_0_does_nothing() {
	need_pghot
	balance 0
	remember
	memory -c "$CPU" anon "$MB" "$SLOW"
	ask run
	sleep $PAUSE
	ask where
	(($(on "$SLOW") == PAGES)) || fail "pages moved: $REPLY"
	untouched numa_pte_updates pghot_recorded pghot_ready pgpromote_success
	expect 0 check
}

test_mode_1_bypasses_pghot() {
	need_pghot
	balance 1
	remember
	memory -c "$CPU" anon "$MB" "$SLOW"
	ask run
	placed "$FAST" "$PAGES"
	grown numa_hint_faults "$PAGES" || fail "no hint faults"
	untouched pghot_recorded pghot_ready pgpromote_success
	expect 0 check
}

test_mode_2_promotes() {
	promotes_in_mode 2
}

test_mode_2_leaves_sockets_alone() {
	need_pghot
	need_two_sockets
	balance 2
	remember
	memory -c "$CPU" anon "$MB" "$OTHER"
	ask run
	sleep $PAUSE
	ask where
	(($(on "$OTHER") == PAGES)) || fail "pages moved: $REPLY"
	untouched pghot_recorded numa_pages_migrated
}

# Pages wait for room and tokens, which come when the mode is another one.
waiting_pages_and_mode() { # mode
	need_pghot
	balance 2
	knob $PGHOT/window_ms 60000
	# However slow this script is: none finds room that somebody leaves meanwhile.
	knob $RATE 0
	memory -c "$CPU" anon "$MB" "$SLOW"
	hog "${TOP[@]}"
	remember
	ask run
	wait_until ready_at_least $((PAGES / 4)) || fail "only $(ready_now) pages wait"
	echo "$1" >$BALANCING
	source_rests
	grown pghot_skip_disabled $((PAGES / 8)) ||
		fail "only $(grew pghot_skip_disabled) counted as dropped"
	ready_is 0 || fail "$(ready_now) records are left"
	conserved
	remember
	release
	echo 65536 >$RATE
}

test_waiting_pages_stay_in_mode_0() {
	local stayed
	waiting_pages_and_mode 0
	ask where
	stayed=$(on "$SLOW")
	sleep $PAUSE
	ask where
	(($(on "$SLOW") == stayed)) || fail "pages moved: $REPLY"
	untouched pgpromote_success pghot_promoted_pages pghot_recorded numa_pte_updates
	expect 0 check
}

# The scheduler brings them, as pages of any other node.
test_waiting_pages_are_the_schedulers_in_mode_1() {
	waiting_pages_and_mode 1
	placed "$FAST" "$PAGES"
	ask write
	remember
	wait_until grown numa_hint_faults_local "$PAGES" || fail "no hint faults"
	untouched pgpromote_success pghot_promoted_pages pghot_recorded
	expect 0 check
}

# Where the scheduler keeps CPU and task of the last access, pages of the lower tier
# have the time of the last scan, and they have it still when the mode has changed.
# What takes it for a CPU finds none, most times, and the kernel says so or dies.
test_access_times_do_not_pass_for_cpus() {
	local i
	need_pghot
	balance 2
	knob $RATE 0
	memory -c "$CPU" anon "$MB" "$SLOW"
	for ((i = 0; i < 4; i++)); do
		remember
		ask run
		wait_until grown numa_hint_faults "$PAGES" || fail "no hint faults"
		ask stop
		echo 1 >$BALANCING
		ask move "$FAST"
		remember
		ask run
		wait_until grown numa_hint_faults_local "$PAGES" ||
			fail "no hint faults in the top tier"
		ask stop
		expect 0 check
		ask move "$SLOW"
		echo 2 >$BALANCING
	done
}

# Two who change it at the same time.
test_mode_changes_under_load() {
	local other
	need_pghot
	balance 2
	knob $PGHOT/batch_pages 16
	knob $RATE 4
	remember
	memory -c "$CPU" anon "$MB" "$SLOW"
	ask run
	changes() { # step
		local i
		for ((i = 0; i < 40; i++)); do
			echo $((i * $1 % 4)) >$BALANCING
		done
	}
	changes 1 &
	other=$!
	changes 3
	wait "$other"
	echo 0 >$BALANCING
	source_rests
	echo 2 >$BALANCING
	source_runs
	echo 65536 >$RATE
	placed "$FAST" "$PAGES"
	ask stop
	expect 0 check
	conserved
}

# Before the first fault that finds the mode changed.
test_no_page_is_the_schedulers_when_the_mode_changes() {
	local i
	need_pghot
	balance 0
	memory -c "$CPU" anon "$MB" "$SLOW"
	ask run
	for ((i = 0; i < 5; i++)); do
		echo 0 >$BALANCING
		ask move "$SLOW" >/dev/null
		remember
		echo 2 >$BALANCING
		placed "$FAST" "$PAGES"
		[ "$(grew pgpromote_success)" = "$(grew pghot_promoted_pages)" ] ||
			fail "of $(grew pgpromote_success) pages pghot promoted" \
			     "$(grew pghot_promoted_pages)"
	done
	ask stop
	expect 0 check
	conserved
}

test_writers_take_turns() {
	local other
	need_pghot
	knob $BALANCING 0
	flips() { # mode
		local i
		for ((i = 0; i < 2000; i++)); do
			echo "$1" >$BALANCING
			echo 0 >$BALANCING
		done
	}
	# Mode 1 starts no source, so that they meet often. The kernel warns if both
	# switch at once.
	flips 1 &
	other=$!
	flips 1
	wait "$other"
	source_rests
}

test_mode_3_promotes() {
	promotes_in_mode 3
}

test_mode_3_balances_sockets() {
	need_pghot
	need_two_sockets
	balance 3
	remember
	memory -c "$CPU" anon "$MB" "$OTHER"
	ask run
	placed "$FAST" "$PAGES"
	untouched pghot_recorded pgpromote_success
	expect 0 check
}

run_tests "$@"
