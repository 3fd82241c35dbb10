#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# No page goes where a cpuset or a memory policy does not allow it to be: that of
# the task that accesses it, and those of the processes that have it mapped when
# its turn comes.

. "$(dirname "$0")/lib.sh"

PAUSE=2

# A cpuset of the test's own, with some memory nodes.
cpuset() { # nodes
	cgroup nodes cpuset
	echo "$1" >"$GROUP/cpuset.mems" || fail "cannot give $GROUP nodes $1"
}

test_cpuset_chooses_the_target() {
	need_pghot
	need_two_sockets
	balance 2
	cpuset "$OTHER,$SLOW"
	memory -c "$CPU" anon "$MB" "$SLOW"
	echo "$HOTMEM" >"$GROUP/cgroup.procs" || fail "cannot enter $GROUP"
	remember
	ask run
	placed "$OTHER" "$PAGES"
	promoted "$PAGES"
}

# Pages are unmapped for hint faults already when the DRAM is forbidden.
test_cpuset_refuses() {
	need_pghot
	balance 2
	cpuset "$SLOW"
	remember
	memory -c "$CPU" anon "$MB" "$SLOW"
	ask spin
	wait_until grown numa_pte_updates "$PAGES" || fail "the pages are not scanned"
	ask stop
	echo "$HOTMEM" >"$GROUP/cgroup.procs" || fail "cannot enter $GROUP"
	remember
	ask run
	wait_until grown pghot_refused_policy 1 || fail "nothing is refused"
	sleep $PAUSE
	ask stop
	untouched pghot_ready
	ask where
	(($(on "$SLOW") == PAGES)) || fail "pages moved: $REPLY"
	conserved
}

# NUMA balancing begins when all policies are set: who fills the memory may be on
# another socket, and what it accesses may then go there.
pghot_brings_all() {
	balance 2
	remember
	ask run
	placed "$FAST" "$PAGES"
	promoted "$PAGES"
}

test_bind_chooses_the_target() {
	need_pghot
	need_two_sockets
	memory -c "$CPU" -b "$FAST,$SLOW" anon "$MB" "$SLOW"
	ask policy balance "$FAST,$SLOW"
	pghot_brings_all
}

# No other thread has that policy, and nobody can ask this one later.
test_bind_of_one_thread_is_kept_by_the_fault() {
	need_pghot
	need_two_sockets
	memory -c "$CPU" -b "$FAST,$SLOW" anon "$MB" "$SLOW"
	balance 2
	remember
	ask run
	placed "$FAST" "$PAGES"
	untouched pghot_ready
	wait_until grown pgpromote_success "$PAGES" ||
		fail "pgpromote_success grew by $(grew pgpromote_success)"
}

# The accessing node is full, and the other socket is forbidden.
forbids_the_other_socket() { # counter that shows that pages were found hot
	balance 2
	remember
	ask run
	wait_until grown "$1" 1 || fail "node $FAST has room"
	sleep $PAUSE
	ask where
	(($(on "$OTHER") == 0)) || fail "pages on a forbidden node: $REPLY"
	expect 0 check
}

test_bind_forbids_the_other_socket() {
	need_pghot
	need_two_sockets
	memory -c "$CPU" -b "$FAST,$SLOW" anon "$MB" "$SLOW"
	ask policy balance "$FAST,$SLOW"
	hog "$FAST"
	forbids_the_other_socket pghot_delay_target_full
}

test_bind_of_one_thread_forbids_the_other_socket() {
	need_pghot
	need_two_sockets
	memory -c "$CPU" -b "$FAST,$SLOW" anon "$MB" "$SLOW"
	hog "$FAST"
	forbids_the_other_socket pgpromote_candidate
}

# Shared memory can have a policy, whoever has it mapped, and then that of the
# accessing thread does not count. So there is nothing that only the fault knows.
test_bind_of_one_thread_gives_way_to_that_of_shared_memory() {
	need_pghot
	need_two_sockets
	memory -c "$CPU" -b "$OTHER,$SLOW" shmem "$MB" "$SLOW"
	ask mbind-other balance "$FAST,$SLOW"
	pghot_brings_all
}

# Of all nodes but the accessing one, none is a reason to move.
test_bind_elsewhere_moves_nothing() {
	need_pghot
	need_two_sockets
	balance 2
	remember
	memory -c "$CPU" -b "$OTHER,$SLOW" anon "$MB" "$SLOW"
	ask run
	sleep $PAUSE
	ask where
	(($(on "$FAST") == 0)) || fail "pages on a forbidden node: $REPLY"
	conserved
}

# No CPU is idle, so kmigrated is behind, and where there is plenty of room a fault
# may move its page itself. It must not where kmigrated would not.
faults_move_nothing() {
	balance 2
	hog_cpus
	remember
	ask run
	wait_until grown pghot_skip_policy 1000 ||
		fail "skip_policy grew by $(grew pghot_skip_policy)"
	sleep $PAUSE
	ask stop
	ask where
	(($(on "$SLOW") == PAGES)) || fail "bound pages moved: $REPLY"
	untouched pghot_in_fault pghot_promoted_pages
	conserved
}

# Its workers have no policy of their own, as if they had been there before.
test_policy_of_the_process_while_cpus_are_busy() {
	need_pghot
	memory -c "$CPU,$CPU" anon "$MB" "$SLOW"
	ask policy bind "$SLOW"
	faults_move_nothing
}

