// SPDX-License-Identifier: GPL-2.0
/* source/tally.h and source/backoff.h: what is kept of a page table. */
#include "unit.h"

#include <string.h>

#include <linux/array_size.h>
#include <linux/minmax.h>

#include "source/backoff.h"
#include "source/tally.h"

TEST(each_page_has_its_own_count)
{
	struct pghot_tally t = { };
	unsigned int i, n;

	for (i = 0; i < PGHOT_TALLY_PAGES; i++)
		for (n = 0; n < i % 16; n++)
			pghot_tally_add(&t, i, false);
	for (i = 0; i < PGHOT_TALLY_PAGES; i++)
		assert_int_equal(pghot_tally_get(&t, i, false), i % 16);
}

TEST(a_count_ends_and_leaves_its_neighbour_alone)
{
	struct pghot_tally t = { };
	unsigned int n;

	for (n = 0; n < 100; n++)
		pghot_tally_add(&t, 6, false);
	assert_int_equal(pghot_tally_get(&t, 6, false), PGHOT_TALLY_MAX);
	assert_int_equal(pghot_tally_get(&t, 7, false), 0);
	for (n = 0; n < 100; n++)
		pghot_tally_add(&t, 5, false);
	assert_int_equal(pghot_tally_get(&t, 5, false), PGHOT_TALLY_MAX);
	assert_int_equal(pghot_tally_get(&t, 4, false), 0);
}

/* The first page of a large folio may have been copied, and be somebody's own. */
TEST(a_large_folio_and_a_page_do_not_count_for_each_other)
{
	struct pghot_tally t = { };

	pghot_tally_add(&t, 64, false);
	pghot_tally_add(&t, 64, true);
	pghot_tally_add(&t, 64, true);
	assert_int_equal(pghot_tally_get(&t, 64, true), 2);
	assert_int_equal(pghot_tally_get(&t, 64, false), 0);
	pghot_tally_add(&t, 64, false);
	assert_int_equal(pghot_tally_get(&t, 64, true), 2);
	pghot_tally_add(&t, 65, false);
	assert_int_equal(pghot_tally_get(&t, 65, false), 1);
	assert_int_equal(pghot_tally_get(&t, 65, true), 0);
	assert_int_equal(pghot_tally_get(&t, 64, true), 2);
}

TEST(places_are_remembered_each_for_itself)
{
	struct pghot_places p = { };
	unsigned int i;

	assert_false(pghot_places_any(&p));
	for (i = 0; i < PGHOT_TALLY_PAGES; i += 3)
		assert_true(pghot_places_add(&p, i));
	assert_true(pghot_places_any(&p));
	for (i = 0; i < PGHOT_TALLY_PAGES; i++)
		assert_int_equal(pghot_places_has(&p, i), i % 3 == 0);
	assert_false(pghot_places_add(&p, 0));
	assert_false(pghot_places_add(&p, 510));
}

/* Passes until a table is looked at again. */
static unsigned int left_out(struct pghot_backoff *b, u8 tag)
{
	unsigned int n = 0;

	while (pghot_backoff_skips(b, tag))
		n++;
	return n;
}

TEST(what_holds_nothing_is_left_out_for_longer)
{
	struct pghot_backoff b = { };

	assert_int_equal(left_out(&b, 0), 0);
	assert_int_equal(left_out(&b, 7), 0);
	pghot_backoff_looked(&b, 7, false);
	assert_int_equal(left_out(&b, 7), 1);
	pghot_backoff_looked(&b, 7, false);
	assert_int_equal(left_out(&b, 7), 3);
	pghot_backoff_looked(&b, 7, false);
	assert_int_equal(left_out(&b, 7), 3);
}

TEST(what_holds_something_is_looked_at_in_each_pass)
{
	struct pghot_backoff b = { };

	pghot_backoff_looked(&b, 7, false);
	pghot_backoff_looked(&b, 7, false);
	left_out(&b, 7);
	pghot_backoff_looked(&b, 7, true);
	assert_int_equal(left_out(&b, 7), 0);
	pghot_backoff_looked(&b, 7, false);
	assert_int_equal(left_out(&b, 7), 1);
}

