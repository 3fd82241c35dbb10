// SPDX-License-Identifier: GPL-2.0
/* gain.c: what exchanging pages gains, and how fast to promote for that. */
#include "unit.h"
#include "harness.h"

#include <linux/limits.h>
#include <linux/minmax.h>

#include "gain.h"
#include "policy.h"

#define WINDOW	4000U
#define LEAST	(PGHOT_SPEED_BYTES * 1000 / WINDOW)
#define FAST	(100ULL << 20)

/* So many folios of that size, each accessed after so many ms, or never. */
static void add(struct pghot_use *use, u32 folios, unsigned long nr_pages, u32 ms, u32 never)
{
	while (folios--)
		pghot_use_add(use, ms, nr_pages, true);
	while (never--)
		pghot_use_add(use, 1000, nr_pages, false);
}

static struct pghot_use used(u32 pages, u32 ms, u32 never)
{
	struct pghot_use use = {};

	add(&use, pages, 1, ms, never);
	return use;
}

static struct pghot_use used_huge(u32 folios, u32 ms, u32 never)
{
	struct pghot_use use = {};

	add(&use, folios, 512, ms, never);
	return use;
}

/* Of single pages nothing is uncertain. */
static u32 percent(struct pghot_use came, struct pghot_use went)
{
	struct pghot_gain gain = pghot_gain(&came, &went);

	assert_in_range(gain.most - gain.least, 0, 1);
	return gain.least;
}

static struct pghot_gain gain(struct pghot_use came, struct pghot_use went)
{
	return pghot_gain(&came, &went);
}

TEST(alike_is_a_hundred_percent)
{
	assert_int_equal(percent(used(64, 10, 0), used(64, 10, 0)), 100);
	assert_int_equal(percent(used(0, 0, 64), used(0, 0, 64)), 100);
}

TEST(who_is_accessed_ten_times_as_often_counts_three_times)
{
	assert_in_range(percent(used(64, 10, 0), used(64, 100, 0)), 310, 320);
	assert_in_range(percent(used(64, 100, 0), used(64, 10, 0)), 30, 33);
}

TEST(what_nobody_accesses_is_worth_giving_away)
{
	assert_true(percent(used(60, 10, 4), used(0, 0, 64)) > 900);
	assert_true(percent(used(0, 0, 64), used(60, 10, 4)) < 12);
}

/* One in ten is what it is done for, and all the others are as those that go. */
TEST(few_that_are_hot_make_up_for_many)
{
	struct pghot_use came = used(18, 5, 0), went = used(180, 500, 0);
	unsigned int i;

	for (i = 0; i < 162; i++)
		pghot_use_add(&came, 500, 1, true);
	assert_in_range(percent(came, went), 185, 195);
}

/* As long as all have the same size it does not matter which. */
TEST(huge_beside_huge_is_as_small_beside_small)
{
	struct pghot_gain huge = gain(used_huge(60, 10, 40), used_huge(50, 100, 90));
	u32 small = percent(used(60, 10, 40), used(50, 100, 90));

	assert_in_range(huge.least, small - 1, small + 1);
	assert_in_range(huge.most, small - 1, small + 1);
}

/*
 * A huge folio that is accessed once in 250 ms, and a page that is once in 100: it depends on
 * whether all of the folio is.
 */
TEST(small_beside_huge_is_between_two_bounds)
{
	struct pghot_gain come = gain(used(64, 100, 0), used_huge(64, 250, 0));
	struct pghot_gain go = gain(used_huge(64, 250, 0), used(64, 100, 0));

	assert_in_range(come.least, 155, 160);
	assert_in_range(come.most, 3400, 3600);
	assert_in_range(go.least, 2, 3);
	assert_in_range(go.most, 60, 64);
	/* The other way round one bound says gain, and one loss. */
	come = gain(used(64, 500, 0), used_huge(64, 10, 0));
	assert_true(come.least < PGHOT_GAIN_PERCENT);
	assert_true(come.most >= PGHOT_GAIN_PERCENT);
}

