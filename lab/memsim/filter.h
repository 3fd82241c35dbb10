/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A CPU's own cache: 64 KiB, by physical address, 16 ways, the one used longest ago goes.
 * A page has one line in each set, and a hash of the page says which. With fewer ways or
 * no hash, what lies where in memory decides how much of it stays: with two ways, kernels
 * that do the same differed by 12% in a system call that moves pages.
 */
#ifndef MEMSIM_FILTER_H
#define MEMSIM_FILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cache.h"
#include "compiler.h"

#define FILTER_WAYS	16
#define FILTER_SET_BITS	6
#define FILTER_SETS	(1U << FILTER_SET_BITS)
#define FILTER_STORED	1U
/* Addresses of memory are below: what is left of a line's number fits beside the bit. */
#define FILTER_ADDRESS_MAX	(((1ULL << (31 + FILTER_SET_BITS)) - FILTER_SETS) << LINE_SHIFT)

/**
 * struct filter - which lines it holds
 * @way: of each set, the one used last in front: the line's number without its lowest
 *	 FILTER_SET_BITS bits, times two, plus FILTER_STORED if it was written to; all
 *	 bits set is none
 */
struct filter {
	_Alignas(64) uint32_t way[FILTER_SETS][FILTER_WAYS];
};

/* What an access finds: all it needs, the line but not yet written to, or nothing. */
enum filter_answer { FILTER_HIT, FILTER_CLEAN, FILTER_MISS };

static inline void filter_clear(struct filter *f)
{
	memset(f->way, 0xff, sizeof(f->way));
}

/* What a way of its set has that holds @line and was written to. */
static inline uint32_t filter_stored(uint64_t line)
{
	return (uint32_t)(line >> FILTER_SET_BITS) << 1 | FILTER_STORED;
}

static inline enum filter_answer filter_access(struct filter *f, uint64_t address,
					       bool store)
{
	uint64_t line = address >> LINE_SHIFT;
	uint32_t *way = f->way[cache_set_of(line, FILTER_SET_BITS)], want = filter_stored(line);
	uint32_t front = way[0], found;
	unsigned int i;

	if (likely((front | FILTER_STORED) == want)) {
		way[0] = front | store;
		return way[0] == front ? FILTER_HIT : FILTER_CLEAN;
	}
	for (i = 1; i < FILTER_WAYS; i++) {
		found = way[i];
		way[i] = front;
		if ((found | FILTER_STORED) == want) {
			way[0] = found | store;
			return way[0] == found ? FILTER_HIT : FILTER_CLEAN;
		}
		front = found;
	}
	way[0] = (want ^ FILTER_STORED) | store;
	return FILTER_MISS;
}

/* Where @line is, of its set; NULL: nowhere. */
static inline uint32_t *filter_find(const struct filter *f, uint64_t line)
{
	const uint32_t *way = f->way[cache_set_of(line, FILTER_SET_BITS)];
	uint32_t want = filter_stored(line);
	unsigned int i;

	for (i = 0; i < FILTER_WAYS; i++)
		if ((way[i] | FILTER_STORED) == want)
			return (uint32_t *)&way[i];
	return NULL;
}

static inline bool filter_holds(const struct filter *f, uint64_t line)
{
	return filter_find(f, line);
}

/* Others may have @line too; true if it was written to here. */
static inline bool filter_clean(struct filter *f, uint64_t line)
{
	uint32_t *way = filter_find(f, line);
	bool was = way && *way & FILTER_STORED;

	if (was)
		*way ^= FILTER_STORED;
	return was;
}

/* @line is worth nothing; true if it was here. */
static inline bool filter_drop(struct filter *f, uint64_t line)
{
	uint32_t *way = filter_find(f, line), *end;

	if (!way)
		return false;
	/* The free place is the one that is taken next. */
	end = f->way[cache_set_of(line, FILTER_SET_BITS)] + FILTER_WAYS - 1;
	memmove(way, way + 1, (end - way) * sizeof(*way));
	*end = ~0U;
	return true;
}

#endif