TEST(another_table_is_not_left_out_for_it)
{
	struct pghot_backoff b = { };

	pghot_backoff_looked(&b, 7, false);
	assert_int_equal(left_out(&b, 8), 0);
	/* One that holds something leaves the place to who has it. */
	pghot_backoff_looked(&b, 8, true);
	assert_int_equal(left_out(&b, 7), 1);
	pghot_backoff_looked(&b, 8, false);
	assert_int_equal(left_out(&b, 7), 0);
	assert_int_equal(left_out(&b, 8), 1);
}

/* Else none was ever left out where there are more tables than places. */
TEST(a_place_is_kept_until_it_was_of_use)
{
	struct pghot_backoff b = { };

	pghot_backoff_looked(&b, 7, false);
	pghot_backoff_looked(&b, 8, false);
	assert_int_equal(left_out(&b, 8), 0);
	assert_int_equal(left_out(&b, 7), 1);
}

#define BITS	4U
#define PLACES	(1U << BITS)

/* One pass over tables of which every one in @some holds something: how many are looked at. */
static unsigned int one_pass(struct pghot_backoff *places, unsigned long pass,
			     unsigned int tables, unsigned int some, unsigned int *passed)
{
	unsigned int looked = 0, n;
	u8 tag;

	if (pghot_backoff_begins(pass))
		memset(places, 0, PLACES * sizeof(*places));
	for (n = 0; n < tables; n++) {
		u32 place = pghot_backoff_place(0x123456 + n, pass, BITS, &tag);

		passed[n]++;
		if (pghot_backoff_skips(&places[place], tag))
			continue;
		passed[n] = 0;
		looked++;
		pghot_backoff_looked(&places[place], tag, some && n % some == 0);
	}
	return looked;
}

/* Some have both place and tag in common with one that holds nothing. */
TEST(none_is_left_out_for_ever_for_another)
{
	static unsigned int passed[1U << 14];
	struct pghot_backoff places[PLACES] = { };
	unsigned int n, most = 0;
	unsigned long pass;

	for (pass = 0; pass < 20 * PGHOT_BACKOFF_PASSES; pass++) {
		one_pass(places, pass, ARRAY_SIZE(passed), 2, passed);
		for (n = 0; n < ARRAY_SIZE(passed); n += 2)
			most = max(most, passed[n]);
	}
	assert_true(most > 0 && most <= 2 * PGHOT_BACKOFF_PASSES);
}

TEST(some_are_left_out_where_there_are_more_than_places)
{
	unsigned int passed[4 * PLACES] = { };
	struct pghot_backoff places[PLACES] = { };
	unsigned int looked = 0;
	unsigned long pass;

	for (pass = 0; pass < 4 * PGHOT_BACKOFF_PASSES; pass++)
		looked += one_pass(places, pass, ARRAY_SIZE(passed), 0, passed);
	assert_true(looked < pass * ARRAY_SIZE(passed) * 9 / 10);
	looked = 0;
	for (pass = 0; pass < 4 * PGHOT_BACKOFF_PASSES; pass++)
		looked += one_pass(places, pass, 4, 0, passed);
	assert_true(looked < pass * 4 / 2);
}

UNIT_MAIN(
	cmocka_unit_test(each_page_has_its_own_count),
	cmocka_unit_test(a_count_ends_and_leaves_its_neighbour_alone),
	cmocka_unit_test(a_large_folio_and_a_page_do_not_count_for_each_other),
	cmocka_unit_test(places_are_remembered_each_for_itself),
	cmocka_unit_test(what_holds_nothing_is_left_out_for_longer),
	cmocka_unit_test(what_holds_something_is_looked_at_in_each_pass),
	cmocka_unit_test(another_table_is_not_left_out_for_it),
	cmocka_unit_test(a_place_is_kept_until_it_was_of_use),
	cmocka_unit_test(none_is_left_out_for_ever_for_another),
	cmocka_unit_test(some_are_left_out_where_there_are_more_than_places),
)
