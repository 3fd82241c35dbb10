/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_MEMORY_TIERS_H
#define _MACHINE_LINUX_MEMORY_TIERS_H

#include <linux/nodemask.h>

bool node_is_toptier(int nid);

#endif
