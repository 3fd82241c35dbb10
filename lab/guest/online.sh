# SPDX-License-Identifier: GPL-2.0
# Sourced in the guest: brings hotplugged memory online, as udev's or daxctl's
# rules do on a server. Not at boot by memhp_default_state=: the kernel finds
# the devices before it reads HMAT, and puts a node that is online by then into
# the DRAM tier for good.
online_memory() {
	local block
	for block in /sys/devices/system/memory/memory*; do
		if [[ $(<"$block/state") == offline ]]; then
			echo online_movable >"$block/state" || return
		fi
	done
}
