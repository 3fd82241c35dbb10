#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# No page goes where the task's cpuset or memory policy does not allow it to be.

. "$(dirname "$0")/lib.sh"

PAUSE=2

# A cpuset of the test's own, with some memory nodes.
cpuset() { # nodes
	GROUP=/sys/fs/cgroup/pghot-test.$$
	[ -e /sys/fs/cgroup/cgroup.controllers ] || skip "no cgroup2 at /sys/fs/cgroup"
	grep -qw cpuset /sys/fs/cgroup/cgroup.controllers || skip "no cpuset controller"
	echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control || fail "no cpuset for children"
	mkdir "$GROUP" || fail "cannot make $GROUP"
	finally "until rmdir $GROUP; do sleep 0.1; done"
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

test_bind_chooses_the_target() {
	need_pghot
	need_two_sockets
	balance 2
	remember
	memory -c "$CPU" -b "$FAST,$SLOW" anon "$MB" "$SLOW"
	ask run
	placed "$FAST" "$PAGES"
	promoted "$PAGES"
}

# The accessing node is full, and the other socket is forbidden.
test_bind_forbids_the_other_socket() {
	need_pghot
	need_two_sockets
	balance 2
	memory -c "$CPU" -b "$FAST,$SLOW" anon "$MB" "$SLOW"
	hog "$FAST"
	remember
	ask run
	wait_until grown pghot_delay_target_full 1 || fail "node $FAST has room"
	sleep $PAUSE
	ask where
	(($(on "$OTHER") == 0)) || fail "pages on a forbidden node: $REPLY"
	expect 0 check
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

run_tests "$@"
