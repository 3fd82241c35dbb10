// SPDX-License-Identifier: GPL-2.0
#include "test.h"

#include "filter.h"

#define LINES	64

static void the_two_used_last_stay(void **state)
{
	uint64_t x = 3, n, set, last[LINES] = {}, now = 0;
	bool dirty[LINES] = {};
	struct filter f;

	(void)state;
	filter_clear(&f);
	/* Lines of four sets; @last says when each was used, 0 for never. */
	for (n = 0; n < 200000; n++) {
		uint64_t r = number(&x), line = (r >> 8) % LINES, i, later = 0;
		bool store = r & 1, held;
		enum filter_answer got;

		set = line % 4;
		for (i = set; i < LINES; i += 4)
			later += last[i] > last[line];
		held = last[line] && later < 2;
		got = filter_access(&f, (line / 4 * FILTER_SETS + set) << LINE_SHIFT |
				    (r >> 20) % LINE_BYTES, store);
		if (!held)
			assert_int_equal(got, FILTER_MISS);
		else
			assert_int_equal(got, store && !dirty[line] ?
					 FILTER_CLEAN : FILTER_HIT);
		dirty[line] = (held && dirty[line]) || store;
		last[line] = ++now;
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

static void it_forgets(void **state)
{
	struct filter f;

	(void)state;
	filter_clear(&f);
	assert_int_equal(filter_access(&f, ~0ULL, false), FILTER_MISS);
	assert_int_equal(filter_access(&f, ~0ULL, false), FILTER_HIT);
	filter_clear(&f);
	assert_int_equal(filter_access(&f, ~0ULL, false), FILTER_MISS);
}

int test_filter(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_two_used_last_stay),
		cmocka_unit_test(a_copy_misses_once_a_line),
		cmocka_unit_test(it_forgets),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
