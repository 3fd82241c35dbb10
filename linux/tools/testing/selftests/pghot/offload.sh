#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Copy engines: what they copy is right, whatever goes wrong with them.

. "$(dirname "$0")/lib.sh"

OFFLOAD=/sys/kernel/mm/migrate_offload
TEST=/sys/kernel/debug/migrate_offload_test
ROUNDS=${PGHOT_TEST_ROUNDS:-4}
DIR=${PGHOT_TEST_DIR:-/tmp}

# The engine that goes wrong, and how.
need_engine() { # mode
	need_tiers
	[ -d $OFFLOAD ] || skip "no copy engines"
	[ -d $TEST ] || skip "no CONFIG_MIGRATE_OFFLOAD_TEST"
	knob $TEST/mode "$1"
	knob $TEST/present 1
}

# What its counters have, over folios of all sizes.
engine_sum() { # engine counter
	local sum=0 file
	for file in "$OFFLOAD/$1"/folios-*/"$2"; do
		((sum += $(<"$file")))
	done
	echo "$sum"
}

# Sets MOVED and WRONG.
moves() { # contents' arguments
	local said
	said=$("$HERE/contents" "$@" 2>&1) || fail "contents $*: $said"
	say "contents $*: $said"
	MOVED=${said#moved=}
	MOVED=${MOVED%% *}
	WRONG=${said##*wrong=}
}

# Memory of each kind is right all the time, and gets where it is to go. How much of it does
# is up to who uses it meanwhile: what the kernel writes to, or the disk, stays. Dirty
# pages of a file have buffers, which no engine gets.
all_right() {
	local kind
	for kind in anon thp shmem locked "file:$DIR/contents"; do
		moves "$kind" "$MB" "$FAST" "$SLOW" "$ROUNDS"
		[ "$WRONG" = 0 ] || fail "$kind: $WRONG pages are wrong"
		((MOVED > 0)) || fail "$kind: nothing was moved"
	done
}

# What children have inherited is right, and what parents go on with.
forks_right() {
	local kind
	for kind in anon thp; do
		moves -f "$kind" "$MB" "$FAST" "$SLOW" 2
		[ "$WRONG" = 0 ] || fail "$kind: $WRONG pages are wrong"
	done
}

# What looks for wrong pages finds them.
test_wrong_copies_are_found() {
	need_engine corrupt
	moves anon "$MB" "$FAST" "$SLOW" 2
	((WRONG > 0)) || fail "an engine that corrupts all is not noticed"
	(($(engine_sum test copied) > 0)) || fail "it copied nothing"
}

test_what_an_engine_copies_is_right() {
	need_engine ok
	all_right
	(($(engine_sum test copied) > PAGES)) || fail "it copied $(engine_sum test copied)"
	[ "$(engine_sum test failed)" = 0 ] || fail "$(engine_sum test failed) failed"
}

# What engines never get is copied all the same.
test_huge_pages() {
	local pages begun
	need_engine ok
	knob $BALANCING 0
	for pages in "$FAST" "$SLOW"; do
		pages=$NODES/node$pages/hugepages/hugepages-2048kB/nr_hugepages
		[ -e "$pages" ] || skip "no huge pages"
		knob "$pages" $((MB / 2 + 1))
		(($(<"$pages") > MB / 2)) || skip "no memory for huge pages"
	done
	# Memory may have been compacted for them.
	begun=$(engine_sum test copied)
	moves huge "$MB" "$FAST" "$SLOW" "$ROUNDS"
	[ "$WRONG" = 0 ] || fail "$WRONG pages are wrong"
	((MOVED > 0)) || fail "none was moved"
	[ "$(engine_sum test copied)" = "$begun" ] ||
		fail "the engine copied $(engine_sum test copied), $begun before"
}

# Folios of sizes between a page and a huge page migrate as they are, and go on to do so.
test_large_folios_stay_whole() {
	local thp=/sys/kernel/mm/transparent_hugepage enabled size kb begun split tried=0
	need_tiers
	knob $BALANCING 0
	for enabled in $thp/hugepages-*kB/enabled; do
		[ -e "$enabled" ] || skip "no folios between a page and a huge page"
		knob "$enabled" never
	done
	for kb in 16 64 256; do
		size=$thp/hugepages-${kb}kB
		[ -d "$size" ] || continue
		begun=$(<"$size/stats/anon_fault_alloc")
		split=$(<"$size/stats/split")
		echo always >"$size/enabled" || fail "cannot have folios of $kb KiB"
		moves -w 0 thp "$MB" "$FAST" "$SLOW" $((ROUNDS + 1))
		echo never >"$size/enabled" || fail "cannot be without folios of $kb KiB"
		[ "$WRONG" = 0 ] || fail "$kb KiB: $WRONG pages are wrong"
		((MOVED == PAGES * (ROUNDS + 1))) || fail "$kb KiB: $MOVED pages moved in all"
		(($(<"$size/stats/anon_fault_alloc") > begun)) || fail "no folios of $kb KiB"
		(($(<"$size/stats/split") == split)) ||
			fail "$(($(<"$size/stats/split") - split)) folios of $kb KiB were split"
		((++tried))
	done
	((tried > 0)) || skip "no folios of such sizes"
}

# A folio of which two processes give back the same half while it migrates is one of which
# a part is mapped, though the rest has as many mappings as it has pages.
test_halves_given_back_meanwhile() {
	local thp=/sys/kernel/mm/transparent_hugepage/hugepages-64kB said caught
	need_engine slow
	knob $BALANCING 0
	[ -e $thp/enabled ] || skip "no folios of 64 KiB"
	[ -e $thp/stats/nr_anon_partially_mapped ] || skip "they are not counted"
	knob $thp/enabled always
	said=$("$HERE/halves" 64 "$SLOW" "$FAST" 50 2>&1) || fail "halves: $said"
	say "$said"
	caught=${said#caught=}
	caught=${caught%% *}
	((caught > 0)) || skip "both were never in time"
	((caught == ${said##*known=})) || fail "$said"
}

test_forks_meanwhile() {
	need_engine reverse
	forks_right
	(($(engine_sum test copied) > 0)) || fail "it copied nothing"
}

test_an_engine_that_copies_nothing() {
	need_engine fail
	all_right
	[ "$(engine_sum test copied)" = 0 ] || fail "it copied $(engine_sum test copied)"
	(($(engine_sum test failed) > PAGES)) || fail "$(engine_sum test failed) failed"
}

test_an_engine_that_copies_a_part() {
	need_engine partial
	all_right
	(($(engine_sum test copied) > 0)) || fail "it copied nothing"
	(($(engine_sum test failed) > 0)) || fail "nothing failed"
}

test_an_engine_that_refuses() {
	need_engine refuse
	all_right
	(($(engine_sum test failed) > 0)) || fail "nothing failed"
}

test_an_engine_that_is_busy() {
	need_engine busy
	all_right
	(($(<$OFFLOAD/test/busy) > 0)) || fail "it was never busy"
	[ "$(engine_sum test failed)" = 0 ] || fail "$(engine_sum test failed) failed"
}

test_an_engine_that_is_late() {
	need_engine slow
	ROUNDS=2
	all_right
	(($(engine_sum test copied) > 0)) || fail "it copied nothing"
}

test_jobs_that_end_in_another_order() {
	need_engine reverse
	ROUNDS=2
	all_right
	(($(engine_sum test copied) > 0)) || fail "it copied nothing"
}

# An engine is removed and comes back while it copies: each time it was used, for
# a slow host may take longer to move a batch than for that.
test_an_engine_that_comes_and_goes() {
	local said other out times=0 jobs before
	need_engine reverse
	jobs=$(<$TEST/jobs)
	exec {out}< <("$HERE/contents" anon "$MB" "$FAST" "$SLOW" $((ROUNDS * 4)) 2>&1)
	other=$!
	while kill -0 $other 2>/dev/null; do
		echo 0 >$TEST/present || fail "it cannot be removed"
		echo 1 >$TEST/present || fail "it cannot be added"
		((++times))
		before=$(<$TEST/jobs)
		until (($(<$TEST/jobs) > before)) || ! kill -0 $other 2>/dev/null; do
			:
		done
	done
	read -r said <&"$out"
	say "$times times: $said"
	((times > 1)) || fail "it went $times times"
	[ "${said##* }" = wrong=0 ] || fail "contents: $said"
	[ "${said%% *}" != moved=0 ] || fail "contents: $said"
	(($(<$TEST/jobs) > jobs)) || fail "it was never used"
}

# Other CPUs copy, and say so.
test_several_cpus_copy() {
	need_tiers
	[ -d $OFFLOAD/mtcopy ] || skip "no mtcopy"
	[ "$(<$OFFLOAD/mtcopy/enabled)" = 0 ] || fail "it is on where nobody asked"
	knob $OFFLOAD/mtcopy/enabled always
	all_right
	(($(engine_sum mtcopy copied) > PAGES)) || fail "they copied $(engine_sum mtcopy copied)"
	forks_right
}

# What lost to the CPU is hardly used, and nothing is lost by it.
test_a_slow_engine_is_not_used() {
	need_engine slow
	knob $OFFLOAD/test/enabled 1
	moves anon "$MB" "$FAST" "$SLOW" $((ROUNDS * 4))
	[ "$WRONG" = 0 ] || fail "$WRONG pages are wrong"
	(($(engine_sum test copied) > 0)) || fail "it was not even tried"
	(($(engine_sum test copied) * 4 < MOVED)) || {
		sed 's/^/# /' /sys/kernel/debug/migrate_offload/test
		fail "it copied $(engine_sum test copied) of $MOVED"
	}
}

# Promotion goes through engines too.
test_promoted_pages_are_right() {
	need_engine ok
	need_records
	knob $RATE 65536
	arrives -c "$CPU" anon "$MB" "$SLOW"
	expect 0 check
	(($(engine_sum test copied) > 0)) || fail "it copied nothing"
}

# Who has an engine for promotion does not lose it to programs that move their pages.
test_an_engine_is_kept_for_some_reasons() {
	local reasons=$OFFLOAD/test/reasons all words
	need_engine ok
	knob $BALANCING 0
	all=$(<"$reasons")
	[[ " $all " == *" syscall_or_cpuset "* ]] || fail "reasons: $all"
	for words in "" " " never_migrated "numa_misplaced x" "demotion,damon"; do
		if echo "$words" 2>/dev/null >"$reasons"; then
			fail "reasons takes '$words'"
		fi
	done
	[ "$(<"$reasons")" = "$all" ] || fail "what was refused left '$(<"$reasons")'"
	knob "$reasons" "numa_misplaced demotion"
	[ "$(<"$reasons")" = "numa_misplaced demotion" ] || fail "reasons: $(<"$reasons")"
	moves anon "$MB" "$FAST" "$SLOW" 2
	[ "$(engine_sum test copied)" = 0 ] || fail "it copied $(engine_sum test copied)"
	echo "$all" >"$reasons" || fail "cannot set reasons again"
	moves anon "$MB" "$FAST" "$SLOW" 2
	(($(engine_sum test copied) > 0)) || fail "it copied nothing"
}

test_settings_are_bounded() {
	local file value
	need_engine ok
	for value in 2 -1 x ""; do
		if echo "$value" 2>/dev/null >$OFFLOAD/test/enabled; then
			fail "enabled takes '$value'"
		fi
	done
	for value in -1 1000001 x; do
		if echo $value 2>/dev/null >$OFFLOAD/first_folio_us; then
			fail "first_folio_us takes $value"
		fi
	done
	for file in enabled reasons first_folio_us; do
		file=$(find $OFFLOAD -name $file | head -1)
		[ "$(stat -c %U%a "$file")" = root644 ] || fail "$file: $(stat -c %U%a "$file")"
	done
	if echo wrong 2>/dev/null >$TEST/mode; then
		fail "mode takes a wrong word"
	fi
	grep -q 'CPU ns/KiB' /sys/kernel/debug/migrate_offload/test || fail "no table of costs"
}

run_tests "$@"
