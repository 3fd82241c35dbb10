# SPDX-License-Identifier: GPL-2.0
# Hint faults as the only source of pghot: the others are off before any starts.
for source in page_table page_cache; do
	echo 0 >/sys/kernel/mm/pghot/sources/$source/enabled
done
