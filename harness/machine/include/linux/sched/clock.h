/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_SCHED_CLOCK_H
#define _MACHINE_LINUX_SCHED_CLOCK_H

#include <linux/jiffies.h>

#define local_clock()	((u64)jiffies_to_msecs(jiffies) * 1000000)

#endif
