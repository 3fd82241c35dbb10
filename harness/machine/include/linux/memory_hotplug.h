/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_MEMORY_HOTPLUG_H
#define _MACHINE_LINUX_MEMORY_HOTPLUG_H

#include <linux/mm.h>

void get_online_mems(void);
void put_online_mems(void);

#endif
