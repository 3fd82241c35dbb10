/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_SCHED_STAT_H
#define _MACHINE_LINUX_SCHED_STAT_H

#include <linux/types.h>

/* Others want the CPU that a thread runs on. */
extern bool machine_crowded;

#define cpu_is_contended()	machine_crowded

#endif
