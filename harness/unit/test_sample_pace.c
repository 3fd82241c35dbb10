// SPDX-License-Identifier: GPL-2.0
/* source/sample_pace.c: how often the hardware samples, and what a sample is worth. */
#include "unit.h"

#include <linux/limits.h>

#include "source/sample_pace.h"

#define MS		1000000ULL
#define LOOK		(100 * MS)
#define PERMILLE	PGHOT_SAMPLE_PERMILLE

static struct pghot_sample_pace pace_of(u32 period)
{
	return (struct pghot_sample_pace) {
		.period = period, .min = 256, .max = 0x7fffff0,
	};
}

/* A CPU that executes @ops in a look and whose samples cost @ns each: a look. */
static void look(struct pghot_sample_pace *p, u64 ops, u64 ns, unsigned int tracked_in)
{
	struct pghot_sample_round r = { .elapsed_ns = LOOK };

	r.samples = ops / p->period;
	r.spent_ns = r.samples * ns;
	r.tracked = tracked_in ? r.samples / tracked_in : 0;
	pghot_sample_follow(p, &r, PERMILLE);
}

TEST(the_budget_is_met_and_used)
{
	u64 ops, ns;

	for (ops = 1000000; ops <= 300000000; ops *= 3)
		for (ns = 500; ns <= 8000; ns *= 2) {
			struct pghot_sample_pace p = pace_of(65536);
			u64 spent, allowed = LOOK * PERMILLE / 1000;
			int i;

			for (i = 0; i < 40; i++)
				look(&p, ops, ns, 2);
			spent = ops / p.period * ns;
			assert_true(spent <= allowed + ns);
			if (p.period > p.min)
				assert_true(spent + 2 * ns >= allowed * 9 / 10);
		}
}

TEST(too_much_is_mended_at_once)
{
	struct pghot_sample_pace p = pace_of(256);

	/* A hundred times what it may. */
	look(&p, 256ULL * 12500, 4000, 1);
	assert_in_range(p.period, 256 * 95, 256 * 105);
}

TEST(too_little_is_mended_by_half_at_most)
{
	struct pghot_sample_pace p = pace_of(1 << 20);
	int i;

	for (i = 1; i <= 5; i++) {
		look(&p, 2 << 20, 1000, 1);
		assert_int_equal(p.period, (1 << 20) >> i);
	}
}

TEST(who_spent_nothing_says_nothing)
{
	struct pghot_sample_pace p = pace_of(65536);

	look(&p, 0, 1000, 0);
	assert_int_equal(p.period, 65536);
	assert_int_equal(p.level, 0);
}

TEST(it_stays_within_bounds)
{
	struct pghot_sample_pace p = pace_of(65536);
	struct pghot_sample_round r = {
		.elapsed_ns = LOOK, .spent_ns = U64_MAX / 2, .samples = 100, .tracked = 100,
	};
	int i;

	pghot_sample_follow(&p, &r, PERMILLE);
	assert_int_equal(p.period, p.max);
	r.spent_ns = 1;
	for (i = 0; i < 64; i++)
		pghot_sample_follow(&p, &r, PERMILLE);
	assert_int_equal(p.period, p.min);
	/* No time has passed. */
	r.elapsed_ns = 0;
	pghot_sample_follow(&p, &r, PERMILLE);
	assert_in_range(p.period, p.min, p.max);
}

TEST(samples_that_are_of_no_use_cost_ever_less)
{
	struct pghot_sample_pace p = pace_of(65536);
	int i;

	for (i = 0; i < 60; i++)
		look(&p, 100000000, 4000, 0);
	/* What so few of them find says no more. */
	assert_in_range(p.level, 3, PGHOT_SAMPLE_SLOWEST);
	assert_true(100000000 / p.period * 4000 <= LOOK * PERMILLE / 1000 / 8 + 4000);
	/* One that is, and all of the budget is there again. */
	look(&p, 100000000, 4000, 1);
	assert_int_equal(p.level, 0);
}

TEST(what_nobody_promotes_costs_less)
{
	struct pghot_sample_pace p = pace_of(65536);
	struct pghot_sample_round r = {
		.elapsed_ns = LOOK, .spent_ns = MS, .samples = 100, .tracked = 100,
		.held = true,
	};
	u32 i;

	for (i = 1; i < 2 * PGHOT_SAMPLE_SLOWEST; i++) {
		pghot_sample_follow(&p, &r, PERMILLE);
		assert_int_equal(p.level, i < PGHOT_SAMPLE_SLOWEST ? i : PGHOT_SAMPLE_SLOWEST);
	}
	r.held = false;
	pghot_sample_follow(&p, &r, PERMILLE);
	assert_int_equal(p.level, 0);
}

/*
 * Looks that come so often that a sample costs more than there is from one to the next. CPUs
 * that miss all the time are sampled as often as the budget says, and not ever more rarely.
 */
TEST(one_sample_says_nothing_of_the_budget)
{
	const u64 look_ns = 5 * MS, cost = 4000, ops = 5000000;
	struct pghot_sample_pace p = pace_of(2048);
	struct pghot_sample_round r = {};
	u64 done = 0, spent = 0, level;
	int i;

	for (level = 0; level <= PGHOT_SAMPLE_SLOWEST; level += 3) {
		u64 allowed, looks = 20000;

		p.level = level;
		for (i = -5000; i < (int)looks; i++) {
			u64 samples = (done + ops) / p.period;

			done = (done + ops) % p.period;
			r.elapsed_ns += look_ns;
			r.spent_ns += samples * cost;
			spent = i < 0 ? 0 : spent + samples * cost;
			/* Who is held back stays so; what is not says nothing of its level. */
			if (pghot_sample_follow(&p, &r, PERMILLE))
				r = (struct pghot_sample_round) {};
			assert_int_equal(p.level, level);
		}
		allowed = pghot_sample_allowed_ns(&p, looks * look_ns, PERMILLE);
		assert_true(spent >= allowed * 3 / 4 && spent <= allowed * 5 / 4);
	}
}

TEST(two_samples_are_enough_and_one_is_not)
{
	u32 freq;

	for (freq = 2; freq <= 127; freq++) {
		u32 weight = pghot_sample_weight(65536, freq, false);

		assert_true(weight < freq);
		assert_true(2 * weight >= freq);
		/* With a short period each stands for hardly more than itself. */
		assert_int_equal(pghot_sample_weight(256, freq, false), 1);
		/* Where there is plenty of room one is. */
		assert_int_equal(pghot_sample_weight(65536, freq, true), freq);
		assert_int_equal(pghot_sample_weight(256, freq, true), freq);
	}
	/* Who says that one access is enough has that. */
	assert_int_equal(pghot_sample_weight(65536, 1, false), 1);
}

UNIT_MAIN(
	cmocka_unit_test(the_budget_is_met_and_used),
	cmocka_unit_test(too_much_is_mended_at_once),
	cmocka_unit_test(too_little_is_mended_by_half_at_most),
	cmocka_unit_test(who_spent_nothing_says_nothing),
	cmocka_unit_test(it_stays_within_bounds),
	cmocka_unit_test(samples_that_are_of_no_use_cost_ever_less),
	cmocka_unit_test(what_nobody_promotes_costs_less),
	cmocka_unit_test(one_sample_says_nothing_of_the_budget),
	cmocka_unit_test(two_samples_are_enough_and_one_is_not),
)
