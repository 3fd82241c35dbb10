/* SPDX-License-Identifier: GPL-2.0 */
/* Which CPUs are not sampled, nor interrupted to flush all of a TLB. */
#ifndef _MM_PGHOT_SOURCE_ISOLATED_H
#define _MM_PGHOT_SOURCE_ISOLATED_H

#include <linux/cleanup.h>
#include <linux/rcupdate.h>
#include <linux/sched/isolation.h>
#include <linux/types.h>

/**
 * pghot_cpu_is_isolated - has somebody a CPU to himself
 * @cpu: the CPU
 *
 * By isolcpus=, a cpuset or nohz_full=. RCU keeps the masks, which change with cpusets.
 *
 * Context: any but NMI.
 *
 * Return: true if so; then it is not to be interrupted.
 */
static inline bool pghot_cpu_is_isolated(unsigned int cpu)
{
	guard(rcu)();
	return cpu_is_isolated(cpu) || !housekeeping_cpu(cpu, HK_TYPE_KERNEL_NOISE);
}

#endif /* _MM_PGHOT_SOURCE_ISOLATED_H */
