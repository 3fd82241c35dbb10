// SPDX-License-Identifier: GPL-2.0
#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"

bool cache_init(struct cache *c, uint64_t bytes)
{
	uint64_t sets = bytes / LINE_BYTES / CACHE_WAYS;

	*c = (struct cache) { .set_bits = __builtin_ctzll(sets) };
	c->tags = aligned_alloc(64, sets * CACHE_WAYS * sizeof(*c->tags));
	c->used = malloc(sets);
	c->dirty = malloc(sets);
	c->directory = malloc(sets * CACHE_WAYS * sizeof(*c->directory));
	if (!c->tags || !c->used || !c->dirty || !c->directory) {
		cache_exit(c);
		return false;
	}
	cache_clear(c);
	return true;
}

void cache_exit(struct cache *c)
{
	free(c->tags);
	free(c->used);
	free(c->dirty);
	free(c->directory);
	*c = (struct cache) {};
}

/* Forget everything, also what would have to go back to memory. */
void cache_clear(struct cache *c)
{
	size_t sets = (size_t)1 << c->set_bits;

	memset(c->tags, 0, sets * CACHE_WAYS * sizeof(*c->tags));
	memset(c->used, 0, sets);
	memset(c->dirty, 0, sets);
	memset(c->directory, 0, sets * CACHE_WAYS * sizeof(*c->directory));
}

/* One bit for each way of the set at @tags that holds @tag. */
static unsigned int match(const uint32_t *tags, uint32_t tag)
{
	const __m128i *t = (const __m128i *)tags;
	__m128i want = _mm_set1_epi32(tag);
	__m128i low = _mm_cmpeq_epi32(_mm_load_si128(t), want);
	__m128i high = _mm_cmpeq_epi32(_mm_load_si128(t + 1), want);

	return _mm_movemask_ps(_mm_castsi128_ps(low)) |
	       _mm_movemask_ps(_mm_castsi128_ps(high)) << 4;
}

/*
 * Lines of one tag are XORed with a hash of it: any run of lines that is aligned to
 * the number of sets still has one line in each, and the same XOR leads from set and
 * tag back to the line. Pages whose addresses are alike in the lower bits do not
 * drive each other out.
 */
static uint64_t scramble(const struct cache *c, uint64_t tag)
{
	/* 2^32 divided by the golden ratio (Knuth, volume 3, section 6.4). */
	return (tag * 0x9e3779b1u >> 16) & (((uint64_t)1 << c->set_bits) - 1);
}

uint64_t cache_set(const struct cache *c, uint64_t line)
{
	return (line & (((uint64_t)1 << c->set_bits) - 1)) ^
	       scramble(c, line >> c->set_bits);
}

static uint64_t line_at(const struct cache *c, uint64_t set, unsigned int way)
{
	uint64_t tag = c->tags[set * CACHE_WAYS + way] - 1;

	return tag << c->set_bits | (set ^ scramble(c, tag));
}

/* The way to replace: one not used of late, and in no CPU's own cache if that can be. */
static unsigned int choose(struct cache *c, uint64_t set)
{
	const struct directory *d = c->directory + set * CACHE_WAYS;
	unsigned int way;

	/* @used never has all bits set. */
	for (;;) {
		way = __builtin_ctz((unsigned int)(uint8_t)~c->used[set]);
		if (!c->held || !d[way].sharers ||
		    (uint8_t)(c->used[set] | 1U << way) == 0xff ||
		    !c->held(c->socket, d[way].sharers, line_at(c, set, way)))
			return way;
		c->used[set] |= 1U << way;
	}
}

struct cache_result cache_access(struct cache *c, uint64_t line, bool store)
{
	uint64_t set = cache_set(c, line);
	uint32_t *tags = c->tags + set * CACHE_WAYS;
	uint32_t tag = (uint32_t)(line >> c->set_bits) + 1;
	unsigned int ways = match(tags, tag), way;
	struct cache_result r = { .hit = ways };
	uint8_t used, bit;

	if (ways) {
		way = __builtin_ctz(ways);
		bit = 1U << way;
	} else {
		way = choose(c, set);
		bit = 1U << way;
		if (tags[way])
			r.victim = line_at(c, set, way);
		r.writeback = c->dirty[set] & bit;
		tags[way] = tag;
		c->dirty[set] &= ~bit;
	}
	if (store)
		c->dirty[set] |= bit;
	r.slot = set * CACHE_WAYS + way;
	used = c->used[set] | bit;
	c->used[set] = used == 0xff ? bit : used;
	return r;
}

size_t cache_find(const struct cache *c, uint64_t line)
{
	uint64_t set = cache_set(c, line);
	unsigned int ways = match(c->tags + set * CACHE_WAYS,
				  (uint32_t)(line >> c->set_bits) + 1);

	return ways ? set * CACHE_WAYS + __builtin_ctz(ways) : CACHE_NONE;
}

bool cache_clean(struct cache *c, size_t slot)
{
	uint8_t bit = 1U << slot % CACHE_WAYS, *dirty = &c->dirty[slot / CACHE_WAYS];
	bool was = *dirty & bit;

	*dirty &= ~bit;
	return was;
}

bool cache_drop(struct cache *c, size_t slot)
{
	c->tags[slot] = 0;
	c->directory[slot] = (struct directory) {};
	c->used[slot / CACHE_WAYS] &= ~(1U << slot % CACHE_WAYS);
	return cache_clean(c, slot);
}
