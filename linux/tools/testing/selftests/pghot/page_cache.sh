#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Files that are read and not mapped. What is read again and again is promoted, what
# is read once is not, and what is no read does not pass for one.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lru.sh"

SOURCE=$PGHOT/sources/page_cache
RECORDED=pghot_recorded_page_cache
DAMON=/sys/kernel/mm/damon/admin/kdamonds
DIR=${PGHOT_TEST_DIR:-/var/tmp}
WINDOW=$((1000 * SLOWER))
# A file system's own pages are read with each file, and others read files, too.
FEW=$((PAGES / 64))

# It is the only source, and works without NUMA balancing.
page_cache() {
	need_pghot
	need_page_cache "$DIR"
	knob $BALANCING 0
	knob $SOURCE/enabled 1
	[ "$(<$SOURCE/running)" = 1 ] || fail "it does not run"
	knob $PGHOT/window_ms $WINDOW
}

file() { # hotfile's options
	start hotfile "$@" "$DIR/pghot-test.$$" "$MB" "$SLOW"
	ask where
	(($(on "$SLOW") == PAGES)) || fail "the file is not on node $SLOW: $REPLY"
	remember
}

# For so many hundredths of a window.
pause() {
	local ms=$((WINDOW * $1 / 100))
	sleep $((ms / 1000)).$(printf %03d $((ms % 1000)))
}

few() { # counter
	(($(grew "$1") <= FEW)) || fail "$1 grew by $(grew "$1")"
}

file_is_on() { # node, how many pages may be elsewhere
	ask where
	(($(on "$1") >= PAGES - ${2:-0}))
}

# All of the file, which is read on, and it is pghot that brings it.
goes_to() { # node
	ask run
	wait_until file_is_on "$1" || fail "not all is on node $1: $REPLY"
	promoted $PAGES
}

stays() {
	ask where
	(($(on "$SLOW") == PAGES)) || fail "pages moved: $REPLY"
}

test_what_is_read_again_is_promoted() {
	page_cache
	file -c "$CPU"
	goes_to "$FAST"
	[ "$(counter numa_hint_page_cache)" = "$(counter $RECORDED)" ] ||
		fail "numa_hint_page_cache is not $RECORDED"
	(($(<$SOURCE/accesses) >= PAGES)) || fail "$(<$SOURCE/accesses) accesses"
}

test_it_goes_where_it_is_read() {
	page_cache
	need_two_sockets
	file -c "$CPU2"
	goes_to "$OTHER"
}

test_of_tmpfs_too() {
	DIR=/dev/shm
	[ "$(stat -f -c %T $DIR)" = tmpfs ] || skip "no tmpfs at $DIR"
	need_pghot
	knob $BALANCING 0
	knob $SOURCE/enabled 1
	knob $PGHOT/window_ms $WINDOW
	file -c "$CPU"
	goes_to "$FAST"
}

test_one_pass_promotes_nothing() {
	page_cache
	file
	ask read
	pause 100
	grown $RECORDED $((PAGES * 3 / 4)) ||
		fail "only $(grew $RECORDED) of $PAGES reads were seen"
	few pghot_ready
	stays
}

test_passes_a_window_apart_promote_nothing() {
	local i
	page_cache
	file
	for ((i = 0; i < 4; i++)); do
		ask read
		pause 150
	done
	few pghot_ready
	stays
}

# What is in the pipe cannot move meanwhile, and has another turn.
spliced_away() {
	ask splice
	pause 30
	ask where
	(($(on "$SLOW") == 0))
}

# Each piece of it that goes through a pipe is a mark.
test_a_large_folio_counts_once() {
	page_cache
	file -w 1024
	ask read
	(($(grew $RECORDED) < PAGES / 2)) || skip "no large folios in $DIR"
	pause 100
	remember
	ask splice
	grown $RECORDED $((PAGES * 3 / 4)) || fail "only $(grew $RECORDED) marks"
	few pghot_ready
	pause 30
	wait_until spliced_away || fail "not all is promoted: $REPLY"
	(($(grew pghot_ready) < PAGES / 4)) ||
		fail "$(grew pghot_ready) records for $PAGES pages in large folios"
	expect 0 check
	conserved
}

# It does not move while it is in a pipe, and it does after that without another read.
test_what_is_held_goes_later() {
	page_cache
	file -c "$CPU"
	ask hold
	ask run
	wait_until file_is_on "$FAST" 16 || fail "most stays: $REPLY"
	pause 100
	ask where
	(($(on "$SLOW") >= 16)) || fail "what is in a pipe moved: $REPLY"
	# To look takes a mapping, and what is mapped is tried, and found again.
	pause 60
	ask stop
	remember
	ask let
	wait_until grown pghot_promoted_pages 16 || fail "what was held stays"
	file_is_on "$FAST" || fail "what was held stays: $REPLY"
	expect 0 check
	conserved
}

