/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_TOPOLOGY_H
#define _HARNESS_LINUX_TOPOLOGY_H

#include <linux/smp.h>

/* As with two sockets. */
static inline int numa_node_id(void)
{
	return raw_smp_processor_id() % 2;
}

#endif
