/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A CPU's own cache: 64 KiB, by physical address, two ways, the one used last is
 * kept. With one way, a copy between two pages whose addresses are alike in the
 * lower bits would miss at each of its loads and stores, and what a copy costs
 * would depend on which pages the kernel happens to take.
 */
#ifndef MEMSIM_FILTER_H
#define MEMSIM_FILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cache.h"
#include "compiler.h"

#define FILTER_SETS	512

/**
 * struct filter - which lines it holds
 * @line: of each set, the one used last in front: its number times two, plus one if
 *	  it was written to; all bits set is none
 */
struct filter {
	uint64_t line[FILTER_SETS][2];
};

/* What an access finds: all it needs, the line but not yet written to, or nothing. */
enum filter_answer { FILTER_HIT, FILTER_CLEAN, FILTER_MISS };

static inline void filter_clear(struct filter *f)
{
	memset(f->line, 0xff, sizeof(f->line));
}

static inline enum filter_answer filter_access(struct filter *f, uint64_t address,
					       bool store)
{
	uint64_t number = address >> LINE_SHIFT;
	uint64_t *way = f->line[number % FILTER_SETS];
	uint64_t first = way[0], second;

	if (likely(first >> 1 == number)) {
		way[0] = first | store;
		return way[0] == first ? FILTER_HIT : FILTER_CLEAN;
	}
	second = way[1];
	way[1] = first;
	if (second >> 1 == number) {
		way[0] = second | store;
		return way[0] == second ? FILTER_HIT : FILTER_CLEAN;
	}
	way[0] = number << 1 | store;
	return FILTER_MISS;
}

/* Where @line is, of its set; NULL: nowhere. */
static inline uint64_t *filter_find(const struct filter *f, uint64_t line)
{
	const uint64_t *way = f->line[line % FILTER_SETS];

	return (uint64_t *)(way[0] >> 1 == line ? way : way[1] >> 1 == line ? way + 1 : NULL);
}

static inline bool filter_holds(const struct filter *f, uint64_t line)
{
	return filter_find(f, line);
}

/* Others may have @line too; true if it was written to here. */
static inline bool filter_clean(struct filter *f, uint64_t line)
{
	uint64_t *way = filter_find(f, line);
	bool was = way && *way & 1;

	if (was)
		*way ^= 1;
	return was;
}

/* @line is worth nothing; true if it was here. */
static inline bool filter_drop(struct filter *f, uint64_t line)
{
	uint64_t *way = filter_find(f, line);

	if (!way)
		return false;
	/* The free place is the one that is taken next. */
	if (way == f->line[line % FILTER_SETS]) {
		way[0] = way[1];
		way++;
	}
	*way = ~0ULL;
	return true;
}

#endif
