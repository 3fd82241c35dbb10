/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_JIFFIES_H
#define _MACHINE_LINUX_JIFFIES_H

#include <linux/types.h>

/* A tick is a millisecond. */
extern unsigned long jiffies;

/* As in the kernel: 32 bits of it wrap five minutes after boot. */
#define INITIAL_JIFFIES		((unsigned long)(u32)-300000)

#define MSEC_PER_SEC		1000L
#define jiffies_to_msecs(j)	((u32)(j))
#define msecs_to_jiffies(ms)	((unsigned long)(ms))
#define time_after(a, b)	((long)((b) - (a)) < 0)

#endif
