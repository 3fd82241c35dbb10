// SPDX-License-Identifier: GPL-2.0
/* source/chmu_pace.c: how much a hotness monitoring unit is asked to say. */
#include "unit.h"

#include <linux/limits.h>

#include "source/chmu_pace.h"

#define ROOM	1000
#define MS	1000000ULL
#define SECOND	(1000 * MS)

static const struct chmu_limits limits = {
	.epoch_us = 20000, .epoch_max_us = 4000000, .threshold_min = 2, .threshold_max = 0xffff,
};

static struct chmu_pace after(struct chmu_pace pace, u32 listed, bool overflow,
			      bool waiting)
{
	struct chmu_yield yield = {
		.listed = listed, .room = ROOM, .overflow = overflow,
		.waiting = waiting,
	};
	struct chmu_pace before = pace;
	bool changed = chmu_pace_step(&pace, &yield, &limits);

	assert_int_equal(changed, pace.threshold != before.threshold ||
				  pace.epoch_us != before.epoch_us);
	return pace;
}

TEST(what_promotion_takes_is_left_alone)
{
	struct chmu_pace pace = { 20000, 8 };
	u32 listed;

	for (listed = ROOM / 8; listed <= ROOM / 2; listed++) {
		pace = after(pace, listed, false, false);
		assert_int_equal(pace.threshold, 8);
		assert_int_equal(pace.epoch_us, 20000);
	}
}

TEST(more_than_half_of_the_room_is_too_much)
{
	assert_int_equal(after((struct chmu_pace) { 20000, 8 }, ROOM / 2 + 1,
			       false, false).threshold, 16);
	/* However little is left of it to be read. */
	assert_int_equal(after((struct chmu_pace) { 20000, 8 }, 0, true,
			       false).threshold, 16);
}

TEST(too_little_asks_for_more)
{
	struct chmu_pace pace = { 20000, 0xffff };
	int i;

	for (i = 0; i < 16; i++)
		pace = after(pace, 0, false, false);
	assert_int_equal(pace.threshold, limits.threshold_min);
}

TEST(the_threshold_is_bounded)
{
	struct chmu_pace pace = { 20000, 2 };
	int i;

	for (i = 0; i < 100; i++)
		pace = after(pace, ROOM, true, true);
	assert_int_equal(pace.threshold, limits.threshold_max);
	pace.threshold = U32_MAX;
	assert_int_equal(after(pace, ROOM, true, true).threshold,
			 limits.threshold_max);
	pace.threshold = 0;
	assert_int_equal(after(pace, 0, false, false).threshold,
			 limits.threshold_min);
}

TEST(while_pages_wait_little_is_asked_and_seldom)
{
	struct chmu_pace pace = { 20000, 2 };
	int i;

	pace = after(pace, CHMU_WAITING_ENTRIES + 1, false, true);
	assert_int_equal(pace.threshold, 4);
	assert_int_equal(pace.epoch_us, 40000);
	for (i = 0; i < 10; i++)
		pace = after(pace, CHMU_WAITING_ENTRIES, false, true);
	assert_int_equal(pace.threshold, 4);
	assert_int_equal(pace.epoch_us, CHMU_LONGER_EPOCHS * 20000);
	/* As before when they go again. */
	pace = after(pace, 10, false, false);
	assert_int_equal(pace.epoch_us, 20000);
	assert_int_equal(pace.threshold, 2);
}

/* They go as fast as they can: to say it again makes them no faster. */
TEST(while_what_is_listed_is_known_epochs_are_longer)
{
	struct chmu_yield yield = { .listed = 400, .room = ROOM, .ready = 200 };
	struct chmu_pace pace = { 20000, 8 };
	int i;

	for (i = 0; i < 10; i++)
		chmu_pace_step(&pace, &yield, &limits);
	assert_int_equal(pace.epoch_us, CHMU_LONGER_EPOCHS * 20000);
	assert_int_equal(pace.threshold, 8);
	yield.ready = 199;
	assert_true(chmu_pace_step(&pace, &yield, &limits));
	assert_int_equal(pace.epoch_us, 20000);
	/* Where nothing is listed nothing is known of it. */
	yield.listed = yield.ready = 0;
	chmu_pace_step(&pace, &yield, &limits);
	assert_int_equal(pace.epoch_us, 20000);
}

TEST(an_epoch_that_was_changed_is_the_next_one)
{
	struct chmu_yield waits = { .listed = 100, .room = ROOM, .waiting = true };
	struct chmu_limits narrow = limits;
	struct chmu_pace pace = { 5000, 8 };

	assert_int_equal(after(pace, ROOM / 4, false, false).epoch_us, 20000);
	assert_int_equal(after(pace, ROOM / 4, false, true).epoch_us, 20000);
	/* No longer than the window, or what the unit has. */
	narrow.epoch_max_us = 50000;
	pace = (struct chmu_pace) { 40000, 2 };
	chmu_pace_step(&pace, &waits, &narrow);
	assert_int_equal(pace.epoch_us, 50000);
	pace.epoch_us = U32_MAX;
	assert_int_equal(after(pace, ROOM / 4, false, true).epoch_us, 160000);
}

TEST(reading_costs_no_more_than_its_part)
{
	struct chmu_budget budget;
	u64 now = 5 * SECOND, spent = 0, wait;

	chmu_budget_init(&budget, now);
	while (now < 105 * SECOND) {
		now += 3 * MS;
		spent += 3 * MS;
		wait = chmu_budget_spend(&budget, now, 3 * MS);
		now += wait;
	}
	/* Of a hundred seconds, and what may be spent at once. */
	assert_in_range(spent, 15 * SECOND / 10, 18 * SECOND / 10);
}

TEST(what_was_not_spent_is_kept_for_one_burst)
{
	struct chmu_budget budget;

	chmu_budget_init(&budget, 0);
	assert_int_equal(chmu_budget_spend(&budget, 1000 * SECOND, 200 * MS), 0);
	assert_int_equal(chmu_budget_spend(&budget, 1000 * SECOND, MS),
			 MS << CHMU_BUDGET_SHIFT);
	/* A long halt is no endless debt. */
	assert_true(chmu_budget_spend(&budget, 1001 * SECOND, 1000 * SECOND) <
		    15 * SECOND);
}

/* Two requests to two megabytes say nothing of any of its pages. */
TEST(a_large_unit_needs_as_much_for_each_page)
{
	assert_int_equal(chmu_pace_least(8), CHMU_THRESHOLD_MIN);
	assert_int_equal(chmu_pace_least(12), CHMU_THRESHOLD_MIN);
	assert_int_equal(chmu_pace_least(21), 512 * CHMU_THRESHOLD_MIN);
	assert_int_equal(chmu_pace_least(31), CHMU_THRESHOLD_MAX);
}

UNIT_MAIN(
	cmocka_unit_test(what_promotion_takes_is_left_alone),
	cmocka_unit_test(more_than_half_of_the_room_is_too_much),
	cmocka_unit_test(too_little_asks_for_more),
	cmocka_unit_test(the_threshold_is_bounded),
	cmocka_unit_test(while_pages_wait_little_is_asked_and_seldom),
	cmocka_unit_test(while_what_is_listed_is_known_epochs_are_longer),
	cmocka_unit_test(an_epoch_that_was_changed_is_the_next_one),
	cmocka_unit_test(reading_costs_no_more_than_its_part),
	cmocka_unit_test(what_was_not_spent_is_kept_for_one_burst),
	cmocka_unit_test(a_large_unit_needs_as_much_for_each_page),
)
