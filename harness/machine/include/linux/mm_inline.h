/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_MM_INLINE_H
#define _MACHINE_LINUX_MM_INLINE_H

#include <linux/mm.h>

extern bool machine_lru_gen;

static inline bool lru_gen_enabled(void)
{
	return machine_lru_gen;
}

#endif
