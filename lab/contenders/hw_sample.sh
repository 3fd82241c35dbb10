# SPDX-License-Identifier: GPL-2.0
# Samples of the CPUs as a source of pghot. They start with the measured part. Their budget is
# not scaled: docs/bench.md says why.
echo "/sys/kernel/mm/pghot/sources/hw_sample/enabled 1" >>/run/lab/settings
