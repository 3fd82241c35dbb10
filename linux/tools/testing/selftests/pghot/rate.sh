#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The rate limit holds, and costs no record.

. "$(dirname "$0")/lib.sh"

# Milliseconds since boot.
now_ms() {
	local up
	read -r up _ </proc/uptime
	up=${up/./}
	echo $((10#$up * 10))
}

# One MiB a second, a quarter of a second's worth at once, and what was between
# leave and the counter when the clock was started: one batch.
test_low_limit_holds() {
	local start end most batch=16 got
	need_pghot
	balance 2
	memory -c "$CPU" anon "$MB" "$SLOW"
	knob $PGHOT/batch_pages $batch
	knob $PGHOT/window_ms 60000
	knob $RATE 1
	start=$(now_ms)
	remember
	ask run
	for ((end = start; end < start + 5000; )); do
		sleep 0.2
		got=$(grew pghot_promoted_pages)
		end=$(now_ms)
		most=$((256 * (end - start + 250 + 20) / 1000 + batch + 1))
		((got <= most)) ||
			fail "$got pages in $((end - start)) ms, at most $most allowed"
	done
	say "$got pages in $((end - start)) ms, limit $most"
	((got > 0)) || fail "nothing is promoted at all"
	grown pghot_delay_rate_limit 1 || fail "held back, but not counted"
	echo 65536 >$RATE
	placed "$FAST" "$PAGES"
	promoted "$PAGES"
}

test_throttled_records_survive() {
	need_pghot
	balance 2
	memory -c "$CPU" anon "$MB" "$SLOW"
	hold_ready "$PAGES"
	ask where
	(($(on "$SLOW") == PAGES)) || fail "pages moved at a rate of 0: $REPLY"
	grown pghot_delay_rate_limit 1 || fail "held back, but not counted"
	# Nobody accesses the pages any more: they can only move by their records.
	remember
	echo 65536 >$RATE
	placed "$FAST" "$PAGES"
	untouched pghot_recorded
	promoted "$PAGES"
}

# A huge page is more than any bucket of this size holds.
test_huge_pages_pass_a_small_limit() {
	need_pghot
	balance 2
	memory -c "$CPU" thp 4 "$SLOW"
	knob $RATE 1
	remember
	ask run
	placed "$FAST" 1024
	promoted 1024
}

run_tests "$@"
