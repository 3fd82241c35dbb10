#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kswapd keeps free memory for promotion where pages are promoted, and only there.

. "$(dirname "$0")/lib.sh"

DEMOTION=/sys/kernel/mm/numa/demotion_enabled
WATERMARK_SCALE=/proc/sys/vm/watermark_scale_factor

# Pages of node FAST: free ones, or up to a watermark of all its zones.
pages_of_fast() { # free|low|high|promo
	local a b c d mine=0 free=0 low=0 high=0 promo=0
	while read -r a b c d; do
		case "$a $b" in
		"Node "*) mine=$((${b%,} == FAST)) ;;
		"pages free") ((free += mine * c)) ;;
		"low "* | "high "* | "promo "*) (($a += mine * b)) ;;
		esac
	done </proc/zoneinfo
	echo "${!1}"
}

# Have kswapd make room on node FAST, and see where it stops. What begins the work
# takes little, for it may go on taking while kswapd is done already; marks far
# apart leave no doubt which one it was.
reclaimed_to() { # high|promo
	local free low high promo
	knob $DEMOTION 1
	knob $WATERMARK_SCALE 500
	memory -c "$CPU" anon \
		$((($(pages_of_fast free) - $(pages_of_fast low)) / 256)) "$FAST"
	wait_until begun || fail "kswapd does not begin"
	wait_until quiet || fail "kswapd goes on and on"
	free=$(pages_of_fast free)
	low=$(pages_of_fast low)
	high=$(pages_of_fast high)
	promo=$(pages_of_fast promo)
	say "$free pages free, high watermark $high, promotion watermark $promo"
	if [ "$1" = promo ]; then
		((free >= (high + promo) / 2)) || fail "no headroom for promotion"
	else
		((free >= (low + high) / 2 && free < (high + promo) / 2)) ||
			fail "not to the high watermark"
	fi
}

begun() {
	if grown pgdemote_kswapd 1; then
		return 0
	fi
	memory -c "$CPU" anon 2 "$FAST"
	return 1
}

# It has worked, and does no more.
quiet() {
	local demoted
	demoted=$(grew pgdemote_kswapd)
	((demoted > 0)) || return 1
	sleep "$SLOWER"
	[ "$(grew pgdemote_kswapd)" = "$demoted" ]
}

test_for_tiering() {
	need_pghot
	knob $BALANCING 2
	remember
	reclaimed_to promo
}

# It works without NUMA balancing.
test_for_the_page_cache() {
	need_pghot
	knob $BALANCING 0
	knob $PGHOT/sources/page_cache/enabled 1
	remember
	reclaimed_to promo
}

# Hint faults need NUMA balancing: without it nothing is promoted.
test_not_for_hint_faults_alone() {
	need_pghot
	knob $BALANCING 0
	remember
	reclaimed_to high
}

# Page tables do not.
test_for_page_tables() {
	need_scan 1
	remember
	reclaimed_to promo
}

run_tests "$@"
