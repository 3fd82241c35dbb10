// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "huge.h"

#define HUGE_BYTES	(2UL << 20)

void *huge_alloc(size_t bytes)
{
	size_t whole = (bytes + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
	void *table = aligned_alloc(HUGE_BYTES, whole);

	if (!table)
		return NULL;
	madvise(table, whole, MADV_HUGEPAGE);
	return memset(table, 0, bytes);
}
