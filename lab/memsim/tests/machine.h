/* SPDX-License-Identifier: GPL-2.0 */
/* The memory of a machine, for one test. */
#ifndef MEMSIM_TEST_MACHINE_H
#define MEMSIM_TEST_MACHINE_H

#include <stdlib.h>

#include "memory.h"
#include "test.h"

static inline struct memory *memory_of(const struct config *c)
{
	struct memory *m = malloc(sizeof(*m));

	assert_non_null(m);
	assert_true(memory_init(m, c));
	return m;
}

static inline void drop(struct memory *m)
{
	memory_exit(m);
	free(m);
}

#endif
