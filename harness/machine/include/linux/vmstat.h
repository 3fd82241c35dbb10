/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_VMSTAT_H
#define _MACHINE_LINUX_VMSTAT_H

#include <linux/mmzone.h>

#define node_page_state(pgdat, item)	((pgdat)->stat[item])
#define node_page_state_monotonic(pgdat, item)	node_page_state(pgdat, item)
#define mod_node_page_state(pgdat, item, delta) \
	((void)((pgdat)->stat[item] += (delta)))

static inline unsigned long global_node_page_state_monotonic(enum node_stat_item item)
{
	unsigned long sum = 0;
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++)
		sum += node_page_state(NODE_DATA(nid), item);
	return sum;
}

#endif
