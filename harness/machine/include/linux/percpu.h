/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_PERCPU_H
#define _MACHINE_LINUX_PERCPU_H

/* One CPU. */
#define DECLARE_PER_CPU(type, name)	extern type name
#define DEFINE_PER_CPU(type, name)	type name
#define this_cpu_add(lvalue, n)		((void)((lvalue) += (n)))

#endif
