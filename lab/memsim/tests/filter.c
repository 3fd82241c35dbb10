// SPDX-License-Identifier: GPL-2.0
#include "test.h"

#include "filter.h"

#define LINES	128
#define SETS	4

/* A line of @set, another one for each @tag. */
static uint64_t line_of(unsigned int set, uint64_t tag)
{
	return tag << FILTER_SET_BITS | (set ^ cache_hash(tag)) % FILTER_SETS;
}

/* What a set is to hold, the one used last in front. */
struct plain {
	struct {
		uint64_t line;
		bool stored;
	} held[FILTER_WAYS];
	unsigned int nr;
};

static unsigned int place_of(const struct plain *p, uint64_t line)
{
	unsigned int i;

	for (i = 0; i < p->nr && p->held[i].line != line; i++)
		;
	return i;
}

static void take(struct plain *p, unsigned int place)
{
	p->nr--;
	memmove(&p->held[place], &p->held[place + 1],
		(p->nr - place) * sizeof(p->held[0]));
}

static enum filter_answer used(struct plain *p, uint64_t line, bool store)
{
	unsigned int place = place_of(p, line);
	bool held = place < p->nr, stored = held && p->held[place].stored;

	if (held)
		take(p, place);
	else if (p->nr == FILTER_WAYS)
		take(p, FILTER_WAYS - 1);
	memmove(&p->held[1], &p->held[0], p->nr++ * sizeof(p->held[0]));
	p->held[0].line = line;
	p->held[0].stored = stored || store;
	return !held ? FILTER_MISS : store && !stored ? FILTER_CLEAN : FILTER_HIT;
}

static void those_used_last_stay(void **state)
{
	struct plain plain[SETS] = {};
	uint64_t x = 3, n;
	struct filter f;

	(void)state;
	filter_clear(&f);
	for (n = 0; n < 300000; n++) {
		uint64_t r = number(&x), nth = (r >> 8) % LINES;
		struct plain *p = &plain[nth % SETS];
		uint64_t line = line_of(nth % SETS, nth / SETS);
		unsigned int place = place_of(p, line);
		bool held = place < p->nr, store = r & 1;

		assert_int_equal(filter_holds(&f, line), held);
		switch (r >> 40 & 15) {
		case 0:
			assert_int_equal(filter_drop(&f, line), held);
			if (held)
				take(p, place);
			break;
		case 1:
			assert_int_equal(filter_clean(&f, line),
					 held && p->held[place].stored);
			if (held)
				p->held[place].stored = false;
			break;
		default:
			assert_int_equal(filter_access(&f, line << LINE_SHIFT |
						       (r >> 20) % LINE_BYTES, store),
					 used(p, line, store));
		}
	}
}

/* Pages a multiple of the cache's size apart, as a copy goes through them. */
static void a_copy_misses_once_a_line(void **state)
{
	uint64_t at, missed = 0;
	struct filter f;

	(void)state;
	filter_clear(&f);
	for (at = 0; at < 4096; at += 8) {
		missed += filter_access(&f, at, false) == FILTER_MISS;
		missed += filter_access(&f, (1 << 20) + at, true) == FILTER_MISS;
	}
	assert_int_equal(missed, 2 * 4096 / LINE_BYTES);
}

/* How often @lines lines miss in ten passes, @in of them in each of some pages. */
static unsigned int misses(uint64_t *x, unsigned int lines, unsigned int in)
{
	uint64_t page[LINES * 8];
	unsigned int i, pass, missed = 0;
	struct filter f;

	filter_clear(&f);
	for (i = 0; i < lines / in; i++)
		page[i] = number(x) % (1 << 22) << 12;
	for (pass = 0; pass < 10; pass++)
		for (i = 0; i < lines; i++)
			missed += filter_access(&f, page[i / in] + i % in * LINE_BYTES,
						false) == FILTER_MISS;
	return missed;
}

/* With two ways and no hash, most of them missed in each pass where they lay badly. */
static void where_things_are_decides_little(void **state)
{
	uint64_t x = 7;
	unsigned int n;

	(void)state;
	for (n = 0; n < 200; n++) {
		/* Whole pages, as many as it holds. */
		assert_int_equal(misses(&x, 1024, 64), 1024);
		/* Half as many lines as it holds, each at the beginning of a page. */
		assert_in_range(misses(&x, 512, 1), 500, 2 * 512);
	}
}

static void it_forgets(void **state)
{
	const uint64_t last = (FILTER_ADDRESS_MAX >> LINE_SHIFT) - 1;
	struct filter f;

	(void)state;
	filter_clear(&f);
	assert_int_equal(filter_access(&f, last << LINE_SHIFT, false), FILTER_MISS);
	assert_int_equal(filter_access(&f, last << LINE_SHIFT, false), FILTER_HIT);
	filter_clear(&f);
	assert_int_equal(filter_access(&f, last << LINE_SHIFT, false), FILTER_MISS);
}

int test_filter(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_used_last_stay),
		cmocka_unit_test(a_copy_misses_once_a_line),
		cmocka_unit_test(where_things_are_decides_little),
		cmocka_unit_test(it_forgets),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
