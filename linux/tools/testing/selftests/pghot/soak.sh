#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All sources at once, and everything that can happen to memory meanwhile, for
# PGHOT_TEST_SOAK seconds: pages keep their contents, and each record is accounted for.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/blocks.sh"

SOAK=${PGHOT_TEST_SOAK:-30}
DISK=${PGHOT_TEST_DIR:-/var/tmp}
THP=/sys/kernel/mm/transparent_hugepage
DEMOTION=/sys/kernel/mm/numa/demotion_enabled
SPLIT=/sys/kernel/debug/split_huge_pages

# --- who accesses memory -----------------------------------------------------

HOLDERS=()

# Another one of those that access memory until the end. One of anonymous memory is in
# a cgroup of its own.
hold() { # name program its arguments
	local name=$1
	shift
	# Of several coprocesses at once bash only says that there are.
	start "$@" 2>/dev/null
	HOLDERS+=("$name $TO $FROM")
	ask run
}

# Have the next command go to a holder. Sets NAME.
turn_to() { # holder
	read -r NAME TO FROM <<<"$1"
}

intact() { # holder
	turn_to "$1"
	expect 0 check
}

# Somebody has pages in the lower tier again, or changes them.
trouble() { # holder
	turn_to "$1"
	case $NAME in
	reads) ;;
	*) ask "$(pick "move $SLOW" "move $FAST" write)" ;;
	esac
}

