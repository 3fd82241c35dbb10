# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by tests of pghot, after lib.sh: memory blocks of the lower tier that go offline
# and come back.

MEMORY=/sys/devices/system/memory

blocks() {
	local block
	for block in "$NODES/node$SLOW"/memory*; do
		echo "${block##*/}"
	done | sort -V
}

is_offline() { [ "$(<"$MEMORY/$1/state")" = offline ]; }

offline() { # block
	# Migration out of a block may fail for a moment.
	echo offline >"$MEMORY/$1/state" 2>/dev/null || is_offline "$1"
}

online() {
	local block
	for block; do
		if is_offline "$block"; then
			echo online_movable >"$MEMORY/$block/state" || fail "$block stays offline"
		fi
	done
}

# Sets BLOCKS, which are online again when the test ends, and SECTIONS, how many have records.
need_blocks() {
	need_records
	mapfile -t BLOCKS < <(blocks)
	SECTIONS=$(<"$PGHOT/node$SLOW/sections")
	[ ${#BLOCKS[@]} -ge 2 ] || skip "node $SLOW is one memory block"
	grep -q Movable "$MEMORY/${BLOCKS[0]}/valid_zones" ||
		skip "memory of node $SLOW cannot go offline"
	finally "online ${BLOCKS[*]}"
}
