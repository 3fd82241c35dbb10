/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_JUMP_LABEL_H
#define _MACHINE_LINUX_JUMP_LABEL_H

/* Counts those who want it on. */
#define DECLARE_STATIC_KEY_FALSE(name)	extern int name
#define DEFINE_STATIC_KEY_FALSE(name)	int name
#define static_branch_unlikely(key)	(*(key))
#define static_branch_enable(key)	((void)(*(key) = 1))
#define static_branch_disable(key)	((void)(*(key) = 0))
#define static_branch_inc(key)		((void)++*(key))
#define static_branch_dec(key)		((void)--*(key))

#endif
