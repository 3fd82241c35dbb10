// SPDX-License-Identifier: GPL-2.0
/* policy.c: the self-adjusting hot threshold and what a hint fault weighs. */
#include "unit.h"

#include <linux/limits.h>

#include "policy.h"

#define REF		1000
#define STEP		(REF * 2 / 16)
#define PERIOD		60000
/* 16384 pages a second are 983040 candidates a period. */
#define RATE		16384
#define WANT		(RATE * (PERIOD / 1000))

struct stepper {
	struct pghot_threshold t;
	u32 now;
	u64 candidates;
};

static struct stepper stepper_at(u32 now)
{
	struct stepper s = { .now = now };

	pghot_threshold_adjust(&s.t, now, 0, RATE, PERIOD, REF);
	return s;
}

/* A period with @new candidates; return the threshold after it. */
static u32 step(struct stepper *s, u64 new)
{
	s->now += PERIOD + 1;
	s->candidates += new;
	pghot_threshold_adjust(&s->t, s->now, s->candidates, RATE, PERIOD, REF);
	return pghot_threshold_ms(&s->t, REF);
}

TEST(starts_at_the_reference)
{
	struct pghot_threshold t = { };

	assert_int_equal(pghot_threshold_ms(&t, REF), REF);
	assert_int_equal(pghot_threshold_ms(&t, 17), 17);
	pghot_threshold_adjust(&t, 5, 1000000, RATE, PERIOD, REF);
	assert_int_equal(pghot_threshold_ms(&t, REF), REF);
}

TEST(too_many_candidates_lower_it)
{
	struct stepper s = stepper_at(0);

	assert_int_equal(step(&s, WANT * 11 / 10 + 1), REF - STEP);
	assert_int_equal(step(&s, U32_MAX), REF - 2 * STEP);
}

TEST(too_few_candidates_raise_it)
{
	struct stepper s = stepper_at(0);

	assert_int_equal(step(&s, WANT * 9 / 10 - 1), REF + STEP);
	assert_int_equal(step(&s, 0), REF + 2 * STEP);
}

TEST(within_a_tenth_it_stays)
{
	struct stepper s = stepper_at(0);

	assert_int_equal(step(&s, WANT), REF);
	assert_int_equal(step(&s, WANT * 11 / 10), REF);
	assert_int_equal(step(&s, WANT * 9 / 10), REF);
}

TEST(it_has_bounds)
{
	struct stepper s = stepper_at(0);
	int i;

	for (i = 0; i < 40; i++)
		step(&s, U32_MAX);
	assert_int_equal(s.t.ms, STEP);
	for (i = 0; i < 40; i++)
		step(&s, 0);
	assert_int_equal(s.t.ms, 2 * REF);
}

TEST(not_before_the_period_is_over)
{
	struct stepper s = stepper_at(0);

	pghot_threshold_adjust(&s.t, PERIOD, 0, RATE, PERIOD, REF);
	assert_int_equal(pghot_threshold_ms(&s.t, REF), REF);
	pghot_threshold_adjust(&s.t, PERIOD + 1, 0, RATE, PERIOD, REF);
	assert_int_equal(pghot_threshold_ms(&s.t, REF), REF + STEP);
}

TEST(each_period_counts_its_own_candidates)
{
	struct stepper s = stepper_at(0);

	assert_int_equal(step(&s, U32_MAX), REF - STEP);
	assert_int_equal(step(&s, WANT), REF - STEP);
	assert_int_equal(step(&s, 0), REF);
}

TEST(the_clock_wraps)
{
	struct stepper s = stepper_at(U32_MAX - 100);

	pghot_threshold_adjust(&s.t, 100, 0, RATE, PERIOD, REF);
	assert_int_equal(pghot_threshold_ms(&s.t, REF), REF);
	assert_int_equal(step(&s, 0), REF + STEP);
}

TEST(an_earlier_clock_changes_nothing)
{
	struct stepper s = stepper_at(1000);

	pghot_threshold_adjust(&s.t, 990, 0, RATE, PERIOD, REF);
	assert_int_equal(pghot_threshold_ms(&s.t, REF), REF);
	assert_int_equal(s.t.stamp_ms, 1000);
}

