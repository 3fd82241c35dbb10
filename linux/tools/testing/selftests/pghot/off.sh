#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pghot=off, or a kernel without it: nothing to be seen, and the kernel promotes
# as it always did.

. "$(dirname "$0")/lib.sh"

need_no_pghot() {
	[ ! -d $PGHOT ] || skip "pghot is on"
	need_tiers
}

test_shows_nothing() {
	local comm name
	need_no_pghot
	[ ! -e /sys/kernel/debug/pghot ] || fail "there is /sys/kernel/debug/pghot"
	for comm in /proc/[0-9]*/comm; do
		read -r name 2>/dev/null <"$comm" || continue
		case $name in
		kmigrated*) fail "there is a thread $name" ;;
		esac
	done
	while read -r name _; do
		case $name in
		pghot_*) fail "there is a counter $name" ;;
		esac
	done </proc/vmstat
	if [ -e /sys/fs/cgroup/memory.stat ]; then
		while read -r name _; do
			case $name in
			pghot_*) fail "memory.stat has $name" ;;
			esac
		done </sys/fs/cgroup/memory.stat
	fi
}

test_fault_promotes() {
	need_no_pghot
	balance 2
	remember
	memory -c "$CPU" anon "$MB" "$SLOW"
	ask run
	placed "$FAST" "$PAGES"
	ask stop
	expect 0 check
	wait_until grown pgpromote_success "$PAGES" ||
		fail "pgpromote_success grew by $(grew pgpromote_success)"
}

run_tests "$@"
