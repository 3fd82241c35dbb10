# SPDX-License-Identifier: GPL-2.0
# A copy engine of $channels DMA channels, as shipped: the kernel measures which jobs it
# copies at less cost than the CPU. busybox sh.
#
# How long the first folio of a job may wait is as shipped in the machine's time, of which one
# nanosecond is $clock of the guest's.

echo "${channels:?}" >/sys/module/dcbm/parameters/channels

offload=/sys/kernel/mm/migrate_offload
first=$(cat $offload/first_folio_us)
echo $((first * ${clock:-1})) >$offload/first_folio_us

enabled=$(cat $offload/dcbm/enabled)
[ "$enabled" = 1 ] || { echo "dcbm is enabled as $enabled" >&2; false; }
