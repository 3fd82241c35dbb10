/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_MEMCONTROL_H
#define _MACHINE_LINUX_MEMCONTROL_H

#include <linux/mm.h>

struct mem_cgroup {
	nodemask_t allowed;
};

#define get_mem_cgroup_from_folio(folio) ((folio)->memcg)
#define mem_cgroup_put(memcg)	do { } while (0)
#define mem_cgroup_id(memcg)	((unsigned long)(memcg))
#define mem_cgroup_disabled()	false

static inline void mem_cgroup_node_filter_allowed(struct mem_cgroup *memcg,
						  nodemask_t *mask)
{
	if (memcg)
		nodes_and(*mask, *mask, memcg->allowed);
}

#endif