/* A page that nobody accessed is not worth more than a huge folio that nobody accessed. */
TEST(what_is_not_accessed_is_alike_in_any_size)
{
	struct pghot_gain cold = gain(used(0, 0, 64), used_huge(0, 0, 64));

	assert_in_range(cold.least, 99, 100);
	assert_in_range(cold.most, 100, 101);
	cold = gain(used_huge(0, 0, 64), used(0, 0, 64));
	assert_in_range(cold.least, 99, 100);
	assert_in_range(cold.most, 100, 101);
	/* And what is has more, in whichever size. */
	assert_true(gain(used(0, 0, 64), used_huge(64, 100, 0)).most < PGHOT_GAIN_PERCENT);
	assert_true(gain(used_huge(64, 100, 0), used(0, 0, 64)).least > PGHOT_GAIN_AGAIN);
}

/* A few huge folios among many pages do not decide alone, and are not passed over. */
TEST(huge_among_small_counts_as_some)
{
	struct pghot_use came = used(90, 10, 0), went = used(90, 500, 0);

	add(&came, 2, 512, 1000, 0);
	add(&went, 2, 512, 1000, 0);
	assert_true(gain(came, went).least > 300);
	add(&came, 28, 512, 1000, 0);
	assert_in_range(gain(came, went).least, 50, 150);
}

/* However many, however long: nothing overflows. */
TEST(it_is_bounded)
{
	struct pghot_use most = {}, least = {};
	unsigned int i;

	for (i = 0; i < 10 * PGHOT_GAIN_FOLIOS; i++) {
		pghot_use_add(&most, 0, 1, true);
		pghot_use_add(&least, 60000, 1, false);
	}
	assert_in_range(percent(most, least), 9000, PGHOT_GAIN_PERCENT_MAX);
	assert_in_range(percent(least, most), 0, 1);
	for (i = 0; i < 10 * PGHOT_GAIN_FOLIOS; i++)
		pghot_use_add(&least, U32_MAX, 1, false);
	assert_int_equal(percent(most, least), PGHOT_GAIN_PERCENT_MAX);
	for (i = 0; i < 10 * PGHOT_GAIN_FOLIOS; i++) {
		pghot_use_add(&most, 0, 1UL << 18, true);
		pghot_use_add(&least, 60000, 1UL << 18, false);
	}
	assert_in_range(gain(most, least).least, 9000, PGHOT_GAIN_PERCENT_MAX);
	assert_in_range(gain(least, most).most, 0, 1);
}

TEST(old_pages_count_less)
{
	struct pghot_use use = {};
	unsigned int i;

	for (i = 0; i < 10000; i++)
		pghot_use_add(&use, 1, 1, true);
	for (i = 0; i < 10 * PGHOT_GAIN_FOLIOS; i++)
		pghot_use_add(&use, 1000, 1, true);
	assert_true(pghot_use_known(&use));
	assert_true(use.folios < 1000);
	assert_true(use.weight / use.folios < 1000);
}

/*
 * When a page is seen to be accessed that is once in @every ms: it is looked at after
 * 4, 8, 16 ms and so on, up to a second.
 */
static void watch(struct pghot_use *use, u32 every, u64 *seed)
{
	u32 ms, next = 4;

	for (ms = 0; ms < 1000; ms++) {
		if (ms == next)
			next *= 2;
		if (harness_random(seed) % every == 0)
			break;
	}
	pghot_use_add(use, min(next, 1000U), 1, ms < 1000);
}

/* In how many of a thousand rounds it seems to gain. */
static unsigned int gains(u32 came_every, u32 went_every)
{
	unsigned int i, round, n = 0;
	u64 seed = 1;

	for (round = 0; round < 1000; round++) {
		struct pghot_use came = {}, went = {};

		for (i = 0; i < PGHOT_GAIN_FOLIOS; i++) {
			watch(&came, came_every, &seed);
			watch(&went, went_every, &seed);
		}
		n += percent(came, went) >= PGHOT_GAIN_PERCENT;
	}
	return n;
}

