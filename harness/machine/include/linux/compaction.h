/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_COMPACTION_H
#define _MACHINE_LINUX_COMPACTION_H

#include <linux/minmax.h>
#include <linux/mmzone.h>

#define COMPACT_CLUSTER_MAX	32UL

static inline unsigned long compact_gap(unsigned int order)
{
	return min(2UL << order, COMPACT_CLUSTER_MAX);
}

static inline void wakeup_kcompactd(pg_data_t *pgdat, int order, int highest_zoneidx)
{
	pgdat->node_zones[0].kcompactd_woken++;
}

#endif
