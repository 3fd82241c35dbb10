#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Hotness monitoring units as a source, with a device that has one or without.

. "$(dirname "$0")/lib.sh"

UNITS=$PGHOT/sources/hotness_unit

need_source() {
	need_pghot
	[ -d $UNITS ] || skip "no CONFIG_PGHOT_HOTNESS_UNIT"
}

need_unit() {
	need_source
	[ "$(<$UNITS/units)" -gt 0 ] || skip "no device with a hotness unit"
}

# It needs no NUMA balancing, and takes memory for records only while it is on.
test_works_by_its_switch_alone() {
	need_source
	knob $BALANCING 0
	[ "$(<$UNITS/enabled)" = 0 ] || fail "it is on"
	[ "$(<"$PGHOT/node$SLOW/sections")" = 0 ] || fail "there are records"
	knob $UNITS/enabled 1
	[ "$(<$UNITS/running)" = 1 ] || fail "it does not run"
	(($(<"$PGHOT/node$SLOW/sections") > 0)) || fail "there are no records"
	echo 0 >$UNITS/enabled
	[ "$(<$UNITS/running)" = 0 ] || fail "it does not stop"
	[ "$(<"$PGHOT/node$SLOW/sections")" = 0 ] || fail "records are left"
	[ "$(<$UNITS/threshold)" = 0 ] || fail "a unit has a threshold"
}

test_switched_while_others_report() {
	local i
	need_source
	balance 2
	memory -c "$CPU" anon "$MB" "$SLOW"
	remember
	ask run
	for ((i = 0; i < 40; i++)); do
		knob $UNITS/enabled $((i % 2))
		knob $UNITS/epoch_ms $((i + 1))
	done
	placed "$FAST" "$PAGES"
	ask stop
	expect 0 check
	conserved
}

test_promotes_without_numa_balancing() {
	need_unit
	knob $BALANCING 0
	knob $UNITS/enabled 1
	remember
	memory -c "$CPU" anon "$MB" "$SLOW"
	ask run
	placed "$FAST" "$PAGES"
	promoted "$PAGES"
	grown pghot_recorded_hotness_unit "$PAGES" || fail "units reported too little"
}

run_tests "$@"
