// SPDX-License-Identifier: GPL-2.0
/* policy.c: the token bucket and who goes first. */
#include "unit.h"

#include <linux/limits.h>

#include "policy.h"

#define MIB		(1ULL << 20)
#define HUGE_PAGE	(2 * MIB)
#define RATE_MAX	(PGHOT_RATE_MBPS_MAX * MIB)

static struct pghot_bucket bucket_at(u32 now_ms, u64 rate)
{
	struct pghot_bucket b = { };

	pghot_bucket_refill(&b, now_ms, rate);
	return b;
}

/* Take pages of @bytes until refused; return the sum. */
static u64 drain(struct pghot_bucket *b, u64 bytes)
{
	u64 sum = 0;

	while (pghot_bucket_take(b, bytes))
		sum += bytes;
	return sum;
}

TEST(a_new_bucket_is_full)
{
	struct pghot_bucket b = bucket_at(12345, 4 * MIB);

	assert_int_equal(drain(&b, 4096), MIB);
}

TEST(an_unfilled_bucket_lets_nothing_through)
{
	struct pghot_bucket b = { };

	assert_false(pghot_bucket_take(&b, 4096));
}

TEST(time_earns_tokens)
{
	struct pghot_bucket b = bucket_at(0, 4096 * 1000);
	u32 ms;
	u64 sum = 0;

	drain(&b, 4096);
	for (ms = 1; ms <= 1000; ms++) {
		pghot_bucket_refill(&b, ms, 4096 * 1000);
		sum += drain(&b, 4096);
	}
	assert_int_equal(sum, 4096 * 1000);
}

TEST(slow_rates_lose_no_fraction)
{
	/* A byte a millisecond and a bit: 1001 bytes a second. */
	struct pghot_bucket b = bucket_at(0, 1001);
	u64 sum = 0;
	u32 ms;

	drain(&b, 1);
	for (ms = 1; ms <= 10000; ms++) {
		pghot_bucket_refill(&b, ms, 1001);
		sum += drain(&b, 1);
	}
	assert_in_range(sum, 10009, 10011);
}

TEST(the_burst_is_bounded)
{
	struct pghot_bucket b = bucket_at(0, 4 * MIB);

	pghot_bucket_refill(&b, 100000, 4 * MIB);
	assert_int_equal(drain(&b, 4096), MIB);
}

TEST(a_huge_page_passes_a_small_rate_and_leaves_a_debt)
{
	struct pghot_bucket b = bucket_at(0, MIB);
	u32 wait;

	assert_true(pghot_bucket_take(&b, HUGE_PAGE));
	assert_false(pghot_bucket_take(&b, 4096));
	wait = pghot_bucket_wait_ms(&b, MIB);
	/* 2 MiB less the burst of 256 KiB, at 1 MiB/s. */
	assert_in_range(wait, 1750, 1751);
	pghot_bucket_refill(&b, wait - 1, MIB);
	assert_false(pghot_bucket_take(&b, 4096));
	pghot_bucket_refill(&b, wait, MIB);
	assert_true(pghot_bucket_take(&b, 4096));
}

TEST(returned_tokens_can_be_taken_again)
{
	struct pghot_bucket b = bucket_at(0, 4 * MIB);
	s64 level = b.level;

	assert_true(pghot_bucket_take(&b, HUGE_PAGE));
	assert_false(pghot_bucket_take(&b, 1));
	pghot_bucket_return(&b, HUGE_PAGE);
	assert_int_equal(b.level, level);
}

TEST(zero_rate_lets_nothing_through)
{
	struct pghot_bucket b = bucket_at(0, 0);

	assert_false(pghot_bucket_take(&b, 1));
	pghot_bucket_refill(&b, 1000000, 0);
	assert_false(pghot_bucket_take(&b, 1));
	assert_int_equal(pghot_bucket_wait_ms(&b, 0), U32_MAX);
}

TEST(a_rate_set_to_zero_stops_at_once)
{
	struct pghot_bucket b = bucket_at(0, 4 * MIB);

	pghot_bucket_refill(&b, 0, 0);
	assert_false(pghot_bucket_take(&b, 1));
}

TEST(a_lowered_rate_lowers_the_level_at_once)
{
	struct pghot_bucket b = bucket_at(0, 400 * MIB);

	pghot_bucket_refill(&b, 0, 4 * MIB);
	assert_int_equal(drain(&b, 4096), MIB);
}

TEST(a_raised_rate_counts_from_now)
{
	struct pghot_bucket b = bucket_at(0, 4 * MIB);

	drain(&b, 4096);
	pghot_bucket_refill(&b, 10, 400 * MIB);
	assert_int_equal(drain(&b, 4096), 4 * MIB);
}

