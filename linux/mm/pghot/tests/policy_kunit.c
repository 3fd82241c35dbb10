// SPDX-License-Identifier: GPL-2.0
/* Tests of policy.c: rate limit, weight of a fault, classes. */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/sizes.h>

#include "../policy.h"

#define RATE		(100ULL * SZ_1M)	/* bytes a second */
#define BURST		(RATE * PGHOT_BURST_MS / 1000)
#define PER_BYTE	1000

static struct pghot_bucket full_bucket(u32 now_ms, u64 rate)
{
	struct pghot_bucket b = { };

	pghot_bucket_refill(&b, now_ms, rate);
	return b;
}

static void bucket_starts_full_and_no_fuller(struct kunit *test)
{
	struct pghot_bucket b = full_bucket(5000, RATE);

	KUNIT_EXPECT_EQ(test, b.level, BURST * PER_BYTE);
	pghot_bucket_refill(&b, 5000 + 3600 * 1000, RATE);
	KUNIT_EXPECT_EQ(test, b.level, BURST * PER_BYTE);
}

static void bucket_earns_by_the_millisecond(struct kunit *test)
{
	struct pghot_bucket b = full_bucket(5000, RATE);

	KUNIT_EXPECT_TRUE(test, pghot_bucket_take(&b, BURST));
	KUNIT_EXPECT_EQ(test, b.level, 0);
	pghot_bucket_refill(&b, 5000, RATE);
	KUNIT_EXPECT_EQ(test, b.level, 0);
	pghot_bucket_refill(&b, 5001, RATE);
	KUNIT_EXPECT_EQ(test, b.level, RATE);
	pghot_bucket_refill(&b, 5010, RATE);
	KUNIT_EXPECT_EQ(test, b.level, 10 * RATE);
}

static void huge_page_passes_and_leaves_a_debt(struct kunit *test)
{
	const u64 slow = SZ_1M;		/* a huge page takes two seconds */
	struct pghot_bucket b = full_bucket(0, slow);
	u32 wait;

	KUNIT_EXPECT_TRUE(test, pghot_bucket_take(&b, SZ_2M));
	KUNIT_EXPECT_LT(test, b.level, 0);
	KUNIT_EXPECT_FALSE(test, pghot_bucket_take(&b, SZ_4K));
	wait = pghot_bucket_wait_ms(&b, slow);
	KUNIT_EXPECT_EQ(test, wait, 2000 - PGHOT_BURST_MS + 1);

	pghot_bucket_refill(&b, wait - 1, slow);
	KUNIT_EXPECT_FALSE(test, pghot_bucket_take(&b, SZ_4K));
	pghot_bucket_refill(&b, wait, slow);
	KUNIT_EXPECT_EQ(test, pghot_bucket_wait_ms(&b, slow), 0);
	KUNIT_EXPECT_TRUE(test, pghot_bucket_take(&b, SZ_4K));
}

static void bucket_takes_back(struct kunit *test)
{
	struct pghot_bucket b = full_bucket(0, RATE);
	s64 before = b.level;

	pghot_bucket_take(&b, SZ_2M);
	pghot_bucket_return(&b, SZ_2M);
	KUNIT_EXPECT_EQ(test, b.level, before);
}

static void zero_rate_lets_nothing_through(struct kunit *test)
{
	struct pghot_bucket b = full_bucket(0, 0);

	KUNIT_EXPECT_FALSE(test, pghot_bucket_take(&b, 1));
	KUNIT_EXPECT_EQ(test, pghot_bucket_wait_ms(&b, 0), U32_MAX);
	pghot_bucket_refill(&b, 1000 * 1000, 0);
	KUNIT_EXPECT_FALSE(test, pghot_bucket_take(&b, 1));
	/* Set while the bucket is full, it takes effect at once. */
	b = full_bucket(0, RATE);
	pghot_bucket_refill(&b, 0, 0);
	KUNIT_EXPECT_FALSE(test, pghot_bucket_take(&b, 1));
}

static void highest_rate_does_not_overflow(struct kunit *test)
{
	const u64 rate = (u64)PGHOT_RATE_MBPS_MAX * SZ_1M;
	struct pghot_bucket b = full_bucket(0, rate);
	const s64 full = b.level;

	KUNIT_EXPECT_GT(test, full, 0);
	/* The longest time that does not count as a clock behind. */
	pghot_bucket_refill(&b, U32_MAX - 1001, rate);
	KUNIT_EXPECT_EQ(test, b.level, full);
	KUNIT_EXPECT_TRUE(test, pghot_bucket_take(&b, SZ_1G));
	KUNIT_EXPECT_LT(test, b.level, full);
	KUNIT_EXPECT_EQ(test, pghot_bucket_wait_ms(&b, rate), 0);
}

