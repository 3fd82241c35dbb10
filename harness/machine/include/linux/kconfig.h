/* SPDX-License-Identifier: GPL-2.0 */
/* As in the kernel, each file sees this first. */
#ifndef _MACHINE_LINUX_KCONFIG_H
#define _MACHINE_LINUX_KCONFIG_H

#include <stdbool.h>

/* As if it was built so. */
extern bool machine_preempt_rt;

/* No option is set that says what to boot with. */
#define MACHINE_CONFIG_PGHOT_BOOT_OFF		0
#define MACHINE_CONFIG_PGHOT_BOOT_PRECISE	0
#define MACHINE_CONFIG_PGHOT_BOOT_DEFAULT	0
#define MACHINE_CONFIG_COMPACTION		1
#define MACHINE_CONFIG_PREEMPT_RT		machine_preempt_rt
#define IS_ENABLED(option)	MACHINE_##option

#endif
