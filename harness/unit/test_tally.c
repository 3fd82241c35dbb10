// SPDX-License-Identifier: GPL-2.0
/* source/tally.h and source/backoff.h: what is kept of a page table. */
#include "unit.h"

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

UNIT_MAIN(
	cmocka_unit_test(each_page_has_its_own_count),
	cmocka_unit_test(a_count_ends_and_leaves_its_neighbour_alone),
	cmocka_unit_test(a_large_folio_and_a_page_do_not_count_for_each_other),
	cmocka_unit_test(places_are_remembered_each_for_itself),
	cmocka_unit_test(what_holds_nothing_is_left_out_for_longer),
	cmocka_unit_test(what_holds_something_is_looked_at_in_each_pass),
	cmocka_unit_test(another_table_is_not_left_out_for_it),
)
