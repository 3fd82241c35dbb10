/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_LIMITS_H
#define _HARNESS_LINUX_LIMITS_H

/* glibc's <limits.h> includes this file too. */
#include_next <linux/limits.h>

#define U8_MAX			((__u8)~0U)
#define U32_MAX			((__u32)~0U)
#define S32_MAX			((__s32)(U32_MAX >> 1))
#define U64_MAX			((__u64)~0ULL)
#ifndef ULONG_MAX
#define ULONG_MAX		(~0UL)
#endif

#include <linux/types.h>

#endif
