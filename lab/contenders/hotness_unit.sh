# SPDX-License-Identifier: GPL-2.0
# Hotness monitoring units as a source of pghot. They start with the measured part. An
# epoch is shorter by what the experiment's scale says, down to a tick.
units=/sys/kernel/mm/pghot/sources/hotness_unit
epoch=$(($(cat "$units/epoch_ms") / ${scale_time:-1}))
[ "$epoch" -ge 4 ] || epoch=4
echo "$epoch" >"$units/epoch_ms"
echo "$units/enabled 1" >>/run/lab/settings
