// SPDX-License-Identifier: GPL-2.0
#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"

bool cache_init(struct cache *c, uint64_t bytes)
{
	uint64_t sets = bytes / LINE_BYTES / CACHE_WAYS;

	c->set_bits = __builtin_ctzll(sets);
	c->tags = aligned_alloc(64, sets * CACHE_WAYS * sizeof(*c->tags));
	c->used = malloc(sets);
	c->dirty = malloc(sets);
	if (!c->tags || !c->used || !c->dirty) {
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
	*c = (struct cache) {};
}

/* Forget everything, also what would have to go back to memory. */
void cache_clear(struct cache *c)
{
	size_t sets = (size_t)1 << c->set_bits;

	memset(c->tags, 0, sets * CACHE_WAYS * sizeof(*c->tags));
	memset(c->used, 0, sets);
	memset(c->dirty, 0, sets);
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

struct cache_result cache_access(struct cache *c, uint64_t line, bool store)
{
	uint64_t set = line & (((uint64_t)1 << c->set_bits) - 1);
	uint32_t *tags = c->tags + set * CACHE_WAYS;
	uint32_t tag = (uint32_t)(line >> c->set_bits) + 1;
	unsigned int ways = match(tags, tag), way;
	struct cache_result r = { .hit = ways };
	uint8_t used = c->used[set], bit;

	if (ways) {
		way = __builtin_ctz(ways);
		bit = 1U << way;
	} else {
		/* @used never has all bits set. */
		way = __builtin_ctz((unsigned int)~used);
		bit = 1U << way;
		if (c->dirty[set] & bit) {
			r.writeback = true;
			r.victim = (uint64_t)(tags[way] - 1) << c->set_bits |
				   set;
		}
		tags[way] = tag;
		c->dirty[set] &= ~bit;
	}
	if (store)
		c->dirty[set] |= bit;
	used |= bit;
	c->used[set] = used == 0xff ? bit : used;
	return r;
}

void cache_drop(struct cache *c, uint64_t line)
{
	uint64_t set = line & (((uint64_t)1 << c->set_bits) - 1);
	uint32_t *tags = c->tags + set * CACHE_WAYS;
	unsigned int ways = match(tags, (uint32_t)(line >> c->set_bits) + 1);

	if (!ways)
		return;
	tags[__builtin_ctz(ways)] = 0;
	c->dirty[set] &= ~ways;
	c->used[set] &= ~ways;
}
