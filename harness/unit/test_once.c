// SPDX-License-Identifier: GPL-2.0
/* source/once.h: what is reported several times of the same epoch. */
#include "unit.h"

#include "source/once.h"

#define EPOCH	20U

static struct pghot_once once;

static u32 more(unsigned long pfn, u32 weight, u32 now_ms)
{
	return pghot_once_more(&once, pfn, weight, now_ms, EPOCH);
}

TEST(an_epoch_counts_once)
{
	once = (struct pghot_once) { };
	assert_int_equal(more(512, 1, 100), 1);
	assert_int_equal(more(512, 1, 100), 0);
	assert_int_equal(more(512, 1, 100 + EPOCH - 1), 0);
	assert_int_equal(more(512, 1, 100 + EPOCH), 1);
}

TEST(it_is_worth_as_much_as_its_most_used_part)
{
	once = (struct pghot_once) { };
	assert_int_equal(more(512, 2, 100), 2);
	assert_int_equal(more(512, 5, 101), 3);
	assert_int_equal(more(512, 4, 102), 0);
	assert_int_equal(more(512, 6, 103), 1);
}

TEST(each_folio_has_its_own)
{
	unsigned long pfn;
	unsigned int twice = 0;

	once = (struct pghot_once) { };
	for (pfn = 512; pfn < 512 * 513; pfn += 512)
		assert_int_equal(more(pfn, 1, 100), 1);
	for (pfn = 512; pfn < 512 * 513; pfn += 512)
		twice += more(pfn, 1, 101);
	/* A gigabyte of huge pages: hardly two share a slot. */
	assert_in_range(twice, 0, 16);
}

TEST(the_clock_wraps)
{
	once = (struct pghot_once) { };
	assert_int_equal(more(512, 1, 0U - 5), 1);
	assert_int_equal(more(512, 1, 5), 0);
	assert_int_equal(more(512, 1, EPOCH), 1);
}

UNIT_MAIN(
	cmocka_unit_test(an_epoch_counts_once),
	cmocka_unit_test(it_is_worth_as_much_as_its_most_used_part),
	cmocka_unit_test(each_folio_has_its_own),
	cmocka_unit_test(the_clock_wraps),
)
