# SPDX-License-Identifier: GPL-2.0
# The page cache as a source of pghot. It starts with the measured part.
echo "/sys/kernel/mm/pghot/sources/page_cache/enabled 1" >>/run/lab/settings
