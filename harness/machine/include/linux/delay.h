/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_DELAY_H
#define _MACHINE_LINUX_DELAY_H

#include <linux/kthread.h>

#endif