TEST(no_wait_while_there_are_tokens)
{
	struct pghot_bucket b = bucket_at(0, MIB);

	assert_int_equal(pghot_bucket_wait_ms(&b, MIB), 0);
	assert_int_equal(pghot_bucket_wait_ms(&b, 0), 0);
}

TEST(wait_is_exact)
{
	u64 rate;

	for (rate = 1; rate < 100000; rate = rate * 3 + 1) {
		struct pghot_bucket b = bucket_at(0, rate);
		u32 wait;

		assert_true(pghot_bucket_take(&b, 5000));
		wait = pghot_bucket_wait_ms(&b, rate);
		if (!wait)
			continue;
		pghot_bucket_refill(&b, wait - 1, rate);
		assert_true(b.level <= 0);
		pghot_bucket_refill(&b, wait, rate);
		assert_true(b.level > 0);
	}
}

TEST(the_clock_wraps)
{
	struct pghot_bucket b = bucket_at(U32_MAX - 4, 4096 * 1000);

	drain(&b, 4096);
	pghot_bucket_refill(&b, 5, 4096 * 1000);
	assert_int_equal(drain(&b, 4096), 10 * 4096);
}

TEST(an_earlier_clock_earns_nothing)
{
	struct pghot_bucket b = bucket_at(1000, MIB);

	drain(&b, 4096);
	pghot_bucket_refill(&b, 990, MIB);
	assert_false(pghot_bucket_take(&b, 1));
	/* And what it did not earn is not earned twice. */
	pghot_bucket_refill(&b, 1000, MIB);
	assert_false(pghot_bucket_take(&b, 1));
}

TEST(a_bucket_unused_for_a_month_fills)
{
	struct pghot_bucket b = bucket_at(0, MIB);

	assert_true(pghot_bucket_take(&b, HUGE_PAGE));
	pghot_bucket_refill(&b, 30U * 24 * 3600 * 1000, MIB);
	assert_true(pghot_bucket_take(&b, 4096));
}

TEST(the_highest_rate_does_not_overflow)
{
	struct pghot_bucket b = bucket_at(0, RATE_MAX);

	assert_int_equal(drain(&b, 512 * HUGE_PAGE), RATE_MAX / 4);
	pghot_bucket_refill(&b, S32_MAX, RATE_MAX);
	assert_int_equal(drain(&b, 512 * HUGE_PAGE), RATE_MAX / 4);
}

TEST(hottest_first)
{
	unsigned long hist[PGHOT_CLASSES] = { 100, 50, 0, 20, 0, 0, 3, 2 };

	assert_int_equal(pghot_min_class(hist, 0), 7);
	assert_int_equal(pghot_min_class(hist, 1), 7);
	assert_int_equal(pghot_min_class(hist, 2), 7);
	assert_int_equal(pghot_min_class(hist, 3), 6);
	assert_int_equal(pghot_min_class(hist, 5), 6);
	assert_int_equal(pghot_min_class(hist, 6), 3);
	assert_int_equal(pghot_min_class(hist, 25), 3);
	assert_int_equal(pghot_min_class(hist, 26), 1);
	assert_int_equal(pghot_min_class(hist, 75), 1);
	assert_int_equal(pghot_min_class(hist, 76), 0);
	assert_int_equal(pghot_min_class(hist, ULONG_MAX), 0);
}

TEST(nobody_ready_lets_everyone_go)
{
	unsigned long hist[PGHOT_CLASSES] = { 0 };

	assert_int_equal(pghot_min_class(hist, 1), 0);
}

UNIT_MAIN(
	cmocka_unit_test(a_new_bucket_is_full),
	cmocka_unit_test(an_unfilled_bucket_lets_nothing_through),
	cmocka_unit_test(time_earns_tokens),
	cmocka_unit_test(slow_rates_lose_no_fraction),
	cmocka_unit_test(the_burst_is_bounded),
	cmocka_unit_test(a_huge_page_passes_a_small_rate_and_leaves_a_debt),
	cmocka_unit_test(returned_tokens_can_be_taken_again),
	cmocka_unit_test(zero_rate_lets_nothing_through),
	cmocka_unit_test(a_rate_set_to_zero_stops_at_once),
	cmocka_unit_test(a_lowered_rate_lowers_the_level_at_once),
	cmocka_unit_test(a_raised_rate_counts_from_now),
	cmocka_unit_test(no_wait_while_there_are_tokens),
	cmocka_unit_test(wait_is_exact),
	cmocka_unit_test(the_clock_wraps),
	cmocka_unit_test(an_earlier_clock_earns_nothing),
	cmocka_unit_test(a_bucket_unused_for_a_month_fills),
	cmocka_unit_test(the_highest_rate_does_not_overflow),
	cmocka_unit_test(hottest_first),
	cmocka_unit_test(nobody_ready_lets_everyone_go),
)
