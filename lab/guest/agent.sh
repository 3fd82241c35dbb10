#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest as root for lab.guest: takes the numbers of commands from a
# virtio port, runs each, and says how it ended. The ports are looked up in
# sysfs, since /dev/virtio-ports exists only where udev runs.
#
#   agent.sh NONCE DIRECTORY
#
# DIRECTORY is shared with the host. Command N is DIRECTORY/.lab/N.sh. A mark,
# \001 (not in the kernel log), NONCE and N, ends the command's part of stdout, stderr and kernel log.

nonce=$1
share=$2
here=${BASH_SOURCE[0]%/*}

. "$here/online.sh"

port() {
	local name
	for name in /sys/class/virtio-ports/*/name; do
		if [[ $(<"$name") == "$1" ]]; then
			name=${name%/name}
			echo "/dev/${name##*/}"
			return
		fi
	done
	echo "agent: no virtio port $1" >&2
	exit 1
}

finish() { # number status
	printf '\001%s %s\n' "$nonce" "$1" >&4
	printf '\001%s %s\n' "$nonce" "$1" >&5
	# Without its newline the kernel would hold the record back.
	printf '<7>lab: %s %s\n' "$nonce" "$1" >/dev/kmsg
	printf 'exit %s %s\n' "$1" "$2" >&3
}

start() { # number
	(
		# Of a killed command, this shell would tell the kernel's console.
		exec 2>/dev/null
		setsid bash "$share/.lab/$1.sh" </dev/null >&4 2>&5 3>&- 6>&- &
		echo $! >/run/lab/pid
		wait $!
		finish "$1" $?
	) &
}

# The host gave up on the command: leave in the kernel log what it waits for.
abort() { # number
	local pid
	pid=$(</run/lab/pid)
	echo w >/proc/sysrq-trigger
	kill -KILL -- "-$pid"
}

# The kernel hands its log to the console by an interrupt that a CPU sends to itself.
say() { # cpu
	taskset -c "$1" printf '<5>lab: %s cpu %s\n' "$nonce" "$1" >/dev/kmsg
}

kernel_log() {
	# cat ends where the log's ring buffer overran it.
	while :; do
		cat /dev/kmsg
	done >&6 2>/dev/null
}

exec 3<>"$(port lab.control)" || exit
exec 4>"$(port lab.stdout)" || exit
exec 5>"$(port lab.stderr)" || exit
exec 6>"$(port lab.kmsg)" || exit

mkdir -p /run/lab/tmp
export HOME=/root LC_ALL=C.UTF-8 TMPDIR=/run/lab/tmp PGHOT_OUT=$share
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

kernel_log 3>&- 4>&- 5>&- &
online_memory || exit

echo "ready $(</sys/devices/system/cpu/online)" >&3
while read -r verb number <&3; do
	case $verb in
	run) start "$number" 6>&- ;;
	say) say "$number" ;;
	abort) abort "$number" 2>/dev/null ;;
	quit) break ;;
	esac
done
# The host is gone, or has all it wanted: virtme-ng's init powers off.
exit 0
