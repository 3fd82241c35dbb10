// SPDX-License-Identifier: GPL-2.0
#include "test.h"

#include <string.h>

#include "cache.h"

#define SETS	16

/* The same cache, written down plainly. */
static struct {
	uint64_t line[CACHE_WAYS];
	bool held[CACHE_WAYS], dirty[CACHE_WAYS], used[CACHE_WAYS];
} model[SETS];

static struct cache_result model_access(const struct cache *c, uint64_t line,
					bool store)
{
	__typeof__(&model[0]) s = &model[cache_set(c, line)];
	struct cache_result r = {};
	int way, i, n = 0;

	for (way = 0; way < CACHE_WAYS; way++)
		if (s->held[way] && s->line[way] == line)
			break;
	r.hit = way < CACHE_WAYS;
	if (!r.hit) {
		for (way = 0; s->used[way]; way++)
			;
		if (s->held[way] && s->dirty[way]) {
			r.writeback = true;
			r.victim = s->line[way];
		}
		s->line[way] = line;
		s->held[way] = true;
		s->dirty[way] = false;
	}
	s->dirty[way] |= store;
	s->used[way] = true;
	for (i = 0; i < CACHE_WAYS; i++)
		n += s->used[i];
	if (n == CACHE_WAYS) {
		memset(s->used, 0, sizeof(s->used));
		s->used[way] = true;
	}
	return r;
}

static void it_does_what_the_model_does(void **state)
{
	struct cache c;
	uint64_t x = 1, n;

	(void)state;
	memset(model, 0, sizeof(model));
	assert_true(cache_init(&c, SETS * CACHE_WAYS * LINE_BYTES));
	for (n = 0; n < 200000; n++) {
		uint64_t r = number(&x);
		uint64_t line = (r >> 8) % (n & 1024 ? 400 : 150);
		struct cache_result got = cache_access(&c, line, r & 1);
		struct cache_result want = model_access(&c, line, r & 1);

		assert_int_equal(got.hit, want.hit);
		assert_int_equal(got.writeback, want.writeback);
		if (want.writeback)
			assert_int_equal(got.victim, want.victim);
	}
	cache_clear(&c);
	assert_false(cache_access(&c, 1, false).hit);
	cache_exit(&c);
}

static void high_addresses_come_back_whole(void **state)
{
	uint64_t line = 0xfedcba987ULL, i;
	struct cache_result r = {};
	struct cache c;

	(void)state;
	assert_true(cache_init(&c, SETS * CACHE_WAYS * LINE_BYTES));
	cache_access(&c, line, true);
	for (i = 1; i <= CACHE_WAYS * SETS * 4 && !r.writeback; i++)
		if (cache_set(&c, line + i) == cache_set(&c, line))
			r = cache_access(&c, line + i, false);
	assert_true(r.writeback);
	assert_int_equal(r.victim, line);
	cache_exit(&c);
}

static void lines_that_follow_each_other_fill_all_sets(void **state)
{
	uint64_t x = 7, n, i;
	struct cache c;

	(void)state;
	assert_true(cache_init(&c, SETS * CACHE_WAYS * LINE_BYTES));
	for (n = 0; n < 1000; n++) {
		uint64_t first = (number(&x) >> 30) * SETS;
		unsigned int seen = 0;

		for (i = 0; i < SETS; i++)
			seen |= 1U << cache_set(&c, first + i);
		assert_int_equal(seen, (1U << SETS) - 1);
	}
	cache_exit(&c);
}

/* Half of what the cache can hold, all at addresses that only differ in high bits. */
static void lines_far_apart_do_not_meet_in_one_set(void **state)
{
	enum { MANY_SETS = 4096, LINES = MANY_SETS * CACHE_WAYS / 2 };
	uint64_t i, stays = 0;
	struct cache c;

	(void)state;
	assert_true(cache_init(&c, MANY_SETS * CACHE_WAYS * LINE_BYTES));
	for (i = 0; i < LINES; i++)
		cache_access(&c, i * MANY_SETS, false);
	for (i = 0; i < LINES; i++)
		stays += cache_access(&c, i * MANY_SETS, false).hit;
	assert_in_range(stays, LINES * 9 / 10, LINES);
	cache_exit(&c);
}

int test_cache(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_does_what_the_model_does),
		cmocka_unit_test(high_addresses_come_back_whole),
		cmocka_unit_test(lines_that_follow_each_other_fill_all_sets),
		cmocka_unit_test(lines_far_apart_do_not_meet_in_one_set),
	};

	return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
