/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_NODEMASK_H
#define _HARNESS_LINUX_NODEMASK_H

/* Records know numbers of nodes; sets of them there are on the machine only. */
#include <linux/numa.h>

#endif
