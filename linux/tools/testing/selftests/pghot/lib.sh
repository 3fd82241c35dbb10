# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by the tests of pghot.
#
# A test is a function test_<name>. It runs in a subshell of its own, ends by
# fail or skip or by returning, and what it changed by knob or started by memory
# or hog is undone however it ends. `./script.sh name...` runs some of them.

PGHOT=/sys/kernel/mm/pghot
BALANCING=/proc/sys/kernel/numa_balancing
DEBUG_BALANCING=/sys/kernel/debug/sched/numa_balancing
RATE=$PGHOT/promote_rate_limit_MBps
SCAN=$PGHOT/sources/page_table
NODES=/sys/devices/system/node
HERE=$(cd "${BASH_SOURCE[0]%/*}" && pwd)

# Seconds after which something that must happen counts as not happening. Only
# a failing test takes that long.
LIMIT=${PGHOT_TEST_LIMIT:-120}
# How many times slower than usual the kernel is: a test waits so much longer before it
# takes something for over.
SLOWER=${PGHOT_TEST_SLOWER:-1}
# Size of the memory most tests work on.
MB=${PGHOT_TEST_MB:-8}
PAGES=$((MB * 256))

say() { echo "# $*"; }

fail() {
	say "$*"
	account
	exit 1
}

skip() {
	echo "$*" >&"$SKIP_FD"
	exit 4
}

. "$HERE/tiers.sh"

# --- what is there ---------------------------------------------------------

need_pghot() {
	[ -d $PGHOT ] || skip "no pghot, or pghot=off"
	need_tiers
}

# Records, and threads that are not parked: without a source that runs there are none.
# Hint faults alone report, in memory tiering mode only.
need_records() {
	need_pghot
	only hint_fault
	knob $BALANCING 2
	[ "$(<"$PGHOT/node$SLOW/sections")" -gt 0 ] || fail "node$SLOW has no records"
}

# Accessed bits of page tables report, and nobody else.
need_scan() { # thousandths of a CPU
	need_pghot
	[ -d $SCAN ] || skip "page tables are no source here"
	knob $BALANCING 0
	knob $SCAN/cpu_permille "${1:-1000}"
	knob $SCAN/enabled 1
	[ "$(<$SCAN/running)" = 1 ] || fail "page tables are not scanned"
}

# The scan was through with all processes so often, since boot.
passed() { (($(<$SCAN/passes) >= $1)); }

need_page_cache() { # directory
	case $(stat -f -c %T "$1") in
	tmpfs | overlayfs | v9fs)
		skip "files in $1 have no pages of a disk: set PGHOT_TEST_DIR"
		;;
	esac
}

