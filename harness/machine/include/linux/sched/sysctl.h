/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_SCHED_SYSCTL_H
#define _MACHINE_LINUX_SCHED_SYSCTL_H

extern unsigned int sysctl_numa_balancing_scan_period_max;
extern unsigned int sysctl_numa_balancing_hot_threshold;
extern unsigned int sysctl_numa_balancing_promote_rate_limit;

#endif
