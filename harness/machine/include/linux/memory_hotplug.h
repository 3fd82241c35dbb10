/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_MEMORY_HOTPLUG_H
#define _MACHINE_LINUX_MEMORY_HOTPLUG_H

#include <linux/mm.h>

/* How often memory hotplug is held off just now. */
extern int machine_hotplug_off;

#define get_online_mems()	((void)machine_hotplug_off++)
#define put_online_mems()	((void)machine_hotplug_off--)

#endif
