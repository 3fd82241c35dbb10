/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_TYPES_H
#define _HARNESS_LINUX_TYPES_H

/* System headers include this file too and must find what they expect. */
#include_next <linux/types.h>

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <linux/compiler.h>
#include <linux/list.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

typedef struct {
	long counter;
} atomic_long_t;

#endif
