/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A last-level cache: set-associative, 8 ways, not-recently-used replacement, sets by
 * a hash of the address, as processors with a cache of several slices have them.
 */
#ifndef MEMSIM_CACHE_H
#define MEMSIM_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define CACHE_WAYS	8
#define LINE_SHIFT	6
#define LINE_BYTES	(1U << LINE_SHIFT)

/**
 * struct cache - which lines it holds
 * @tags: of each way of each set; 0 is empty
 * @used: bit for each way that was used of late
 * @dirty: bit for each way that differs from memory
 * @set_bits: logarithm of the number of sets
 */
struct cache {
	uint32_t *tags;
	uint8_t *used, *dirty;
	unsigned int set_bits;
};

/* What an access did. @victim is a line that goes back to memory, if any. */
struct cache_result {
	bool hit, writeback;
	uint64_t victim;
};

/* Line numbers (address / 64) must be below 2^(32 + set_bits) - 1. */
bool cache_init(struct cache *c, uint64_t bytes);
void cache_exit(struct cache *c);
void cache_clear(struct cache *c);
/* Somebody else has written the line: what is here is worth nothing. */
void cache_drop(struct cache *c, uint64_t line);
/* The set that @line belongs to. */
uint64_t cache_set(const struct cache *c, uint64_t line);

struct cache_result cache_access(struct cache *c, uint64_t line, bool store);

#endif
