# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by lib.sh: which nodes are in which tier.

# "0-1,4" -> "0 1 4"
expand() {
	local part i
	for part in ${1//,/ }; do
		for ((i = ${part%-*}; i <= ${part#*-}; i++)); do
			echo -n "$i "
		done
	done
}

# Sets TOP and LOWER (arrays of nodes), by the memory tiers.
find_tiers() {
	local tiers=() tier more
	TOP=()
	LOWER=()
	for tier in /sys/devices/virtual/memory_tiering/memory_tier*; do
		[ -e "$tier/nodelist" ] || continue
		tiers[${tier##*memory_tier}]=$tier
	done
	# By their numbers.
	for tier in "${tiers[@]}"; do
		if [ ${#TOP[@]} = 0 ]; then
			read -ra TOP <<<"$(expand "$(<"$tier/nodelist")")"
		else
			read -ra more <<<"$(expand "$(<"$tier/nodelist")")"
			LOWER+=("${more[@]}")
		fi
	done
}

# The first CPU of a node.
cpu_of() {
	local list
	list=$(expand "$(<"$NODES/node$1/cpulist")")
	echo "${list%% *}"
}

need_tiers() {
	[ "$EUID" = 0 ] || skip "needs root"
	[ -w $BALANCING ] || skip "no NUMA balancing"
	find_tiers
	[ ${#LOWER[@]} -gt 0 ] || skip "no lower memory tier"
	SLOW=${LOWER[0]}
	FAST=${TOP[0]}
	TOPLIST=$(IFS=,; echo "${TOP[*]}")
	CPU=$(cpu_of "$FAST")
	[ -n "$CPU" ] || skip "node $FAST has no CPU"
}
