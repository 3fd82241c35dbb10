/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_INIT_H
#define _MACHINE_LINUX_INIT_H

#define __init
#define __initdata

/* Whoever boots calls it. */
#define late_initcall(fn)						\
int machine_##fn(void);							\
int machine_##fn(void)							\
{									\
	return fn();							\
}
#define late_initcall_sync(fn)	late_initcall(fn)
#define __setup(name, fn)	int (*const machine_##fn)(char *s) = fn

#endif
