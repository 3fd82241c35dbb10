// SPDX-License-Identifier: GPL-2.0
/*
 * exchange.c, where folios that come and folios that go differ in size. An accessed bit says
 * of a huge folio that one of its pages was accessed, or all.
 */
#include "exchange.h"

#define HUGE	9

/* Pages that are used all the time come for huge folios of which a page is used seldom. */
TEST(small_and_hot_for_huge_and_cold_keeps_coming)
{
	begin(50, 10000);
	make_large(false, HUGE);
	machine_run(20 * WINDOW);
	assert_false(is_held_back());
	assert_int_equal(machine_stat("exchange_loss"), 0);
	machine_stop();
}

/* Nobody knows: not slower, and no verdict. */
TEST(alike_by_page_is_not_taken_for_a_gain)
{
	begin(1000, 1000);
	make_large(true, HUGE);
	machine_run(20 * WINDOW);
	assert_int_equal(machine_stat("exchange_gain"), 0);
	machine_stop();
}

TEST(huge_for_huge_is_judged)
{
	begin(1 << 17, 1 << 17);
	make_large(true, HUGE);
	make_large(false, HUGE);
	machine_run(20 * WINDOW);
	assert_true(is_held_back());
	machine_stop();
	begin(1 << 14, 1 << 18);
	make_large(true, HUGE);
	make_large(false, HUGE);
	machine_run(20 * WINDOW);
	assert_false(is_held_back());
	assert_true(machine_stat("exchange_gain") > 3);
	machine_stop();
}

TEST(what_nobody_uses_is_not_exchanged_whatever_its_size)
{
	unsigned int come;

	for (come = 0; come < 2; come++) {
		begin(0, 0);
		make_large(come, HUGE);
		machine_run(20 * WINDOW);
		assert_true(is_held_back());
		assert_int_equal(machine_stat("exchange_gain"), 0);
		machine_stop();
	}
}

/* It was slowed down by a loss. Then what goes is huge, and nobody knows any more. */
TEST(doubt_ends_slowness)
{
	begin(200, 200);
	machine_run(20 * WINDOW);
	assert_true(is_held_back());
	make_large(false, HUGE);
	machine_run((PGHOT_SPEED_WINDOWS + 40) * WINDOW);
	assert_false(is_held_back());
	machine_stop();
}

/* Then all that comes is a guest's, of which nobody can know. */
TEST(ignorance_ends_slowness)
{
	unsigned long i;
	int cache;

	for (cache = 0; cache < 2; cache++) {
		begin(200, 200);
		pghot_page_cache_key = cache;
		machine_run(20 * WINDOW);
		assert_true(is_held_back());
		for (i = 0; i < FRAMES; i++)
			machine_folio(0, i)->locked = true;
		machine_run((PGHOT_SPEED_WINDOWS + 80) * WINDOW);
		assert_false(is_held_back());
		pghot_page_cache_key = 0;
		machine_stop();
	}
}

/* And none of what goes is used: at the slowest rate hardly any come. */
TEST(hot_and_large_is_not_slow_for_ever)
{
	unsigned int order;

	for (order = 4; order <= HUGE; order += HUGE - 4) {
		begin(1000, 1000);
		machine_run(40 * WINDOW);
		assert_true(is_held_back());
		make_large(true, order);
		make_large(false, order);
		came_every = 1 << 13;
		went_every = 0;
		machine_run((PGHOT_SPEED_WINDOWS + 80) * WINDOW);
		assert_false(is_held_back());
		machine_stop();
	}
}

/* The pages of a huge folio that was split are not that folio. */
TEST(folios_that_were_split_say_nothing)
{
	unsigned int now;

	begin(0, 0);
	make_large(true, HUGE);
	for (now = 0; now < 8 * WINDOW; now += 10) {
		unsigned long i;

		machine_run(10);
		for (i = 0; i < FRAMES; i += 1UL << HUGE)
			machine_folio(0, i)->order = now % 20 ? HUGE : HUGE - 1;
	}
	assert_int_equal(machine_stat("exchange_loss"), 0);
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(small_and_hot_for_huge_and_cold_keeps_coming),
	cmocka_unit_test(alike_by_page_is_not_taken_for_a_gain),
	cmocka_unit_test(huge_for_huge_is_judged),
	cmocka_unit_test(what_nobody_uses_is_not_exchanged_whatever_its_size),
	cmocka_unit_test(doubt_ends_slowness),
	cmocka_unit_test(ignorance_ends_slowness),
	cmocka_unit_test(hot_and_large_is_not_slow_for_ever),
	cmocka_unit_test(folios_that_were_split_say_nothing),
)
