/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_SCHED_H
#define _MACHINE_LINUX_SCHED_H

#include <linux/kthread.h>

#define PF_KTHREAD		0x00200000

#define set_user_nice(task, nice)	do { } while (0)

#endif
