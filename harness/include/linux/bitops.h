/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_BITOPS_H
#define _HARNESS_LINUX_BITOPS_H

#include <linux/atomic.h>
#include <linux/bits.h>

static inline void set_bit(unsigned long nr, unsigned long *addr)
{
	__atomic_fetch_or(addr + BIT_WORD(nr), BIT_MASK(nr), __ATOMIC_RELAXED);
}

static inline void clear_bit(unsigned long nr, unsigned long *addr)
{
	__atomic_fetch_and(addr + BIT_WORD(nr), ~BIT_MASK(nr),
			   __ATOMIC_RELAXED);
}

/* For who has the bits to himself. */
static inline void __set_bit(unsigned long nr, unsigned long *addr)
{
	addr[BIT_WORD(nr)] |= BIT_MASK(nr);
}

static inline bool test_bit(unsigned long nr, const unsigned long *addr)
{
	return READ_ONCE(addr[BIT_WORD(nr)]) & BIT_MASK(nr);
}

static inline unsigned long find_next_bit(const unsigned long *addr,
					  unsigned long size,
					  unsigned long offset)
{
	unsigned long word, i;

	if (offset >= size)
		return size;
	i = BIT_WORD(offset);
	word = READ_ONCE(addr[i]) & (~0UL << offset % BITS_PER_LONG);
	while (!word) {
		if (++i >= BITS_TO_LONGS(size))
			return size;
		word = READ_ONCE(addr[i]);
	}
	offset = i * BITS_PER_LONG + (unsigned long)__builtin_ctzl(word);
	return offset < size ? offset : size;
}

static inline unsigned long find_next_or_bit(const unsigned long *addr1,
					     const unsigned long *addr2,
					     unsigned long size,
					     unsigned long offset)
{
	size = find_next_bit(addr1, size, offset);
	return find_next_bit(addr2, size, offset);
}

#endif