/* Of two kinds that are alike one seems to be hotter by chance: not often. */
TEST(chance_makes_no_gain)
{
	u32 every;

	for (every = 4; every <= 4000; every *= 10)
		assert_in_range(gains(every, every), 0, 200);
	assert_int_equal(gains(400, 100), 0);
}

TEST(chance_hides_no_gain)
{
	assert_int_equal(gains(50, 200), 1000);
	assert_in_range(gains(100, 200), 900, 1000);
	assert_in_range(gains(400, 800), 900, 1000);
	assert_int_equal(gains(1000, 8000), 1000);
}

TEST(what_gains_is_not_slowed_down)
{
	struct pghot_speed pace = {};

	pghot_speed_judge(&pace, PGHOT_GAIN_PERCENT, FAST, 1000, WINDOW);
	assert_int_equal(pace.rate, 0);
	assert_int_equal(pace.wait_ms, 0);
}

TEST(each_loss_makes_it_an_eighth_down_to_the_least)
{
	struct pghot_speed pace = { .choosy = PGHOT_SPEED_CHOOSY };
	u64 want = FAST;

	do {
		/* It went as fast as it might, or faster: what was on its way. */
		pghot_speed_judge(&pace, 100, 2 * want, 2000, WINDOW);
		want = max(want / 8, (u64)LEAST);
		assert_int_equal(pace.rate, want);
	} while (want > LEAST);
	pghot_speed_judge(&pace, 0, FAST, 1000, WINDOW);
	assert_int_equal(pace.rate, LEAST);
}

TEST(tries_get_rarer_up_to_a_bound)
{
	struct pghot_speed pace = { .choosy = PGHOT_SPEED_CHOOSY };
	u32 want = WINDOW, i;

	for (i = 0; i < 10; i++) {
		pghot_speed_judge(&pace, 100, FAST, 1000, WINDOW);
		assert_int_equal(pace.wait_ms, want);
		want = min(2 * want, PGHOT_SPEED_WINDOWS * WINDOW);
	}
	pghot_speed_judge(&pace, 1000, FAST, 1000, WINDOW);
	assert_int_equal(pace.wait_ms, 0);
}

TEST(it_comes_back_to_what_it_was)
{
	struct pghot_speed pace = { .choosy = PGHOT_SPEED_CHOOSY };
	unsigned int i;

	for (i = 0; i < 10; i++)
		pghot_speed_judge(&pace, 100, pace.rate ?: FAST, 1000, WINDOW);
	for (i = 0; pace.rate; i++)
		pghot_speed_judge(&pace, 300, pace.rate, 1000, WINDOW);
	/* 100 MiB/s are 8^3 times the least, and some. */
	assert_int_equal(i, 4);
	pghot_speed_try(&pace);
	assert_int_equal(pace.rate, 0);
}

TEST(slow_promotion_is_not_made_faster_by_a_loss)
{
	struct pghot_speed pace = { .choosy = PGHOT_SPEED_CHOOSY };

	pghot_speed_judge(&pace, 100, 4096, 1000, WINDOW);
	assert_int_equal(pace.rate, LEAST);
	pghot_speed_try(&pace);
	assert_int_equal(pace.rate, 0);
	pghot_speed_judge(&pace, 100, 0, 0, WINDOW);
	assert_int_equal(pace.rate, LEAST);
}

/* Not while it is tried to take the hottest: they have to be found first. */
TEST(fewer_are_looked_for_as_promotion_slows_down)
{
	struct pghot_speed pace = {};
	u32 last = 0, i;

	while (pace.choosy < PGHOT_SPEED_CHOOSY) {
		pghot_speed_judge(&pace, 100, FAST, 1000, WINDOW);
		assert_int_equal(pghot_speed_held(&pace), 0);
	}
	for (i = 0; i < 10; i++) {
		pghot_speed_judge(&pace, 100, pace.rate ?: FAST, 1000, WINDOW);
		assert_in_range(pghot_speed_held(&pace), max(last, 3U),
				PGHOT_SPEED_HELD_MAX);
		last = pghot_speed_held(&pace);
	}
	assert_int_equal(last, PGHOT_SPEED_HELD_MAX);
	while (pace.rate)
		pghot_speed_try(&pace);
	assert_int_equal(pghot_speed_held(&pace), 0);
	/* So few came that there was nothing to slow down. */
	pghot_speed_judge(&pace, 100, 4096, 1000, WINDOW);
	assert_int_equal(pghot_speed_held(&pace), 0);
}

