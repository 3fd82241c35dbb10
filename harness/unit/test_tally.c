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
			pghot_tally_add(&t, i);
	for (i = 0; i < PGHOT_TALLY_PAGES; i++)
		assert_int_equal(pghot_tally_get(&t, i), i % 16);
}

TEST(a_count_ends_and_leaves_its_neighbour_alone)
{
	struct pghot_tally t = { };
	unsigned int n;

	for (n = 0; n < 100; n++)
		pghot_tally_add(&t, 6);
	assert_int_equal(pghot_tally_get(&t, 6), PGHOT_TALLY_MAX);
	assert_int_equal(pghot_tally_get(&t, 7), 0);
	for (n = 0; n < 100; n++)
		pghot_tally_add(&t, 5);
	assert_int_equal(pghot_tally_get(&t, 5), PGHOT_TALLY_MAX);
	assert_int_equal(pghot_tally_get(&t, 4), 0);
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
	cmocka_unit_test(what_holds_nothing_is_left_out_for_longer),
	cmocka_unit_test(what_holds_something_is_looked_at_in_each_pass),
	cmocka_unit_test(another_table_is_not_left_out_for_it),
)
