#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What was ready and did not move is counted under its reason.

. "$(dirname "$0")/lib.sh"

test_stale() {
	need_pghot
	balance 2
	memory -c "$CPU" anon "$MB" "$SLOW"
	hold_ready "$PAGES"
	knob $PGHOT/window_ms 100
	wait_until ready_is 0 || fail "$(ready_now) records are left"
	grown pghot_skip_stale "$PAGES" || fail "skip_stale grew by $(grew pghot_skip_stale)"
	ask where
	(($(on "$SLOW") == PAGES)) || fail "cold pages moved: $REPLY"
	conserved
}

test_gone() {
	need_pghot
	balance 2
	memory -c "$CPU" anon "$MB" "$SLOW"
	hold_ready "$PAGES"
	ask free
	# Freed pages wait for their CPU's list to be emptied, and may be reused.
	wait_until grown pghot_skip_gone $((PAGES * 3 / 4)) ||
		fail "skip_gone grew by $(grew pghot_skip_gone)"
	conserved
}

test_dirty() {
	local dir=${PGHOT_TEST_DIR:-/var/tmp}
	need_pghot
	need_page_cache "$dir"
	balance 2
	memory -c "$CPU" "file:$dir/pghot-test.$$" "$MB" "$SLOW"
	# One record for each large folio: nobody knows how many there are.
	hold_ready 1
	ask write
	wait_until ready_is 0 || fail "$(ready_now) records are left"
	grown pghot_skip_dirty 1 || fail "dirty pages are not counted"
	expect 0 check
	conserved
}

# Pages that somebody holds a reference to can be isolated, but not moved.
test_in_use() {
	need_pghot
	balance 2
	memory -c "$CPU" anon 1 "$SLOW"
	ask pin
	remember
	ask run
	wait_until grown pghot_skip_migrate 1 || fail "pages that are in use moved"
	ask stop
	ask where
	# One that is being tried has no entry in its page table: it is on no node.
	(($(on "$FAST") < 256)) || fail "pages that are in use moved: $REPLY"
	ask unpin
	ask run
	placed "$FAST" 256
	ask stop
	expect 0 check
	conserved
}

test_shared_executable() {
	local dir=${PGHOT_TEST_DIR:-/var/tmp}
	need_pghot
	need_page_cache "$dir"
	balance 2
	remember
	memory -x -p -c "$CPU,$CPU" "file:$dir/pghot-test.$$" "$MB" "$SLOW"
	ask run
	wait_until grown pghot_refused_exec 1 || fail "no page was refused"
	ask stop
	conserved
}

run_tests "$@"
