#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A block of the lower tier that does not get offline: the kernel says why, and tries again.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/blocks.sh"

goes_on() { # process
	kill -0 "$1" 2>/dev/null
}

ended() { # process
	! goes_on "$1"
}

# One of its pages cannot move: memory hotplug tries until somebody ends that.
test_switching_does_not_wait_for_a_block() {
	local block hotplug switch
	need_blocks
	memory -c "$CPU" anon 1 "$SLOW"
	ask pin
	for block in "${BLOCKS[@]}"; do
		echo offline >"$MEMORY/$block/state" 2>/dev/null &
		hotplug=$!
		finally "kill $hotplug 2>/dev/null; wait $hotplug"
		sleep $((2 * SLOWER))
		goes_on $hotplug && break
	done
	goes_on $hotplug || skip "each block went offline"
	(
		echo 0 >$BALANCING
		echo 2 >$BALANCING
		echo 0 >$PGHOT/enabled
		echo 1 >$PGHOT/enabled
	) &
	switch=$!
	wait_until ended $switch || fail "it waits for memory hotplug"
	wait $switch || fail "it cannot be switched"
	goes_on $hotplug || fail "the block went offline meanwhile"
	kill $hotplug
	wait_until ended $hotplug || fail "memory hotplug goes on"
	ask unpin
	online "${BLOCKS[@]}"
	[ "$(<"$PGHOT/node$SLOW/sections")" = "$SECTIONS" ] || fail "not all records came back"
	expect 0 check
}

run_tests "$@"
