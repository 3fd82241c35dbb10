# SPDX-License-Identifier: GPL-2.0
# Page tables as a source of pghot. It starts with the measured part.
echo "/sys/kernel/mm/pghot/sources/page_table/enabled 1" >>/run/lab/settings
