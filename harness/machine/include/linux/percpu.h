/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_PERCPU_H
#define _MACHINE_LINUX_PERCPU_H

#include <linux/slab.h>

/* One CPU. */
#define DECLARE_PER_CPU(type, name)	extern type name
#define DEFINE_PER_CPU(type, name)	type name
#define this_cpu_ptr(p)			(p)
#define per_cpu_ptr(p, cpu)		((void)(cpu), (p))
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < 1; (cpu)++)
#define alloc_percpu(type)		((type *)kvzalloc(sizeof(type), GFP_KERNEL))
#define free_percpu(p)			kvfree(p)
#define this_cpu_add(lvalue, n)		((void)((lvalue) += (n)))

#endif
