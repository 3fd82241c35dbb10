#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Accessed bits of page tables as the only source: what is accessed is promoted, and
# what is not stays.

. "$(dirname "$0")/lib.sh"

# Time in which the scan is through with all processes several times.
PASSES=4

# The scan goes through all processes some times from now on.
let_scan() { # passes
	wait_until passed $(($(<$SCAN/passes) + $1)) || fail "the scan stands still"
}

period_at_least() { (($(<$SCAN/scan_period_ms) >= $1)); }

# It is for a round or two: so it is looked at without a pause, and by no other process.
period_gets_below() { # ms
	local end=$((SECONDS + LIMIT))
	while ((SECONDS < end)); do
		read -r PERIOD <$SCAN/scan_period_ms
		((PERIOD >= $1)) || return 0
	done
	return 1
}

# CPU time that the scan takes in so many seconds, in microseconds: sets USED. Sets
# LOOKED, entries that it looks at.
measure_use() { # seconds
	local used looked
	used=$(<$SCAN/cpu_usec)
	looked=$(<$SCAN/scanned)
	sleep "$1"
	USED=$(($(<$SCAN/cpu_usec) - used))
	LOOKED=$(($(<$SCAN/scanned) - looked))
}

test_anon() {
	need_scan
	arrives anon "$MB" "$SLOW"
	untouched numa_hint_faults pghot_recorded_hint_fault
}

test_shared_threads() {
	need_scan
	arrives -c "$CPU,$(cpu_of "${TOP[-1]}")" anon "$MB" "$SLOW"
}

test_shmem_two_processes() {
	need_scan
	arrives -p -c "$CPU,$CPU" shmem "$MB" "$SLOW"
}

test_file() {
	local dir=${PGHOT_TEST_DIR:-/var/tmp}
	need_scan
	need_page_cache "$dir"
	arrives "file:$dir/pghot-test.$$" "$MB" "$SLOW"
}

test_thp() {
	need_scan
	arrives_huge
}

test_large_folios() {
	need_scan
	only_64kib
	arrives thp "$MB" "$SLOW"
}

# A file's code and its data may have parts of the same folio, in different places.
test_large_folios_in_two_mappings() {
	need_scan
	only_64kib
	memory -c "$CPU" thp "$MB" "$SLOW"
	expect ok apart
	remember
	ask run
	placed "$TOPLIST" $((PAGES / 2))
	wait_until grown pghot_promoted_pages $((PAGES / 2)) ||
		fail "pghot_promoted_pages grew by $(grew pghot_promoted_pages)"
	conserved
}

test_locked_memory() {
	need_scan
	memory anon "$MB" "$SLOW"
	expect ok lock
	remember
	ask run
	placed "$TOPLIST" "$PAGES"
	promoted "$PAGES"
}

# By the node that the threads of the process run on.
test_goes_where_it_is_accessed() {
	need_scan
	need_two_sockets
	remember
	memory -c "$CPU2" anon "$MB" "$SLOW"
	ask run
	placed "$OTHER" "$PAGES"
	promoted "$PAGES"
}

test_cold_memory_stays() {
	need_scan
	memory anon "$MB" "$SLOW"
	remember
	let_scan $PASSES
	ask where
	[ "$(on "$SLOW")" = "$PAGES" ] || fail "memory that nobody accesses has moved: $REPLY"
	untouched pghot_promoted_pages
	# Nor is it looked for in vain: it is known to be there.
	(($(<$SCAN/scanned) > 0)) || fail "nothing was looked at"
}

test_off_is_off() {
	local scanned
	need_scan
	echo 0 >$SCAN/enabled
	scanned=$(<$SCAN/scanned)
	remember
	memory -c "$CPU" anon "$MB" "$SLOW"
	ask run
	sleep $((2 * SLOWER))
	ask stop
	untouched pghot_recorded pghot_ready pghot_promoted_pages
	[ "$(<$SCAN/running)" = 0 ] || fail "it runs"
	[ "$(<$SCAN/scanned)" = "$scanned" ] || fail "page tables are looked at"
	[ "$(<$SCAN/scan_period_ms)" = 0 ] || fail "it has a period"
	[ "$(<"$PGHOT/node$SLOW/sections")" = 0 ] || fail "there are records"
}

test_on_and_off_under_load() {
	local i
	need_scan
	remember
	memory -c "$CPU" anon "$MB" "$SLOW"
	ask run
	for ((i = 0; i < 20; i++)); do
		echo $((i % 2)) >$SCAN/enabled
	done
	echo 1 >$SCAN/enabled
	placed "$TOPLIST" "$PAGES"
	ask stop
	expect 0 check
	conserved
}

