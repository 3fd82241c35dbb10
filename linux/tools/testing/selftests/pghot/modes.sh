#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernel.numa_balancing keeps its meaning: 0 nothing, 1 between sockets, 2 from
# lower tiers, 3 both. Only what concerns lower tiers is pghot's.

. "$(dirname "$0")/lib.sh"

# Twenty scan periods: what is not to happen gets time to.
PAUSE=2

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
