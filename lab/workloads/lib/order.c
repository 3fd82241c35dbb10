// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "workload.h"

/* Streams of random numbers that no thread has. */
enum { ORDER = MAX_THREADS, SHIFT };

uint64_t *random_order(uint64_t n)
{
	uint64_t x = random_start(ORDER), *order = calloc(n, sizeof(*order)), i, other;

	if (!order)
		workload_fail("no memory for an order of %lu", n);
	/* Fisher and Yates. */
	for (i = 0; i < n; i++) {
		other = (random_next(&x) >> 20) % (i + 1);
		order[i] = order[other];
		order[other] = i;
	}
	return order;
}

uint64_t random_shift(uint64_t n)
{
	uint64_t x = random_start(SHIFT);

	return (random_next(&x) >> 20) % n;
}
