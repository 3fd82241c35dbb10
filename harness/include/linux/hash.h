/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_HASH_H
#define _HARNESS_LINUX_HASH_H

#include <linux/types.h>

#define GOLDEN_RATIO_64	0x61C8864680B583EBull

static inline u32 hash_64(u64 val, unsigned int bits)
{
	return val * GOLDEN_RATIO_64 >> (64 - bits);
}

static inline u32 hash_32(u32 val, unsigned int bits)
{
	return val * 0x61C88647u >> (32 - bits);
}

static inline u32 hash_long(unsigned long val, unsigned int bits)
{
	return hash_64(val, bits);
}

#endif
