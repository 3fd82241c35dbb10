/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_MEMORY_TIERS_H
#define _MACHINE_LINUX_MEMORY_TIERS_H

#include <linux/kobject.h>
#include <linux/nodemask.h>

/* Which has no directory here, unless a test makes one. */
extern struct kobject *numa_kobj;

bool node_is_toptier(int nid);

#endif
