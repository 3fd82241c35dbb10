/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_TOPOLOGY_H
#define _MACHINE_LINUX_TOPOLOGY_H

#include <linux/mm.h>

#define numa_mem_id()	0

/* Of the CPU that a test runs on. */
extern int machine_on_node;
#define numa_node_id()	machine_on_node

#endif