need_two_sockets() {
	[ ${#TOP[@]} -ge 2 ] || skip "one DRAM node only"
	OTHER=${TOP[1]}
	CPU2=$(cpu_of "$OTHER")
	[ -n "$CPU2" ] || skip "node $OTHER has no CPU"
}

# --- knobs -----------------------------------------------------------------

UNDO=()

# Have a command run when the test ends, the last one first.
finally() { UNDO+=("$*"); }

# Set a knob for the rest of the test. Of a file that shows all its choices, the
# one in brackets is the present one.
knob() { # file value
	local now
	now=$(<"$1") || fail "cannot read $1"
	case $now in
	*\[*\]*)
		now=${now#*[}
		now=${now%%]*}
		;;
	esac
	finally "echo $now >$1"
	echo "$2" >"$1" || fail "cannot set $1 to $2"
}

undo() {
	local i
	for i in "${CHILDREN[@]}"; do
		kill -KILL "$i"
		wait "$i"
	done 2>/dev/null
	for ((i = ${#UNDO[@]} - 1; i >= 0; i--)); do
		eval "${UNDO[i]}"
	done
}

# No other source reports.
only() { # source
	local dir
	for dir in "$PGHOT"/sources/*; do
		[ "${dir##*/}" = "$1" ] || knob "$dir/enabled" 0
	done
}

# Scan often and take every fault of a busy loop as hot, however slow the CPU.
balance() { # mode
	if [ -d $PGHOT ]; then
		only hint_fault
	fi
	knob $BALANCING "$1"
	knob $DEBUG_BALANCING/scan_period_min_ms 100
	knob $DEBUG_BALANCING/scan_period_max_ms 1000
	knob $DEBUG_BALANCING/scan_delay_ms 100
	knob $DEBUG_BALANCING/hot_threshold_ms 10000
}

# A cgroup of the test's own, in GROUP, with a controller.
cgroup() { # name controller
	GROUP=/sys/fs/cgroup/pghot-test.$$.$1
	[ -e /sys/fs/cgroup/cgroup.controllers ] || skip "no cgroup2 at /sys/fs/cgroup"
	grep -qw "$2" /sys/fs/cgroup/cgroup.controllers || skip "no $2 controller"
	echo "+$2" >/sys/fs/cgroup/cgroup.subtree_control || fail "no $2 for children"
	mkdir "$GROUP" || fail "cannot make $GROUP"
	finally "until rmdir $GROUP; do sleep 0.1; done"
}

# --- counters --------------------------------------------------------------

# Read in one go: "while read" goes back in the file after each line, and lands
# elsewhere when a number before it has got another digit meanwhile.
vmstat() { mapfile -t VMSTAT </proc/vmstat; }

# Some counts wait with their CPU before they are summed up; an idle one may keep
# them for long.
refresh() { mapfile </proc/sys/vm/stat_refresh; }

counter() {
	local IFS=$'\n'
	vmstat
	[[ "$IFS${VMSTAT[*]}" =~ $IFS"$1 "([0-9]+) ]] && echo "${BASH_REMATCH[1]}"
}

declare -A BEFORE

# Remember the counters; grew NAME is what came since.
remember() {
	local line
	refresh
	vmstat
	for line in "${VMSTAT[@]}"; do
		BEFORE[${line% *}]=${line#* }
	done
}

# For who looks for the cause of a failure: what changed since remember(), and
# where the threads stand.
account() {
	local line name grown file pid
	vmstat
	for line in "${VMSTAT[@]}"; do
		name=${line% *}
		grown=$((${line#* } - ${BEFORE[$name]:-0}))
		case $name in
		pghot_* | pgpromote_* | pgdemote_* | numa_hint_faults)
			[ "$grown" = 0 ] || say "$name grew by $grown"
			;;
		esac
	done
	for file in /sys/devices/system/node/node[0-9]*/meminfo; do
		read -r _ _ _ name _ < <(grep MemFree: "$file")
		line=${file%/meminfo}
		say "${line##*/} has $name kB free"
	done
	for file in "$PGHOT"/target[0-9]*/rate_kib_s; do
		[ -r "$file" ] || continue
		say "${file#"$PGHOT/"} is $(<"$file")," \
			"gain_percent $(<"${file%/*}/gain_percent")"
	done
	for file in "$PGHOT"/node[0-9]*/kmigrated; do
		[ -r "$file" ] || continue
		pid=$(<"$file")
		say "kmigrated $pid, $(<"${file%kmigrated}ready") ready:" \
			"$(grep State: "/proc/$pid/status" 2>&1)"
		[ -r "/proc/$pid/stack" ] || continue
		while read -r line; do
			say "$line"
		done <"/proc/$pid/stack"
	done
}

grew() {
	local now
	refresh
	now=$(counter "$1") || fail "no counter $1"
	echo $((now - BEFORE[$1]))
}

# Nobody writes to it: to read from it takes as long as one says, and starts no program, which
# takes longer than that under emulation.
exec {NEVER}<> <(:)

# The status of a loop is that of what it did last: a nap that is over is none that failed.
nap() { # seconds
	local REPLY
	! read -r -t "$1" -u "$NEVER"
}

wait_until() { # command...
	local end=$((SECONDS + LIMIT))
	until "$@"; do
		((SECONDS < end)) || return 1
		nap 0.05
	done
}

grown() { # counter least
	(($(grew "$1") >= $2))
}

ready_now() {
	local sum=0 file
	for file in $PGHOT/node*/ready; do
		if [ -e "$file" ]; then
			((sum += $(<"$file")))
		fi
	done
	echo $sum
}

# S: sleeps, P: parked
thread_state() {
	local state
	read -r _ _ state _ <"/proc/$(<"$PGHOT/node$SLOW/kmigrated")/stat"
	echo "$state"
}

is_parked() { [ "$(thread_state)" = P ]; }
is_unparked() { [ "$(thread_state)" != P ]; }

ready_at_least() { (($(ready_now) >= $1)); }
ready_is() { (($(ready_now) == $1)); }

# Every record that became ready is accounted for once. While kmigrated is at
# work some are in its hands; that ends.
is_conserved() {
	local line ready=0 sum=0
	vmstat
	for line in "${VMSTAT[@]}"; do
		case $line in
		pghot_ready\ *) ready=${line#* } ;;
		pghot_moved\ * | pghot_skip_*) ((sum += ${line#* })) ;;
		esac
	done
	CONSERVED="ready $ready, moved or skipped $sum, waiting $(ready_now)"
	((ready == sum + $(ready_now)))
}

conserved() {
	wait_until is_conserved || fail "records lost or counted twice: $CONSERVED"
}

# --- memory ----------------------------------------------------------------

CHILDREN=()

# Start hotmem or hotfile, in the cgroup IN if that is set; it answers to ask.
start() { # program its arguments
	coproc MEM {
		if [ -n "$IN" ]; then
			echo "$BASHPID" >"$IN/cgroup.procs"
		fi
		exec "$HERE/$1" "${@:2}" 2>&1
	}
	CHILDREN+=("$MEM_PID")
	HOTMEM=$MEM_PID
	exec {TO}>&"${MEM[1]}" {FROM}<&"${MEM[0]}"
	answer
	case $REPLY in
	ready*) ;;
	*) fail "$1: $REPLY" ;;
	esac
}

memory() { start hotmem "$@"; } # hotmem's arguments

kill_memory() {
	kill -KILL "$HOTMEM"
	wait "$HOTMEM"
} 2>/dev/null

answer() {
	read -r -t $((LIMIT * 2)) -u "$FROM" REPLY || fail "the helper is gone or hangs"
}

ask() {
	echo "$*" >&"$TO"
	answer
}

# Pages on a node, from the last answer.
on() {
	local word
	for word in $REPLY; do
		if [ "${word%=*}" = "node$1" ]; then
			echo "${word#*=}"
			return
		fi
	done
	echo 0
}

expect() { # answer command...
	local want=$1
	shift
	ask "$@"
	[ "$REPLY" = "$want" ] || fail "$*: got $REPLY, expected $want"
}

placed() { # nodes pages [seconds]
	ask wait "$1" "$2" "${3:-$LIMIT}"
	[ "${REPLY%% *}" = ok ] || fail "$2 pages expected on node $1: $REPLY"
}

# Pages that workers accessed arrived whole, and pghot brought them.
promoted() { # pages
	ask stop
	expect 0 check
	wait_until grown pgpromote_success "$1" ||
		fail "pgpromote_success grew by $(grew pgpromote_success)"
	wait_until grown pghot_promoted_pages "$1" ||
		fail "pghot_promoted_pages grew by $(grew pghot_promoted_pages)"
	conserved
}

# Memory of the lower tier that is accessed arrives in the top tier, all of it.
arrives() { # hotmem's arguments
	remember
	memory "$@"
	ask run
	placed "$TOPLIST" "$PAGES"
	promoted "$PAGES"
}

# Huge pages arrive in one piece, and were moved as one record each.
arrives_huge() {
	local huge=$((PAGES / 512)) arrived
	grep -q '\[madvise\]\|\[always\]' /sys/kernel/mm/transparent_hugepage/enabled ||
		skip "no transparent huge pages"
	memory thp "$MB" "$SLOW"
	expect "$PAGES" huge
	remember
	ask run
	placed "$TOPLIST" "$PAGES"
	promoted "$PAGES"
	expect "$PAGES" huge
	arrived=$(grew thp_migration_success)
	((arrived >= huge)) || fail "$arrived of $huge huge pages migrated whole"
	(($(grew pghot_moved) < huge + 64)) ||
		fail "$huge huge pages took $(grew pghot_moved) records"
}

# Huge pages of 64 KiB, and no larger ones.
only_64kib() {
	local sizes=/sys/kernel/mm/transparent_hugepage
	[ -e $sizes/hugepages-64kB/enabled ] || skip "no 64 KiB folios"
	knob $sizes/hugepages-64kB/enabled madvise
	knob $sizes/hugepages-2048kB/enabled never
}

untouched() { # counter...
	local name
	for name in "$@"; do
		[ "$(grew "$name")" = 0 ] || fail "$name grew by $(grew "$name")"
	done
}

# Every record there can be is ready and held back; the workers sleep. The rate
# limit is the valve: `echo 65536 >$RATE` opens it.
hold_ready() { # records
	knob $RATE 0
	knob $PGHOT/window_ms 60000
	remember
	ask run
	wait_until ready_at_least "$1" ||
		fail "only $(ready_now) of $1 records became ready"
	ask stop
}

# Nothing becomes free by itself afterwards: neither page cache of earlier tests, which
# kswapd would reclaim, nor thousands of pages that CPUs keep in lists of their own.
hog() { # nodes
	local line status
	knob /proc/sys/vm/percpu_pagelist_high_fraction 1000000
	refresh
	sync
	echo 3 >/proc/sys/vm/drop_caches || fail "cannot drop the page cache"
	exec {HOG_FD}< <(exec "$HERE/hog" "$@" 2>&1)
	HOG=$!
	CHILDREN+=("$HOG")
	read -r -t "$LIMIT" -u "$HOG_FD" line
	status=$?
	[ "$status" -le 128 ] || fail "hog does not fill node $* in $LIMIT seconds"
	if [ "$status" -ne 0 ]; then
		wait "$HOG"
		fail "hog $* ends with status $? and says nothing"
	fi
	[ "$line" = full ] || fail "hog: $line"
}

# Give back what hog took, all of it: a node may be quicker at that than another.
release() {
	kill -KILL "$HOG"
	wait "$HOG"
} 2>/dev/null

# Leave no CPU idle, nor the one that kmigrated runs on to it alone.
hog_cpus() {
	local i
	for ((i = 0; i < 2 * $(nproc); i++)); do
		while :; do :; done &
		CHILDREN+=("$!")
	done
}

# --- running ---------------------------------------------------------------

run_tests() {
	local script=$0 tests=("$@") test number=0 status reason failed=0
	if [ $# = 0 ]; then
		mapfile -t tests < <(sed -n 's/^test_\([a-z0-9_]*\)().*/\1/p' "$script")
	fi
	exec {SKIP_FD}<> <(:)
	echo "TAP version 13"
	echo "1..${#tests[@]}"
	for test in "${tests[@]}"; do
		((number++))
		while read -r -t 0 -u "$SKIP_FD"; do
			read -r -u "$SKIP_FD"
		done
		(
			trap undo EXIT
			trap 'exit 1' INT TERM
			declare -F "test_$test" >/dev/null || fail "no such test"
			"test_$test"
			exit 0
		)
		status=$?
		case $status in
		0) echo "ok $number $test" ;;
		4)
			read -r -t 1 -u "$SKIP_FD" reason
			echo "ok $number $test # SKIP $reason"
			;;
		*)
			echo "not ok $number $test"
			failed=1
			;;
		esac
	done
	exit $failed
}
