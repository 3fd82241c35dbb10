/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_SCHED_SYSCTL_H
#define _MACHINE_LINUX_SCHED_SYSCTL_H

#define NUMA_BALANCING_DISABLED		0x0
#define NUMA_BALANCING_NORMAL		0x1
#define NUMA_BALANCING_MEMORY_TIERING	0x2

extern int sysctl_numa_balancing_mode;
extern unsigned int sysctl_numa_balancing_scan_period_max;
extern unsigned int sysctl_numa_balancing_hot_threshold;
extern unsigned int sysctl_numa_balancing_promote_rate_limit;

#endif
