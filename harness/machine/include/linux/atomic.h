/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_ATOMIC_H
#define _MACHINE_LINUX_ATOMIC_H

#include_next <linux/atomic.h>

/* Another thread may come between at each barrier too; see <linux/smp.h>. */
extern void (*machine_meanwhile)(void);

#undef smp_mb
#define smp_mb() ({							\
	if (machine_meanwhile)						\
		machine_meanwhile();					\
	__atomic_thread_fence(__ATOMIC_SEQ_CST); })

#endif
