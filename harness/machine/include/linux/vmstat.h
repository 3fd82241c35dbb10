/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_VMSTAT_H
#define _MACHINE_LINUX_VMSTAT_H

#include <linux/mmzone.h>

#define node_page_state(pgdat, item)	((pgdat)->stat[item])
#define mod_node_page_state(pgdat, item, delta) \
	((void)((pgdat)->stat[item] += (delta)))

#endif
