/* SPDX-License-Identifier: GPL-2.0 */
/* Memory each of whose lines says which one it is, so that any access can check it. */
#ifndef LINES_H
#define LINES_H

#include "workload.h"

#define WORDS	(LINE / sizeof(uint64_t))	/* in a line */

/**
 * struct lines - such memory
 * @word: its first word
 * @n: number of lines
 * @step: only every so many lines are filled and verified
 */
struct lines {
	volatile uint64_t *word;
	uint64_t n, step;
};

/*
 * New memory on these nodes, filled. One line per page, a @step of PAGE / LINE, is enough
 * for data that nobody uses.
 */
struct lines lines_map(uint64_t mib, const struct list *place, uint64_t step);

void lines_fill(const struct lines *l);

/*
 * End with an error if a line is not as it was filled, or an access has found one.
 * With BENCH_CORRUPT in the environment one is spoilt before, for tests.
 */
void lines_verify(const struct lines *l);

/* An access has seen this difference. */
void lines_differ(uint64_t difference);

/* A line of one of @pages pages from page @first on, by a random number. */
static inline uint64_t lines_pick(uint64_t r, uint64_t first, uint64_t pages)
{
	return (first + (r >> 20) % pages) * (PAGE / LINE) + (r >> 8) % (PAGE / LINE);
}

/* Store what belongs there, or return by how much it differs. */
static inline uint64_t lines_access(const struct lines *l, uint64_t line, bool store)
{
	volatile uint64_t *p = &l->word[line * WORDS];

	if (!store)
		return *p ^ line_value(line);
	*p = line_value(line);
	return 0;
}

/*
 * Access random lines of @pages pages from page @first on, so many times, with half of
 * the accesses stores or none. Returns by how much what was read differs.
 */
static inline uint64_t lines_mixed(const struct lines *l, uint64_t *x, uint64_t first,
				   uint64_t pages, uint64_t accesses, bool stores)
{
	uint64_t differ = 0, n;

	for (n = 0; n < accesses; n++) {
		uint64_t r = random_next(x);

		differ |= lines_access(l, lines_pick(r, first, pages), stores && r & 1);
	}
	return differ;
}

#endif
