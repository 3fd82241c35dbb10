#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each knob takes what is in its range and answers EINVAL to all else, without
# a change; who may read and write; the names of old still work.

. "$(dirname "$0")/lib.sh"

HINT=$PGHOT/sources/hint_fault
NUMA=/sys/kernel/mm/numa
UNITS=$PGHOT/sources/hotness_unit
SAMPLES=$PGHOT/sources/hw_sample

# file, lowest and highest value
knobs() {
	local most=3
	[ "$(<$PGHOT/layout)" = precise ] && most=127
	cat <<-END
		$PGHOT/enabled 0 1
		$PGHOT/freq_threshold 1 $most
		$PGHOT/window_ms 100 60000
		$PGHOT/batch_pages 1 8192
		$PGHOT/period_ms 10 10000
		$PGHOT/backoff 0 1
		$PGHOT/promote_rate_limit_MBps 0 4194304
		$HINT/enabled 0 1
		$HINT/hot_threshold_ms 1 60000
		$PGHOT/sources/page_cache/enabled 0 1
		$PGHOT/sources/page_table/enabled 0 1
		$SCAN/cpu_permille 1 1000
		$SCAN/near_permille 1 1000
	END
	[ ! -d $SAMPLES ] || echo $SAMPLES/cpu_permille 1 500
	[ ! -d $UNITS ] || echo $UNITS/epoch_ms 1 10000
}

# Writing a value answers EINVAL and changes nothing.
refuses() { # file value
	local before said
	before=$(<"$1")
	if said=$({ printf '%s\n' "$2" >"$1"; } 2>&1); then
		fail "$1 takes '$2'"
	fi
	case $said in
	*"Invalid argument"*) ;;
	*) fail "$1 answers to '$2': $said" ;;
	esac
	[ "$(<"$1")" = "$before" ] || fail "$1 is $(<"$1") after '$2' was refused"
}

test_accepts_its_range() {
	local file low high value
	need_pghot
	while read -r file low high; do
		for value in "$low" "$high" $(((low + high) / 2)); do
			knob "$file" "$value"
			[ "$(<"$file")" = "$value" ] ||
				fail "$file is $(<"$file") after $value was written"
		done
	done < <(knobs)
}

test_refuses_what_is_outside() {
	local file low high
	need_pghot
	while read -r file low high; do
		((low == 0)) || refuses "$file" $((low - 1))
		refuses "$file" $((high + 1))
		refuses "$file" -1
		refuses "$file" 4294967296
		refuses "$file" $((4294967296 + high))
		refuses "$file" 99999999999999999999999999
	done < <(knobs)
}

test_refuses_garbage() {
	local file low high value
	need_pghot
	while read -r file low high; do
		for value in "" " " abc "${high}x" "$high $high" "$high," 1.5 0x -; do
			refuses "$file" "$value"
		done
	done < <(knobs)
}

test_modes_of_files() {
	local file mode
	need_pghot
	while read -r mode file; do
		case ${file#"$PGHOT"/} in
		sources/hw_sample/period | sources/hw_sample/samples | \
			sources/hw_sample/cpu_usec | \
			sources/hw_sample/looked | sources/hw_sample/look_usec)
			# They tell how much memory others use.
			[ "$mode" = 400 ] || fail "$file has mode $mode, not 400"
			;;
		layout | */event | */away | */accesses | */running | node*/* | target*/* | \
			*/units | */overflows | */threshold | \
			*/scan_period_ms | */scanned | */cpu_usec | */passes | \
			*/near_scanned | */near_usec)
			[ "$mode" = 444 ] || fail "$file has mode $mode, not 444"
			;;
		*)
			[ "$mode" = 644 ] || fail "$file has mode $mode, not 644"
			;;
		esac
	done < <(find $PGHOT -type f -exec stat -c '%a %n' {} +)
}

test_unprivileged_users() {
	local file low high
	need_pghot
	command -v setpriv >/dev/null || skip "no setpriv"
	nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@" 2>/dev/null; }
	nobody true || fail "setpriv does not work"
	while read -r file low high; do
		# shellcheck disable=SC2016
		nobody cat "$file" >/dev/null || fail "$file is not for all to read"
		# shellcheck disable=SC2016
		nobody sh -c 'echo "$2" >"$1"' sh "$file" "$low" && fail "anyone can write $file"
	done < <(knobs)
	nobody cat $PGHOT/layout >/dev/null || fail "$PGHOT/layout is not for all to read"
	nobody cat "$PGHOT/node$SLOW/ready" >/dev/null ||
		fail "node$SLOW/ready is not for all to read"
}

# Two files are one variable.
same() { # one file, the other, low, high
	local value
	for value in "$3" "$4"; do
		knob "$1" "$value"
		[ "$(<"$2")" = "$value" ] || fail "$2 is $(<"$2"), $1 is $value"
		knob "$2" $((value + 1))
		[ "$(<"$1")" = $((value + 1)) ] || fail "$1 is $(<"$1"), $2 is $((value + 1))"
	done
}

test_names_of_old() {
	local debug=/sys/kernel/debug/pghot/freq_threshold
	need_pghot
	same $RATE /proc/sys/kernel/numa_balancing_promote_rate_limit_MBps 10 4000000
	same $HINT/hot_threshold_ms $DEBUG_BALANCING/hot_threshold_ms 1 59999
	same $PGHOT/freq_threshold $debug 1 2
	same $PGHOT/sources/page_cache/enabled $NUMA/pagecache_promotion_enabled 0 0
	refuses $debug 0
	refuses $debug 128
	refuses $debug abc
	refuses $NUMA/pagecache_promotion_enabled abc
	[ "$(stat -c %a $debug)" = 600 ] || fail "$debug is not for root only"
}

is_below() { (($(<"$1") < $2)); }

# What was learnt under another setting does not count on.
test_hot_threshold_counts_at_once() {
	local file
	need_pghot
	file=$PGHOT/target$FAST/threshold_ms
	balance 2
	memory -c "$CPU" anon "$MB" "$SLOW"
	knob $RATE 0
	ask run
	wait_until is_below "$file" 10000 || fail "$file is still $(<"$file")"
	ask stop
	knob $DEBUG_BALANCING/scan_period_max_ms 60000
	knob $HINT/hot_threshold_ms 5000
	(($(<"$file") == 5000)) || fail "$file is $(<"$file"), not 5000"
}

test_batches_have_their_size() {
	need_pghot
	balance 2
	knob $PGHOT/batch_pages 1
	remember
	memory anon 1 "$SLOW"
	ask run
	placed "$TOPLIST" 256
	promoted 256
	grown pghot_batches 256 || fail "only $(grew pghot_batches) batches of one page"
}

run_tests "$@"