test_off_means_off() {
	page_cache
	file -c "$CPU"
	echo 0 >$SOURCE/enabled
	[ "$(<$SOURCE/running)" = 0 ] || fail "it still runs"
	[ "$(<"$PGHOT/node$SLOW/sections")" = 0 ] || fail "there are records"
	remember
	ask run
	pause 100
	ask stop
	untouched $RECORDED pghot_recorded pghot_ready pghot_promoted_pages
	stays
}

test_on_and_off_under_load() {
	local i
	page_cache
	file -c "$CPU"
	ask run
	for ((i = 0; i < 40; i++)); do
		echo $((i % 2)) >$SOURCE/enabled
	done
	goes_to "$FAST"
}

# It waits for longer than a window, and is read all the time.
test_what_waits_and_is_read_stays_hot() {
	page_cache
	knob $RATE 0
	# It drops page cache, the file's too.
	hog "${TOP[@]}"
	file -c "$CPU"
	ask run
	wait_until ready_at_least $((PAGES / 2)) || fail "only $(ready_now) became ready"
	pause 300
	ready_at_least $((PAGES / 2)) || fail "only $(ready_now) are left"
	release
	echo 65536 >$RATE
	wait_until file_is_on "$FAST" || fail "not all is on node $FAST: $REPLY"
	ask stop
	expect 0 check
	conserved
}

# What a mapping saw becomes a mark when it goes.
test_a_mapping_is_no_read() {
	page_cache
	file
	ask map
	ask unmap
	pause 30
	ask map
	ask unmap
	few $RECORDED
}

test_a_huge_mapping_is_no_read() {
	local i
	page_cache
	DIR=$(mktemp -d) || fail "no directory"
	finally "rmdir $DIR"
	mount -t tmpfs -o huge=always none "$DIR" || skip "no huge pages in tmpfs"
	finally "umount $DIR"
	file -w 2048
	ask map
	grep -q 'ShmemPmdMapped: *[1-9]' "/proc/$HOTMEM/smaps" || skip "no huge mapping"
	ask unmap
	# Each huge page would be a mark.
	for ((i = 0; i < FEW; i++)); do
		ask map
		ask unmap
	done
	few $RECORDED
	kill_memory
}

test_reclaim_is_no_read() {
	local i
	page_cache
	multi_gen
	cgroup reclaim memory
	IN=$GROUP file
	ask map
	for ((i = 0; i < 4; i++)); do
		echo $((MB / 2))M >"$GROUP/memory.reclaim" 2>/dev/null
	done
	ask unmap
	few $RECORDED
	kill_memory
}

# First byte of node SLOW, and the first after it.
slow_range() {
	local size block low='' high=0
	size=$((0x$(</sys/devices/system/memory/block_size_bytes)))
	for block in "$NODES/node$SLOW"/memory[0-9]*; do
		block=${block##*memory}
		((block > high)) && high=$block
		[ -n "$low" ] && ((low < block)) || low=$block
	done
	echo $((low * size)) $(((high + 1) * size))
}

damon_works() {
	echo update_schemes_stats >$DAMON/0/state
	(($(<$DAMON/0/contexts/0/schemes/0/stats/nr_applied) > 0))
}

# It finds what is used, and makes it young.
test_damon_is_no_read() {
	local context=$DAMON/0/contexts/0 pattern start end
	page_cache
	[ -w $DAMON/nr_kdamonds ] || skip "no DAMON"
	file
	read -r start end < <(slow_range)
	knob $DAMON/nr_kdamonds 1
	echo 1 >$DAMON/0/contexts/nr_contexts
	echo paddr >$context/operations
	echo 1 >$context/targets/nr_targets
	echo 1 >$context/targets/0/regions/nr_regions
	echo "$start" >$context/targets/0/regions/0/start
	echo "$end" >$context/targets/0/regions/0/end
	echo 1 >$context/schemes/nr_schemes
	echo lru_prio >$context/schemes/0/action
	pattern=$context/schemes/0/access_pattern
	for pattern in $pattern/sz $pattern/nr_accesses $pattern/age; do
		echo 0 >"$pattern/min"
		echo 4294967295 >"$pattern/max"
	done
	echo on >$DAMON/0/state || fail "DAMON does not start"
	finally "echo off >$DAMON/0/state"
	wait_until damon_works || fail "DAMON does nothing"
	few $RECORDED
}

# Reclaim would take it first from where it has just come to.
arrives_young() {
	local before grown
	file -c "$CPU"
	before=$(active file) || fail "no Active(file) of node $FAST"
	goes_to "$FAST"
	grown=$(($(active file) - before))
	((grown >= PAGES * 3 / 4)) ||
		fail "of $PAGES pages promoted, $grown are active"
}

test_it_arrives_young() {
	page_cache
	multi_gen
	arrives_young
}

test_it_arrives_young_classic() {
	page_cache
	classic
	arrives_young
}

run_tests "$@"
