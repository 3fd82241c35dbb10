#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The first process of a measured guest: sets the machine up, runs the workload,
# tells the host how it went on the second serial port, and powers off. busybox sh.
#
# /setup.sh and /workload.sh come from the run's description.

export PATH=/bin:/sbin HOME=/ LC_ALL=C
/bin/busybox --install -s /bin 2>/dev/null
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs tmp /run
mount -t tmpfs tmp /dev/shm
mount -t debugfs debug /sys/kernel/debug
mkdir -p /run/lab

stty -F /dev/ttyS1 raw -echo 2>/dev/null
exec 3>/dev/ttyS1

# Each section is a line "@@name" and what follows it.
section() { echo "@@$1" >&3; }

finish() {
	section end
	# Closing waits until all is sent only where no other process has the port open, as a
	# server that the set-up began. Setting the port waits in any case.
	stty -F /dev/ttyS1 raw -echo
	exec 3>&-
	poweroff -f
}

problem() {
	section problem
	echo "$*" >&3
	finish
}

for block in /sys/devices/system/memory/memory*; do
	read -r state <"$block/state"
	if [ "$state" = offline ]; then
		echo online_movable >"$block/state" || problem "cannot bring $block online"
	fi
done

section blocks
for node in /sys/devices/system/node/node*; do
	for block in "$node"/memory*; do
		[ -e "$block" ] && echo "${node##*node} ${block##*memory}" >&3
	done
done

# The kernel takes about a second to trust the TSC for good.
tries=50
while
	read -r source </sys/devices/system/clocksource/clocksource0/current_clocksource
	[ "$source" != tsc ]
do
	tries=$((tries - 1))
	[ $tries -gt 0 ] || problem "the guest's clock source is $source, not tsc"
	usleep 100000
done

sh -e /setup.sh >/run/setup.out 2>&1 ||
	problem "set-up failed: $(tail -n 1 /run/setup.out)"

sh /workload.sh >/run/out 2>/run/err
status=$?

# What kept other CPUs busy looks every few ms whether the measured part has ended.
if [ -e /run/hog ] && [ -e /run/lab/vmstat.end ]; then
	tries=100
	while [ ! -s /run/hog ] && [ $tries -gt 0 ]; do
		tries=$((tries - 1))
		usleep 10000
	done
fi

section status
echo $status >&3
for name in out err hog lab/vmstat.begin lab/vmstat.end; do
	[ -e /run/$name ] || continue
	section "${name##*/}"
	cat /run/$name >&3
done
finish
