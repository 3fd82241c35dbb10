/* SPDX-License-Identifier: GPL-2.0 */
/* What tests of mm/migrate_copy/choice.c share: costs that are known. */
#ifndef _HARNESS_UNIT_MIGRATE_COPY_H
#define _HARNESS_UNIT_MIGRATE_COPY_H

#include "migrate_copy/choice.h"

#define NS(cost)	((u64)(cost) >> MIGRATE_COPY_SHIFT)

static inline void learn(struct migrate_copy_cost *c, unsigned int times, u64 ns, u64 kib)
{
	while (times--)
		migrate_copy_learn(c, ns, kib);
}

static inline struct migrate_copy_cost known(u64 ns_per_kib)
{
	struct migrate_copy_cost c = { };

	learn(&c, MIGRATE_COPY_KNOWN, 64 * ns_per_kib, 64);
	return c;
}

#endif