pick() {
	shift $((RANDOM % $#))
	echo "$1"
}

# --- what happens meanwhile --------------------------------------------------

# Each goes on in a shell of its own until all are told to end, and writes to DONE what
# it got done.
meanwhile() { # function
	(
		trap - EXIT INT TERM
		while [ -e "$GO" ]; do
			"$1" || exit 1
		done
	) &
	BUSY+=("$!")
}

did() { echo "$*" >>"$DONE"; }

# A block that cannot go just now is tried again another time. Nothing is promoted
# meanwhile: memory hotplug complains of what others isolate.
blocks_go() {
	local block
	# All but one, so that there is somewhere to go.
	block=$(pick "${BLOCKS[@]:1}")
	echo 0 >$PGHOT/enabled
	if timeout $((5 * SLOWER)) bash -c "echo offline >$MEMORY/$block/state" 2>/dev/null; then
		did block went offline
	fi
	sleep 0.2
	online "$block"
	echo 1 >$PGHOT/enabled
	sleep 1
}

# Memory of a group is reclaimed, also to swap, and the group goes with its pages.
groups_go() {
	local goes=/sys/fs/cgroup/pghot-test.$$.goes said
	mkdir "$goes" || return 1
	said=$(
		echo "$BASHPID" >"$goes/cgroup.procs"
		{
			echo run
			sleep 0.3
			echo "2M swappiness=200" >"$goes/memory.reclaim" 2>/dev/null
			sleep 0.3
			echo stop
			echo check
		} | "$HERE/hotmem" anon 4 "$SLOW" | tail -n 1
	)
	until rmdir "$goes" 2>/dev/null; do sleep 0.1; done
	did cgroup went
	[ "$said" = 0 ]
}

# What is hot goes to swap, and is back with its next access.
pages_go_to_swap() {
	echo "4M swappiness=200" >"$GROUP/memory.reclaim" 2>/dev/null
	did pages went to swap
	sleep 0.5
}

# Processes that share pages are made and end, half of them in the midst of it.
processes_go() {
	local i
	{
		echo run
		sleep "$(pick 0.4 1)"
	} | timeout -s KILL 0.7 "$HERE/hotmem" -p -c "$CPU" shmem 2 "$SLOW" >/dev/null
	for ((i = 0; i < 20; i++)); do
		/bin/true || return 1
	done
	did processes went
}

huge_pages_are_split() {
	echo 1 >$SPLIT
	did huge pages were split
	sleep 1
}

memory_is_compacted() {
	echo 1 >/proc/sys/vm/compact_memory
	echo 1 >/proc/sys/vm/drop_caches
	did memory was compacted
	sleep 1
}

# A choice of settings that may change at any time.
settings_change() {
	local source
	source=$(pick "$PGHOT"/sources/[!h]*/enabled "$PGHOT"/sources/ho*/enabled \
		"$PGHOT"/sources/hi*/enabled)
	pick 0 2 3 >$BALANCING
	echo 0 >"$source"
	pick 1 16 65536 >$RATE
	pick 500 1000 4000 >$PGHOT/window_ms
	pick 1 64 512 >$PGHOT/batch_pages
	pick 0 1 >$PGHOT/backoff
	sleep 0.3
	echo 1 >"$source"
	echo 2 >$BALANCING
	echo 65536 >$RATE
	did settings changed
	sleep 1
}

# --- all of it ---------------------------------------------------------------

sources_on() {
	local file
	for file in "$PGHOT"/sources/*/enabled; do
		# Few processors have what that needs.
		[ "${file%/hw_sample/enabled}" = "$file" ] || continue
		knob "$file" 1
	done
	[ ! -e $SCAN ] || knob $SCAN/cpu_permille 200
}

swap_on() {
	local file=$DISK/swap.$$
	dd if=/dev/zero of="$file" bs=1M count=32 status=none &&
		chmod 600 "$file" && mkswap -q "$file" >/dev/null && swapon "$file" ||
		skip "cannot swap to $file"
	finally "swapoff $file; rm -f $file"
}

huge_pages_on() {
	[ -w $SPLIT ] || skip "no $SPLIT"
	knob $THP/khugepaged/scan_sleep_millisecs 200
	knob $THP/khugepaged/alloc_sleep_millisecs 200
}

done_so_far() {
	sort "$DONE" | uniq -c | while read -r number what; do
		echo -n "$what $number times, "
	done
	echo "$(grew pghot_promoted_pages) pages promoted"
}

# Once a minute.
report_progress() { # seconds
	[ "$REPORTED" != $(($1 / 60)) ] || return
	REPORTED=$(($1 / 60))
	say "$1 of $SOAK s: $(done_so_far)"
}

a_block_went() { grep -q "block went" "$DONE"; }

# On a slow machine longer than asked for, for the rarest to happen once.
goes_on() { # seconds
	(($1 < SOAK)) || { ! a_block_went && (($1 < SOAK + LIMIT)); }
}

# So much must have happened, or this was no test of it.
happened() {
	local name
	for name in "$@"; do
		say "$name: $(grew "$name")"
		grown "$name" 1 || fail "$name did not grow"
	done
}

test_contents_and_records_last() {
	local began file holder pid what
	need_blocks
	need_page_cache "$DISK"
	for file in enabled window_ms batch_pages backoff promote_rate_limit_MBps; do
		knob "$PGHOT/$file" "$(<"$PGHOT/$file")"
	done
	balance 2
	sources_on
	knob $DEMOTION 1
	swap_on
	huge_pages_on
	cgroup swaps memory
	remember

	IN=$GROUP hold swaps hotmem anon "$MB" "$SLOW"
	hold huge hotmem thp "$MB" "$SLOW"
	hold shared hotmem shmem "$MB" "$SLOW"
	hold maps hotmem "file:$DISK/soak.$$.maps" 4 "$SLOW"
	hold reads hotfile -w 64 "$DISK/soak.$$.reads" 4 "$SLOW"

	BUSY=()
	REPORTED=0
	GO=$(mktemp) && DONE=$(mktemp) || fail "no temporary file"
	finally "rm -f $GO $DONE"
	for what in blocks_go groups_go pages_go_to_swap processes_go huge_pages_are_split \
		memory_is_compacted settings_change; do
		meanwhile $what
	done
	CHILDREN+=("${BUSY[@]}")
	began=$SECONDS
	while goes_on $((SECONDS - began)); do
		trouble "$(pick "${HOLDERS[@]}")"
		intact "$(pick "${HOLDERS[@]}")"
		report_progress $((SECONDS - began))
		sleep 0.2
	done
	rm -f "$GO"
	for pid in "${BUSY[@]}"; do
		wait "$pid" || fail "one of those that disturb failed after $(done_so_far)"
	done
	say "$(done_so_far)"
	a_block_went || fail "no block went offline"

	for holder in "${HOLDERS[@]}"; do
		turn_to "$holder"
		ask stop
		expect 0 check
	done
	conserved
	happened pghot_promoted_pages pgdemote_proactive pswpin pswpout thp_split_page \
		pghot_recorded_hint_fault pghot_recorded_page_table pghot_recorded_page_cache
}

run_tests "$@"
