/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_BITMAP_H
#define _HARNESS_LINUX_BITMAP_H

#include <string.h>

#include <linux/bitops.h>
#include <linux/bits.h>

#define DECLARE_BITMAP(name, bits) unsigned long name[BITS_TO_LONGS(bits)]

static inline bool bitmap_empty(const unsigned long *src, unsigned int nbits)
{
	return find_next_bit(src, nbits, 0) >= nbits;
}

static inline void bitmap_zero(unsigned long *dst, unsigned int nbits)
{
	memset(dst, 0, BITS_TO_LONGS(nbits) * sizeof(*dst));
}

#endif