# Memory stays charged to the cgroup that it was touched in first.
test_cpuset_of_the_memory_while_cpus_are_busy() {
	need_pghot
	cgroup charged memory
	cgroup nodes cpuset
	[ -e "$GROUP/memory.stat" ] || fail "$GROUP has no memory of its own"
	IN=$GROUP memory -c "$CPU,$CPU" anon "$MB" "$SLOW"
	echo "$HOTMEM" >/sys/fs/cgroup/cgroup.procs || fail "cannot leave $GROUP"
	# Not before: a program does not start where only movable memory is allowed.
	echo "$SLOW" >"$GROUP/cpuset.mems" || fail "cannot give $GROUP node $SLOW"
	faults_move_nothing
}

# More than the kernel calls enough for all that is accessed.
plenty_of_room() {
	local kb
	kb=$(sed -n 's/.*MemFree: *\([0-9]*\) kB/\1/p' "$NODES/node$FAST/meminfo")
	((kb > 1280 * 1024))
}

# The same with nobody who forbids: all come, and some by the fault.
test_all_come_while_cpus_are_busy() {
	need_pghot
	memory -c "$CPU,$CPU" anon "$MB" "$SLOW"
	balance 2
	hog_cpus
	remember
	ask run
	placed "$FAST" "$PAGES"
	ask stop
	expect 0 check
	if plenty_of_room; then
		grown pghot_in_fault 1 || fail "no fault moved its page"
	else
		untouched pghot_in_fault
	fi
	conserved
}

# Every page is ready, and then its owner forbids the move. How is a command.
bound_after_ready() { # how...
	hold_ready "$PAGES"
	"$@"
	echo 65536 >"$RATE"
	wait_until grown pghot_skip_policy "$PAGES" ||
		fail "skip_policy grew by $(grew pghot_skip_policy)"
	ask where
	(($(on "$SLOW") == PAGES)) || fail "bound pages moved: $REPLY"
	untouched pghot_promoted_pages
	conserved
}

test_mbind_after_the_report() {
	need_pghot
	balance 2
	memory -c "$CPU" anon "$MB" "$SLOW"
	bound_after_ready ask mbind bind "$SLOW"
}

test_mbind_of_huge_pages_after_the_report() {
	need_pghot
	balance 2
	memory -c "$CPU" thp "$MB" "$SLOW"
	hold_ready $((MB / 2))
	ask mbind bind "$SLOW"
	echo 65536 >"$RATE"
	wait_until grown pghot_skip_policy $((MB / 2)) ||
		fail "skip_policy grew by $(grew pghot_skip_policy)"
	ask where
	(($(on "$SLOW") == PAGES)) || fail "bound pages moved: $REPLY"
	conserved
}

# The policy belongs to the file, whoever has it mapped.
test_mbind_of_shared_memory_after_the_report() {
	need_pghot
	balance 2
	memory -p -c "$CPU" shmem "$MB" "$SLOW"
	bound_after_ready ask mbind bind "$SLOW"
}

# What is spread over nodes was not put there by chance.
test_interleave_after_the_report() {
	need_pghot
	balance 2
	memory -c "$CPU" anon "$MB" "$SLOW"
	bound_after_ready ask mbind interleave "$FAST,$SLOW"
}

test_policy_of_the_process_after_the_report() {
	need_pghot
	balance 2
	memory -c "$CPU" anon "$MB" "$SLOW"
	bound_after_ready ask policy bind "$SLOW"
}

# The workers, who have no policy, and a process that has one share the pages.
test_one_of_many_owners_forbids() {
	need_pghot
	balance 2
	memory -p -c "$CPU,$CPU,$CPU" shmem "$MB" "$SLOW"
	bound_after_ready ask policy bind "$SLOW"
}

# Its memory stays charged to where it came from, and that one has no limits.
test_cpuset_entered_after_the_report() {
	need_pghot
	balance 2
	cpuset "$SLOW"
	memory -c "$CPU" anon "$MB" "$SLOW"
	bound_after_ready enter
}

enter() {
	echo "$HOTMEM" >"$GROUP/cgroup.procs" || fail "cannot enter $GROUP"
}

# Records of a process that is gone meet the pages of another one. Others are
# hardly free on the node, and no pass comes by before they are used again.
test_page_used_again_by_a_bound_process() {
	need_pghot
	balance 2
	memory -c "$CPU" anon "$MB" "$SLOW"
	hog "$SLOW"
	kill -STOP "$HOG"
	knob $PGHOT/period_ms 10000
	hold_ready "$PAGES"
	remember
	wait_until grown pghot_delay_rate_limit 1 || fail "no pass"
	kill_memory
	memory -c "$CPU" anon "$MB" "$SLOW"
	ask policy bind "$SLOW"
	echo 65536 >"$RATE"
	wait_until ready_is 0 || fail "$(ready_now) records are left"
	ask where
	(($(on "$SLOW") == PAGES)) || fail "bound pages moved: $REPLY"
	grown pghot_skip_policy 1 || fail "no page was used again"
	untouched pghot_promoted_pages
	conserved
}

# Demotion does not ask a policy; the way back is where the policy points.
test_bound_page_may_come_home() {
	need_pghot
	balance 2
	memory -c "$CPU" anon "$MB" "$SLOW"
	hold_ready "$PAGES"
	ask mbind bind "$FAST"
	echo 65536 >"$RATE"
	placed "$FAST" "$PAGES"
	promoted "$PAGES"
}

# The nodes are the kernel's to choose from.
test_balanced_policy_moves_after_the_report() {
	need_pghot
	balance 2
	memory -c "$CPU" anon "$MB" "$SLOW"
	hold_ready "$PAGES"
	ask mbind balance "$FAST,$SLOW"
	echo 65536 >"$RATE"
	placed "$FAST" "$PAGES"
	promoted "$PAGES"
}

run_tests "$@"