# The same work again and again, as there is nothing to find.
test_budget_holds() {
	local free passes round i
	need_scan
	knob $PGHOT/window_ms 100
	memory -c "$CPU" anon $((MB * 16)) "$SLOW"
	passes=$(<$SCAN/passes)
	measure_use 8
	free=$USED
	((LOOKED > 0)) || fail "nothing is looked at"
	round=$((USED / ($(<$SCAN/passes) - passes + 1)))
	say "$((USED * 1000 / LOOKED)) ns for each entry, $round us for a round"
	echo 1 >$SCAN/cpu_permille
	# What it owes for the round that is under way.
	sleep 1
	# Where the machine is a guest, time that its host took counts as the thread's: by
	# it a round may owe more than the 16 seconds. A budget that does not hold, or
	# lets nothing be looked at any more, fails each time.
	for ((i = 0; i < 4; i++)); do
		# For long: a round or two more is not to make the difference.
		measure_use 16
		say "without a budget $free us in 8 s, with one thousandth $USED us in 16 s"
		((LOOKED == 0 || USED > 2 * 16000 + 2 * round || USED * 2 > free)) || break
	done
	((i < 4)) || fail "the budget does not hold, makes no difference, or is never met"
}

# A short window. Sets LONGEST, the period in which all looks of a round fall into it, each an
# eighth late.
short_window() {
	knob $PGHOT/window_ms 1000
	LONGEST=$((875 / ($(<$PGHOT/freq_threshold) + 1)))
}

# What is hot and may not go is found again and again, ever less often.
test_memory_that_has_to_stay() {
	need_scan
	short_window
	memory -c "$CPU" anon "$MB" "$SLOW"
	expect ok mbind bind "$SLOW"
	remember
	ask run
	wait_until grown pghot_skip_policy 1 || fail "it is not found"
	wait_until period_at_least "$LONGEST" ||
		fail "where nothing may go the period is $(<$SCAN/scan_period_ms) ms"
	untouched pghot_promoted_pages
}

# How often the CPU was interrupted to flush its TLB.
flushes() {
	awk -v cpu="CPU$CPU" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == cpu) column = i + 1 }
		$1 == "TLB:" { print $column }' /proc/interrupts
}

flushed() { # times
	(($(flushes) > $1))
}

# Pages that may not move are looked at all the time.
test_isolated_cpus_are_not_interrupted() {
	local before looked
	need_scan
	[ -n "$(flushes)" ] || skip "flushes of TLBs are not counted here"
	short_window
	cgroup cell cpuset
	memory -c "$CPU" anon "$MB" "$SLOW"
	expect ok mbind bind "$SLOW"
	before=$(flushes)
	ask run
	wait_until flushed $((before + 4)) || skip "TLBs are flushed without interrupts here"
	if ! echo "$CPU" >"$GROUP/cpuset.cpus" || ! echo "$HOTMEM" >"$GROUP/cgroup.procs"; then
		fail "cannot enter $GROUP"
	fi
	echo isolated >"$GROUP/cpuset.cpus.partition"
	[ "$(<"$GROUP/cpuset.cpus.partition")" = isolated ] || skip "no isolated partition"
	# A look may be under way.
	sleep 1
	before=$(flushes)
	looked=$(<$SCAN/scanned)
	let_scan $PASSES
	(($(<$SCAN/scanned) > looked)) || fail "nothing is looked at"
	! flushed "$before" || fail "$(($(flushes) - before)) interrupts of an isolated CPU"
}

test_period_follows_yield() {
	need_scan
	short_window
	memory -c "$CPU" anon "$MB" "$SLOW"
	wait_until period_at_least "$LONGEST" ||
		fail "where nothing is found the period is $(<$SCAN/scan_period_ms) ms"
	remember
	ask run
	period_gets_below "$LONGEST" || fail "where much is found the period is $PERIOD ms"
	placed "$TOPLIST" "$PAGES"
	promoted "$PAGES"
}

test_many_processes() {
	local i
	need_scan
	for ((i = 0; i < 200; i++)); do
		sleep 1000 &
		CHILDREN+=("$!")
	done
	arrives anon "$MB" "$SLOW"
}

# Somebody has mmap_lock nearly all the time: memory behind many mappings is found.
test_who_changes_mappings_is_gone_through() {
	need_scan
	remember
	memory -c "$CPU" anon "$MB" "$SLOW"
	expect ok remap
	ask run
	placed "$TOPLIST" "$PAGES"
	promoted "$PAGES"
}

test_process_whose_first_thread_has_ended() {
	need_scan
	remember
	memory -c "$CPU" anon "$MB" "$SLOW"
	expect ok leave
	ask run
	placed "$TOPLIST" "$PAGES"
	promoted "$PAGES"
}

test_processes_that_end() {
	local i
	need_scan
	for ((i = 0; i < 10; i++)); do
		memory -c "$CPU" anon 2 "$SLOW"
		ask run
		kill_memory
	done
	arrives anon "$MB" "$SLOW"
}

run_tests "$@"
