# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by tests of pghot, after lib.sh: which LRU there is, and what it takes for active.

MULTI_GEN=/sys/kernel/mm/lru_gen/enabled

# One of both LRUs, for the rest of the test.
multi_gen() {
	[ -w $MULTI_GEN ] || skip "no multi-gen LRU"
	knob $MULTI_GEN 1
}

classic() {
	[ ! -w $MULTI_GEN ] || knob $MULTI_GEN 0
}

# Pages of node FAST on the active list, or in generations that count as such.
active() { # anon|file
	local line
	refresh
	while read -r line; do
		case $line in
		*"Active($1):"*)
			line=${line%kB*}
			echo $((${line##*:} / 4))
			return
			;;
		esac
	done <"$NODES/node$FAST/meminfo"
	return 1
}
