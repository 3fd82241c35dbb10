/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_SCHED_CPUTIME_H
#define _MACHINE_LINUX_SCHED_CPUTIME_H

#include <linux/kthread.h>

/* Nothing takes time here. */
#define task_sched_runtime(task) 0

#endif
