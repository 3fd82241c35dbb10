// SPDX-License-Identifier: GPL-2.0
#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "huge.h"

static size_t bytes_of(const struct cache *c)
{
	return sizeof(*c->set) << c->set_bits;
}

bool cache_init(struct cache *c, uint64_t bytes)
{
	uint64_t sets = bytes / LINE_BYTES / CACHE_WAYS;

	*c = (struct cache) { .set_bits = __builtin_ctzll(sets) };
	c->set = huge_alloc(bytes_of(c));
	return c->set;
}

void cache_exit(struct cache *c)
{
	free(c->set);
	*c = (struct cache) {};
}

/* Forget everything, also what would have to go back to memory. */
void cache_clear(struct cache *c)
{
	memset(c->set, 0, bytes_of(c));
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

static uint64_t line_at(const struct cache *c, uint64_t set, unsigned int way)
{
	uint64_t tag = c->set[set].tags[way] - 1;

	return tag << c->set_bits | cache_bits(set ^ cache_hash(tag), c->set_bits);
}

/* The way to replace: one not used of late, and in no CPU's own cache if that can be. */
static unsigned int choose(struct cache *c, uint64_t number)
{
	struct cache_set *set = &c->set[number];
	const struct directory *d = set->directory;
	unsigned int way;

	/* @used never has all bits set. */
	for (;;) {
		way = __builtin_ctz((unsigned int)(uint8_t)~set->used);
		if (!c->held || !d[way].sharers ||
		    (uint8_t)(set->used | 1U << way) == 0xff ||
		    !c->held(c->socket, d[way].sharers, line_at(c, number, way)))
			return way;
		set->used |= 1U << way;
	}
}

struct cache_result cache_access(struct cache *c, uint64_t line, bool store)
{
	uint64_t number = cache_set(c, line);
	struct cache_set *set = &c->set[number];
	uint32_t tag = (uint32_t)(line >> c->set_bits) + 1;
	unsigned int ways = match(set->tags, tag), way;
	struct cache_result r = { .hit = ways };
	uint8_t used, bit;

	if (ways) {
		way = __builtin_ctz(ways);
		bit = 1U << way;
	} else {
		way = choose(c, number);
		bit = 1U << way;
		if (set->tags[way])
			r.victim = line_at(c, number, way);
		r.writeback = set->dirty & bit;
		set->tags[way] = tag;
		set->dirty &= ~bit;
	}
	if (store)
		set->dirty |= bit;
	r.slot = number * CACHE_WAYS + way;
	used = set->used | bit;
	set->used = used == 0xff ? bit : used;
	return r;
}

size_t cache_find(const struct cache *c, uint64_t line)
{
	uint64_t number = cache_set(c, line);
	unsigned int ways = match(c->set[number].tags,
				  (uint32_t)(line >> c->set_bits) + 1);

	return ways ? number * CACHE_WAYS + __builtin_ctz(ways) : CACHE_NONE;
}

bool cache_clean(struct cache *c, size_t slot)
{
	bool was = cache_dirty(c, slot);

	c->set[slot / CACHE_WAYS].dirty &= ~(1U << slot % CACHE_WAYS);
	return was;
}

bool cache_drop(struct cache *c, size_t slot)
{
	struct cache_set *set = &c->set[slot / CACHE_WAYS];

	set->tags[slot % CACHE_WAYS] = 0;
	set->directory[slot % CACHE_WAYS] = (struct directory) {};
	set->used &= ~(1U << slot % CACHE_WAYS);
	return cache_clean(c, slot);
}
