// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "lines.h"

static uint64_t differs;

void lines_fill(const struct lines *l)
{
	uint64_t line;

	for (line = 0; line < l->n; line += l->step)
		l->word[line * WORDS] = line_value(line);
}

struct lines lines_map(uint64_t mib, const struct list *place, uint64_t step)
{
	struct lines l = { .n = (mib << 20) / LINE, .step = step };

	workload_place(place);
	l.word = workload_map(mib << 20);
	lines_fill(&l);
	workload_place(&(struct list){});
	return l;
}

void lines_differ(uint64_t difference)
{
	__atomic_fetch_or(&differs, difference, __ATOMIC_RELAXED);
}

void lines_verify(const struct lines *l)
{
	uint64_t line, difference = __atomic_load_n(&differs, __ATOMIC_RELAXED);
	uint64_t compared = 0;

	if (getenv("BENCH_CORRUPT"))
		l->word[0]++;
	for (line = 0; line < l->n; line += l->step, compared++)
		difference |= l->word[line * WORDS] ^ line_value(line);
	if (difference)
		workload_fail("the data is not what was written");
	workload_verified(compared);
}