/* With the longest window, too, a bucket has to hold a page now and then. */
TEST(the_least_lets_a_page_through)
{
	struct pghot_speed pace = { .choosy = PGHOT_SPEED_CHOOSY };
	struct pghot_bucket bucket = {};
	unsigned int i;

	for (i = 0; i < 16; i++)
		pghot_speed_judge(&pace, 100, FAST, 1000, 60000);
	pghot_bucket_refill(&bucket, 0, pace.rate);
	pghot_bucket_refill(&bucket, 60000, pace.rate);
	assert_true(bucket.level >= 1000LL * 4096);
}

TEST(the_hottest_are_tried_first)
{
	struct pghot_speed pace = {};

	assert_int_equal(pghot_speed_threshold(&pace, 1000, 5), 1000);
	pghot_speed_judge(&pace, 100, FAST, 1000, WINDOW);
	assert_int_equal(pghot_speed_threshold(&pace, 1000, 5), 1000 >> 3);
	assert_int_equal(pace.rate, 0);
	pghot_speed_judge(&pace, 100, FAST, 1000, WINDOW);
	assert_int_equal(pghot_speed_threshold(&pace, 1000, 5), 1000 >> 6);
	assert_int_equal(pace.rate, 0);
	/* That was not it. */
	pghot_speed_judge(&pace, 100, FAST, 1000, WINDOW);
	assert_int_equal(pghot_speed_threshold(&pace, 1000, 5), 1000 >> 6);
	assert_true(pace.rate > 0);
	/* No less than the clock can tell, and no more than before. */
	assert_int_equal(pghot_speed_threshold(&pace, 50, 5), 5);
	assert_int_equal(pghot_speed_threshold(&pace, 3, 5), 3);
}

static u32 choosy_for(struct pghot_speed *pace, bool idle)
{
	u32 ms = 0;

	while (!pghot_speed_relax(pace, ms, idle, WINDOW))
		ms += WINDOW / 4;
	return ms;
}

/* Gain does not take back what it may come from; time does, by small steps. */
TEST(choice_outlasts_the_slowness)
{
	struct pghot_speed pace = {};
	u32 want = PGHOT_SPEED_CHOOSY, i;

	for (i = 0; i < 3; i++)
		pghot_speed_judge(&pace, 100, FAST, 1000, WINDOW);
	assert_true(pace.rate > 0);
	while (pace.rate)
		pghot_speed_judge(&pace, 300, FAST, 1000, WINDOW);
	pghot_speed_judge(&pace, 300, FAST, 1000, WINDOW);
	assert_int_equal(pace.choosy, want);
	while (want) {
		choosy_for(&pace, false);
		assert_int_equal(pace.choosy, --want);
	}
	assert_false(pghot_speed_relax(&pace, 100 * WINDOW, false, WINDOW));
}

/* What was a loss again and again is tried ever more rarely, but it is tried. */
TEST(choice_lasts_longer_from_loss_to_loss)
{
	struct pghot_speed pace = {};
	u32 windows;

	for (windows = PGHOT_SPEED_PATIENCE; windows <= PGHOT_SPEED_WINDOWS; windows *= 2) {
		pghot_speed_judge(&pace, 100, FAST, 1000, WINDOW);
		assert_int_equal(choosy_for(&pace, false), windows * WINDOW);
	}
	pghot_speed_judge(&pace, 100, FAST, 1000, WINDOW);
	assert_int_equal(choosy_for(&pace, false), PGHOT_SPEED_WINDOWS * WINDOW);
	/* Nothing is hot enough to come. */
	assert_int_equal(choosy_for(&pace, true), WINDOW);
	/* It gains without. */
	while (pace.choosy)
		choosy_for(&pace, true);
	pghot_speed_judge(&pace, 300, FAST, 1000, WINDOW);
	pghot_speed_judge(&pace, 100, FAST, 1000, WINDOW);
	assert_int_equal(choosy_for(&pace, false), PGHOT_SPEED_PATIENCE * WINDOW);
}

