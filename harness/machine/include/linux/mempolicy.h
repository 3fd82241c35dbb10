/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_MEMPOLICY_H
#define _MACHINE_LINUX_MEMPOLICY_H

#include <linux/mm.h>

enum { MPOL_PREFERRED = 1, MPOL_BIND, MPOL_PREFERRED_MANY = 5 };

#define MPOL_F_MORON		BIT(4)

struct mempolicy {
	unsigned short mode, flags;
	nodemask_t nodes;
};

/* The accessing thread's; it leaves the choice to the kernel, or names nodes. */
extern struct mempolicy machine_task_policy;

#define __get_vma_policy(vma, addr, ilx) ((void)(addr), (void)(ilx), (vma)->vm_policy)
#define get_task_policy(task)	(&machine_task_policy)
#define mpol_cond_put(pol)	do { } while (0)

#endif
