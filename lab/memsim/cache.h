/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A last-level cache: set-associative, 8 ways, not-recently-used replacement, sets by
 * a hash of the address, as processors with a cache of several slices have them.
 */
#ifndef MEMSIM_CACHE_H
#define MEMSIM_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_WAYS	8
#define LINE_SHIFT	6
#define LINE_BYTES	(1U << LINE_SHIFT)

/**
 * struct directory - which CPUs may have a line in a cache of their own
 * @sharers: a bit for each, or for those whose numbers are alike modulo 8
 * @owner: the one that wrote it last, plus one; 0: nobody since others read it
 */
struct directory {
	uint8_t sharers, owner;
};

/**
 * struct cache_set - the lines of a set; one line of the host's cache has all of it
 * @tags: of each way; 0 is empty
 * @directory: of each way
 * @used: bit for each way that was used of late
 * @dirty: bit for each way that differs from memory
 */
struct cache_set {
	_Alignas(64) uint32_t tags[CACHE_WAYS];
	struct directory directory[CACHE_WAYS];
	uint8_t used, dirty;
};

/**
 * struct cache - which lines it holds
 * @set: sets
 * @set_bits: logarithm of their number
 * @held: whether one of these CPUs has the line; NULL: none has any
 * @socket: for @held
 */
struct cache {
	struct cache_set *set;
	unsigned int set_bits;
	bool (*held)(const void *socket, uint8_t sharers, uint64_t line);
	const void *socket;
};

/**
 * struct cache_result - what an access did
 * @hit: the line was there
 * @writeback: @victim has to go back to memory
 * @victim: the line that was there instead, if any
 * @slot: where the line is now; its directory is still @victim's
 */
struct cache_result {
	bool hit, writeback;
	uint64_t victim;
	size_t slot;
};

#define CACHE_NONE	SIZE_MAX

/*
 * Lines of one tag are XORed with a hash of it: any run of lines that is aligned to
 * the number of sets still has one line in each, and the same XOR leads from set and
 * tag back to the line. Pages whose addresses are alike in the lower bits do not
 * drive each other out.
 */
static inline uint64_t cache_hash(uint64_t tag)
{
	/* 2^32 divided by the golden ratio (Knuth, volume 3, section 6.4). */
	return tag * 0x9e3779b1u >> 16;
}

/* The lower @bits of @n. */
static inline uint64_t cache_bits(uint64_t n, unsigned int bits)
{
	return n & (((uint64_t)1 << bits) - 1);
}

/* The set that @line belongs to, of 2^@set_bits of them. */
static inline uint64_t cache_set_of(uint64_t line, unsigned int set_bits)
{
	return cache_bits(line ^ cache_hash(line >> set_bits), set_bits);
}

static inline uint64_t cache_set(const struct cache *c, uint64_t line)
{
	return cache_set_of(line, c->set_bits);
}

/* @line is looked up soon: all sets are more than the host's caches hold next to a CPU. */
static inline void cache_expect(const struct cache *c, uint64_t line)
{
	__builtin_prefetch(&c->set[cache_set(c, line)], 1);
}

/* Who may have the line at @slot. */
static inline struct directory *cache_directory(const struct cache *c, size_t slot)
{
	return &c->set[slot / CACHE_WAYS].directory[slot % CACHE_WAYS];
}

/* Whether the line at @slot differs from memory. */
static inline bool cache_dirty(const struct cache *c, size_t slot)
{
	return c->set[slot / CACHE_WAYS].dirty >> slot % CACHE_WAYS & 1;
}

/* Line numbers (address / 64) must be below 2^(32 + set_bits) - 1. */
bool cache_init(struct cache *c, uint64_t bytes);
void cache_exit(struct cache *c);
void cache_clear(struct cache *c);
/* Where @line is, or CACHE_NONE. */
size_t cache_find(const struct cache *c, uint64_t line);
/* What is at @slot is in memory too; true if it was not. */
bool cache_clean(struct cache *c, size_t slot);
/* What is at @slot is worth nothing; true if it was newer than memory. */
bool cache_drop(struct cache *c, size_t slot);

struct cache_result cache_access(struct cache *c, uint64_t line, bool store);

#endif