static void bucket_survives_the_clock(struct kunit *test)
{
	struct pghot_bucket b = full_bucket(U32_MAX - 4, RATE);

	pghot_bucket_take(&b, BURST);
	/* 10 ms that cross the end of the clock's range. */
	pghot_bucket_refill(&b, 5, RATE);
	KUNIT_EXPECT_EQ(test, b.level, 10 * RATE);
	/* Another CPU's clock is a little behind. */
	pghot_bucket_refill(&b, 2, RATE);
	KUNIT_EXPECT_EQ(test, b.level, 10 * RATE);
	pghot_bucket_refill(&b, 6, RATE);
	KUNIT_EXPECT_EQ(test, b.level, 11 * RATE);
}

static void long_run_keeps_to_the_rate(struct kunit *test)
{
	const u32 seconds = 10;
	struct pghot_bucket b = { };
	u64 moved = 0;
	u32 now;

	for (now = 0; now <= seconds * 1000; now += 50) {
		pghot_bucket_refill(&b, now, RATE);
		while (pghot_bucket_take(&b, SZ_64K))
			moved += SZ_64K;
	}
	KUNIT_EXPECT_GE(test, moved, seconds * RATE);
	KUNIT_EXPECT_LE(test, moved, seconds * RATE + BURST + SZ_64K);
}

static void fault_weighs_what_it_says(struct kunit *test)
{
	/* Faster than the threshold: hot at once, as in the stock kernel. */
	KUNIT_EXPECT_EQ(test, pghot_fault_weight(999, 1000, 1000, 3, false), 3);
	KUNIT_EXPECT_EQ(test, pghot_fault_weight(1999, 2000, 1000, 2, false), 2);
	/* Slower: an access like any other. */
	KUNIT_EXPECT_EQ(test, pghot_fault_weight(1000, 1000, 1000, 3, false), 1);
	KUNIT_EXPECT_EQ(test, pghot_fault_weight(U32_MAX, 2000, 1000, 3, false),
			1);
	/* Slower, where there are too many candidates: no evidence. */
	KUNIT_EXPECT_EQ(test, pghot_fault_weight(900, 875, 1000, 3, false), 0);
	KUNIT_EXPECT_EQ(test, pghot_fault_weight(800, 875, 1000, 3, false), 3);
	/* Plenty of room: whatever is accessed may come. */
	KUNIT_EXPECT_EQ(test, pghot_fault_weight(U32_MAX, 875, 1000, 3, true),
			3);
}

static void hottest_classes_go_first(struct kunit *test)
{
	static const unsigned long none[PGHOT_CLASSES];
	static const unsigned long hist[PGHOT_CLASSES] = {
		100, 50, 0, 0, 20, 0, 0, 10,
	};

	KUNIT_EXPECT_EQ(test, pghot_min_class(hist, 1), 7);
	KUNIT_EXPECT_EQ(test, pghot_min_class(hist, 10), 7);
	KUNIT_EXPECT_EQ(test, pghot_min_class(hist, 11), 4);
	KUNIT_EXPECT_EQ(test, pghot_min_class(hist, 30), 4);
	KUNIT_EXPECT_EQ(test, pghot_min_class(hist, 31), 1);
	KUNIT_EXPECT_EQ(test, pghot_min_class(hist, 80), 1);
	KUNIT_EXPECT_EQ(test, pghot_min_class(hist, 81), 0);
	KUNIT_EXPECT_EQ(test, pghot_min_class(hist, ULONG_MAX), 0);
	KUNIT_EXPECT_EQ(test, pghot_min_class(none, 1), 0);
}

static struct kunit_case policy_cases[] = {
	KUNIT_CASE(bucket_starts_full_and_no_fuller),
	KUNIT_CASE(bucket_earns_by_the_millisecond),
	KUNIT_CASE(huge_page_passes_and_leaves_a_debt),
	KUNIT_CASE(bucket_takes_back),
	KUNIT_CASE(zero_rate_lets_nothing_through),
	KUNIT_CASE(highest_rate_does_not_overflow),
	KUNIT_CASE(bucket_survives_the_clock),
	KUNIT_CASE(long_run_keeps_to_the_rate),
	KUNIT_CASE(fault_weighs_what_it_says),
	KUNIT_CASE(hottest_classes_go_first),
	{ }
};

static struct kunit_suite policy_suite = {
	.name = "pghot_policy",
	.test_cases = policy_cases,
};

kunit_test_suite(policy_suite);