static bool early(struct pghot_use least, struct pghot_use went)
{
	return pghot_gain_early(&least, &went);
}

TEST(a_clear_gain_is_known_early)
{
	struct pghot_use went = used(64, 500, 0);

	assert_true(early(used(64, 8, 0), went));
	/* Those that are not accessed yet might never be. */
	assert_true(early(used(32, 8, 32), went));
	assert_false(early(used(8, 250, 248), went));
	/* Too few to say. */
	assert_false(early(used(20, 8, 20), went));
	assert_false(early(used(64, 8, 0), used(20, 500, 0)));
	/* It gains only if nobody uses all of what went. */
	assert_false(early(used(64, 8, 0), used_huge(64, 8, 0)));
}

TEST(what_is_held_back_at_its_source_goes_by_steps)
{
	assert_int_equal(pghot_held_judge(0, 100), 3);
	assert_int_equal(pghot_held_judge(3, 100), PGHOT_SPEED_HELD_MAX);
	assert_int_equal(pghot_held_judge(PGHOT_SPEED_HELD_MAX, 0), PGHOT_SPEED_HELD_MAX);
	assert_int_equal(pghot_held_judge(3, PGHOT_GAIN_AGAIN), PGHOT_SPEED_HELD_MAX);
	assert_int_equal(pghot_held_judge(3, PGHOT_CACHE_GAIN_PERCENT), 3);
	assert_int_equal(pghot_held_judge(0, PGHOT_CACHE_GAIN_PERCENT), 0);
	assert_int_equal(pghot_held_judge(PGHOT_SPEED_HELD_MAX, PGHOT_CACHE_GAIN_AGAIN), 2);
	assert_int_equal(pghot_held_judge(2, PGHOT_GAIN_PERCENT_MAX), 0);
}

UNIT_MAIN(
	cmocka_unit_test(alike_is_a_hundred_percent),
	cmocka_unit_test(who_is_accessed_ten_times_as_often_counts_three_times),
	cmocka_unit_test(what_nobody_accesses_is_worth_giving_away),
	cmocka_unit_test(few_that_are_hot_make_up_for_many),
	cmocka_unit_test(huge_beside_huge_is_as_small_beside_small),
	cmocka_unit_test(small_beside_huge_is_between_two_bounds),
	cmocka_unit_test(what_is_not_accessed_is_alike_in_any_size),
	cmocka_unit_test(huge_among_small_counts_as_some),
	cmocka_unit_test(it_is_bounded),
	cmocka_unit_test(old_pages_count_less),
	cmocka_unit_test(chance_makes_no_gain),
	cmocka_unit_test(chance_hides_no_gain),
	cmocka_unit_test(what_gains_is_not_slowed_down),
	cmocka_unit_test(each_loss_makes_it_an_eighth_down_to_the_least),
	cmocka_unit_test(tries_get_rarer_up_to_a_bound),
	cmocka_unit_test(it_comes_back_to_what_it_was),
	cmocka_unit_test(slow_promotion_is_not_made_faster_by_a_loss),
	cmocka_unit_test(fewer_are_looked_for_as_promotion_slows_down),
	cmocka_unit_test(the_least_lets_a_page_through),
	cmocka_unit_test(the_hottest_are_tried_first),
	cmocka_unit_test(choice_outlasts_the_slowness),
	cmocka_unit_test(choice_lasts_longer_from_loss_to_loss),
	cmocka_unit_test(a_clear_gain_is_known_early),
	cmocka_unit_test(what_is_held_back_at_its_source_goes_by_steps),
)