TEST(a_month_of_idling_is_a_period)
{
	struct stepper s = stepper_at(0);

	pghot_threshold_adjust(&s.t, 30U * 24 * 3600 * 1000, 0, RATE, PERIOD,
			       REF);
	assert_int_equal(pghot_threshold_ms(&s.t, REF), REF + STEP);
}

TEST(due_is_when_adjusting_does_something)
{
	static const u32 steps[] = {
		0, 1, PERIOD, PERIOD + 1, 1U << 31, U32_MAX - 2000, U32_MAX,
	};
	unsigned int i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct stepper s = stepper_at(5000);
		u32 now = 5000 + steps[i];
		bool due = pghot_threshold_due(&s.t, now, PERIOD);

		pghot_threshold_adjust(&s.t, now, 0, RATE, PERIOD, REF);
		assert_int_equal(due, s.t.stamp_ms != 5000);
		assert_int_equal(due, steps[i] > PERIOD &&
				      steps[i] != U32_MAX);
	}
}

TEST(due_before_it_was_ever_adjusted)
{
	struct pghot_threshold t = { };

	assert_true(pghot_threshold_due(&t, 0, PERIOD));
}

TEST(the_smallest_reference_still_moves)
{
	struct pghot_threshold t = { };

	pghot_threshold_adjust(&t, 0, 0, RATE, PERIOD, 1);
	pghot_threshold_adjust(&t, PERIOD + 1, 0, RATE, PERIOD, 1);
	assert_int_equal(pghot_threshold_ms(&t, 1), 2);
	pghot_threshold_adjust(&t, 2 * (PERIOD + 1), U32_MAX, RATE, PERIOD, 1);
	assert_int_equal(pghot_threshold_ms(&t, 1), 1);
	pghot_threshold_adjust(&t, 3 * (PERIOD + 1), 2ULL * U32_MAX, RATE,
			       PERIOD, 1);
	assert_int_equal(pghot_threshold_ms(&t, 1), 1);
}

TEST(what_stock_promotes_is_ready_at_once)
{
	u32 threshold;

	for (threshold = 1; threshold <= 127; threshold++)
		assert_int_equal(pghot_fault_weight(REF - 1, REF, REF,
						    threshold, false),
				 threshold);
}

TEST(a_slow_fault_is_one_access)
{
	assert_int_equal(pghot_fault_weight(REF, REF, REF, 3, false), 1);
	assert_int_equal(pghot_fault_weight(U32_MAX, 2 * REF, REF, 3, false),
			 1);
}

TEST(a_slow_fault_says_nothing_under_pressure)
{
	assert_int_equal(pghot_fault_weight(REF, REF - 1, REF, 3, false), 0);
	assert_int_equal(pghot_fault_weight(REF - 2, REF - 1, REF, 3, false),
			 3);
}

TEST(with_room_every_fault_counts_in_full)
{
	assert_int_equal(pghot_fault_weight(U32_MAX, 1, REF, 3, true), 3);
}

UNIT_MAIN(
	cmocka_unit_test(starts_at_the_reference),
	cmocka_unit_test(too_many_candidates_lower_it),
	cmocka_unit_test(too_few_candidates_raise_it),
	cmocka_unit_test(within_a_tenth_it_stays),
	cmocka_unit_test(it_has_bounds),
	cmocka_unit_test(not_before_the_period_is_over),
	cmocka_unit_test(each_period_counts_its_own_candidates),
	cmocka_unit_test(the_clock_wraps),
	cmocka_unit_test(an_earlier_clock_changes_nothing),
	cmocka_unit_test(a_month_of_idling_is_a_period),
	cmocka_unit_test(due_is_when_adjusting_does_something),
	cmocka_unit_test(due_before_it_was_ever_adjusted),
	cmocka_unit_test(the_smallest_reference_still_moves),
	cmocka_unit_test(what_stock_promotes_is_ready_at_once),
	cmocka_unit_test(a_slow_fault_is_one_access),
	cmocka_unit_test(a_slow_fault_says_nothing_under_pressure),
	cmocka_unit_test(with_room_every_fault_counts_in_full),
)
