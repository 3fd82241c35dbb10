/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_CPUSET_H
#define _MACHINE_LINUX_CPUSET_H

#include <linux/nodemask.h>

/* The accessing thread's. */
extern nodemask_t machine_mems_allowed;

#define cpuset_current_mems_allowed machine_mems_allowed

#endif
