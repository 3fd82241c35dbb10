/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_COMPACTION_H
#define _MACHINE_LINUX_COMPACTION_H

#include <linux/mmzone.h>

/* As in the kernel it wants twice what it is to make in one piece, to have somewhere to copy to. */
static inline unsigned long compact_gap(unsigned int order)
{
	return 2UL << order;
}

static inline void wakeup_kcompactd(pg_data_t *pgdat, int order, int highest_zoneidx)
{
	pgdat->node_zones[0].kcompactd_woken++;
}

#endif
