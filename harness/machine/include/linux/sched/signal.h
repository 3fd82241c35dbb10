/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_SCHED_SIGNAL_H
#define _MACHINE_LINUX_SCHED_SIGNAL_H

#define fatal_signal_pending(task) false

#endif
