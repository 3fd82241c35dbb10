/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_SCHED_H
#define _MACHINE_LINUX_SCHED_H

#include <linux/kthread.h>

#define set_user_nice(task, nice)	do { } while (0)

#endif
