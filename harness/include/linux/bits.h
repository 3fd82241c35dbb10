/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_BITS_H
#define _HARNESS_LINUX_BITS_H

#define BITS_PER_BYTE		8
#define BITS_PER_LONG		64
#define BIT(n)			(1UL << (n))
#define BIT_WORD(n)		((n) / BITS_PER_LONG)
#define BIT_MASK(n)		(1UL << ((n) % BITS_PER_LONG))
#define BITS_PER_TYPE(type)	(sizeof(type) * BITS_PER_BYTE)
#define GENMASK_ULL(h, l)	((~0ULL << (l)) & (~0ULL >> (63 - (h))))
#define BITS_TO_LONGS(n)	(((n) + BITS_PER_LONG - 1) / BITS_PER_LONG)

#endif
