/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers that are the same each time, for workloads and for tests of the model. */
#ifndef MEMSIM_XORSHIFT_H
#define MEMSIM_XORSHIFT_H

#include <stdint.h>

/*
 * xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators,
 * scrambled" (2016). @x is the state, and never zero.
 */
static inline uint64_t xorshift_next(uint64_t *x)
{
	*x ^= *x >> 12;
	*x ^= *x << 25;
	*x ^= *x >> 27;
	return *x * 0x2545f4914f6cdd1dULL;
}

#endif
