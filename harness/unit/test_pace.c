// SPDX-License-Identifier: GPL-2.0
/* source/pace.c: how often page tables are looked at. */
#include "unit.h"

#include <linux/limits.h>
#include <linux/minmax.h>

#include "source/pace.h"
#include "source/tally.h"

#define WINDOW	PGHOT_WINDOW_MS
#define FREQ	PGHOT_FREQ_THRESHOLD
#define LOOKED	10240
/* So that all looks, an eighth late each, fall into a window. */
#define LONGEST	(WINDOW * 7 / 8 / (FREQ + 1))

static u32 period(u32 level)
{
	struct pghot_pace p = { .level = level };

	return pghot_pace_period_ms(&p, WINDOW, FREQ);
}

static u32 once(u32 level, bool more)
{
	struct pghot_pace p = { .level = level };

	return pghot_pace_once_ms(&p, WINDOW, FREQ, more);
}

static u32 rest(u32 level, u32 owed_ms)
{
	struct pghot_pace p = { .level = level };

	return pghot_pace_rest_ms(&p, WINDOW, owed_ms);
}

/* The level after a round that was a whole pass. */
static u32 after(u32 level, unsigned long fresh, bool held)
{
	struct pghot_pace p = { .level = level };
	struct pghot_pace_round r = {
		.looked = LOOKED, .fresh = fresh, .held = held, .passed = true,
	};

	pghot_pace_follow(&p, &r);
	return p.level;
}

TEST(all_looks_of_a_round_fall_into_a_window)
{
	struct pghot_pace p = { };
	u32 freq, window;

	for (p.level = 0; p.level <= PGHOT_PACE_SLOWEST; p.level++)
		for (freq = 1; freq <= 127; freq++)
			for (window = PGHOT_WINDOW_MS_MIN;
			     window <= PGHOT_WINDOW_MS_MAX; window += 1237) {
				u32 ms = pghot_pace_period_ms(&p, window, freq);

				if (window > freq)
					assert_true(ms * pghot_pace_looks(freq) <= window);
				assert_true(ms >= 1);
				ms = pghot_pace_once_ms(&p, window, freq, false);
				if (window > freq)
					assert_true(ms <= window);
			}
}

/* As late as timers are: else the same would be found in more than a window, for ever. */
TEST(what_two_looks_of_three_find_is_hot_at_any_pace)
{
	struct pghot_pace p = { };

	for (p.level = 0; p.level <= PGHOT_PACE_SLOWEST; p.level++) {
		u32 ms = pghot_pace_period_ms(&p, WINDOW, FREQ);
		u32 took = pghot_pace_looks(FREQ) * (ms + ms / 8 + 1);

		assert_int_equal(pghot_evidence_weight(PGHOT_COUNTS, FREQ, took, WINDOW, FREQ),
				 FREQ);
	}
}

TEST(it_takes_no_more_looks_than_are_counted)
{
	assert_int_equal(pghot_pace_looks(1), 2);
	assert_int_equal(pghot_pace_looks(2), 3);
	assert_int_equal(pghot_pace_looks(127), PGHOT_TALLY_MAX);
}

/* Each has counted that it is accessed as often as makes it ready, and no more than that. */
TEST(what_each_look_finds_is_reported_before_the_last)
{
	u32 freq, look, looks;

	for (freq = 1; freq <= 127; freq++) {
		looks = pghot_pace_looks(freq);
		assert_int_equal(pghot_pace_least(looks, freq), 1);
		for (look = 1; look < looks; look++)
			assert_int_equal(pghot_pace_least(look, freq),
					 look == looks - 1 && look >= freq ? freq : 0);
	}
}

TEST(the_period_doubles_and_then_the_scan_rests)
{
	u32 level;

	assert_int_equal(period(0), WINDOW / PGHOT_PACE_PART);
	for (level = 1; level < PGHOT_PACE_RESTS; level++) {
		assert_true(period(level) == 2 * period(level - 1) ||
			    period(level) == LONGEST);
		assert_int_equal(rest(level, 0), 0);
	}
	assert_int_equal(period(PGHOT_PACE_RESTS), LONGEST);
	assert_int_equal(rest(PGHOT_PACE_RESTS, 0), WINDOW);
	assert_int_equal(rest(PGHOT_PACE_SLOWEST, 0), 4 * WINDOW);
}

TEST(a_pass_that_finds_nothing_makes_it_slower)
{
	u32 level;

	for (level = 0; level < PGHOT_PACE_SLOWEST; level++)
		assert_int_equal(after(level, 0, false), level + 1);
	assert_int_equal(after(level, 0, false), level);
}

TEST(what_is_found_makes_it_faster)
{
	assert_int_equal(after(8, LOOKED, false), 4);
	assert_int_equal(after(4, LOOKED, false), 2);
	assert_int_equal(after(1, LOOKED, false), 0);
	assert_int_equal(after(0, LOOKED, false), 0);
}

TEST(it_is_no_faster_than_the_least)
{
	struct pghot_pace p = { .level = PGHOT_PACE_SLOWEST, .least = 2 };
	struct pghot_pace_round r = { .looked = 1024, .fresh = 512, .passed = true };
	int i;

	for (i = 0; i < 10; i++)
		pghot_pace_follow(&p, &r);
	assert_int_equal(p.level, 2);
}

TEST(one_look_takes_the_time_of_all_and_is_none_of_the_shortest)
{
	u32 looks = pghot_pace_looks(FREQ), level;

	for (level = 0; level <= PGHOT_PACE_SLOWEST; level++) {
		assert_int_equal(once(level, false), looks * period(max(level, 2U)));
		assert_true(once(level, false) <= WINDOW);
		/* What waits for its turn waits no longer than with several looks. */
		assert_int_equal(once(level, true), looks * period(level));
	}
}

TEST(little_that_is_found_leaves_it)
{
	assert_int_equal(after(5, 1, false), 5);
	assert_int_equal(after(5, LOOKED / 1024, false), 5);
	assert_int_equal(after(5, LOOKED / 1024 + 1, false), 2);
}

TEST(what_nobody_promotes_makes_it_slower)
{
	struct pghot_pace p = { .level = 2 };
	struct pghot_pace_round r = {
		.looked = LOOKED, .fresh = LOOKED, .held = true,
	};

	assert_int_equal(after(3, LOOKED, true), 4);
	/* At once, and not when the pass ends. */
	pghot_pace_follow(&p, &r);
	assert_int_equal(p.level, 3);
}

/* Of what became ready 100 folios were promoted, and 1,000 stay. */
TEST(what_stays_makes_those_slower_who_found_it)
{
	struct pghot_pace_round r = { .looked = LOOKED, .moved = 100, .stayed = 1000 };
	struct pghot_pace p = { .level = 3 };

	/* It may be what others found. */
	r.fresh = r.own = 100;
	pghot_pace_follow(&p, &r);
	assert_int_equal(p.level, 1);
	/* In this round and some that were broken off before. */
	r.own = 101;
	pghot_pace_follow(&p, &r);
	assert_int_equal(p.level, 2);
	/* Most of it goes. */
	r.moved = 1000;
	r.fresh = r.own = 2000;
	pghot_pace_follow(&p, &r);
	assert_int_equal(p.level, 1);
}

/* One page is refused in each round, and now there are hot ones, which nobody has tried yet. */
TEST(a_page_that_stays_does_not_speak_for_those_just_found)
{
	struct pghot_pace_round r = {
		.looked = LOOKED, .fresh = 5000, .own = 5000, .stayed = 1,
	};
	struct pghot_pace p = { .level = 8 };

	pghot_pace_follow(&p, &r);
	assert_int_equal(p.level, 4);
	/* None of them went. */
	r.stayed = 5000;
	pghot_pace_follow(&p, &r);
	assert_int_equal(p.level, 5);
}

/* The counts are of different rounds, and a record may end in other ways: it is found stale, say. */
TEST(what_stays_need_not_be_all_that_was_found_before)
{
	struct pghot_pace_round r = { .looked = LOOKED };
	struct pghot_pace p = { };
	unsigned long found;

	for (found = 4950; p.level < PGHOT_PACE_SLOWEST; found = 10000 - found) {
		u32 level = p.level;

		r.fresh = r.own = found;
		r.stayed = (10000 - found) * 95 / 100;
		pghot_pace_follow(&p, &r);
		assert_int_equal(p.level, level + 1);
	}
}

TEST(only_a_whole_pass_says_that_there_is_nothing)
{
	struct pghot_pace p = { .level = 3 };
	struct pghot_pace_round r = { .looked = LOOKED };

	pghot_pace_follow(&p, &r);
	assert_int_equal(p.level, 3);
	/* Something was found in an earlier round of the pass. */
	r.fresh = 1;
	pghot_pace_follow(&p, &r);
	r.fresh = 0;
	r.passed = true;
	pghot_pace_follow(&p, &r);
	assert_int_equal(p.level, 3);
	/* That was the last pass; this one has none. */
	pghot_pace_follow(&p, &r);
	assert_int_equal(p.level, 4);
}

TEST(a_budget_that_is_used_up_makes_it_rest)
{
	assert_int_equal(rest(0, 9999), 9999);
	assert_int_equal(rest(PGHOT_PACE_SLOWEST, 1), 4 * WINDOW);
}

/* Work of @ns, each time that the budget allows it, for a minute. */
static u64 spent(u32 permille, u64 ns)
{
	struct pghot_bucket b = { };
	u32 now_ms = 7;
	u64 sum = 0;

	while (now_ms < 60000) {
		u32 owed = pghot_pace_spend(&b, now_ms, permille, ns);

		sum += ns;
		now_ms += owed ? owed : 1;
	}
	return sum;
}

TEST(no_more_cpu_time_is_spent_than_the_budget_has)
{
	u32 permille;
	u64 ns;

	for (permille = 1; permille <= 1000; permille *= 10)
		for (ns = 100000; ns <= 1000000000; ns *= 100) {
			/* What a minute has, a quarter of a second at the start, and one. */
			u64 most = permille * 60250000ULL + ns;

			assert_true(spent(permille, ns) <= most);
			if (ns < 10000000 && permille <= 100)
				assert_true(spent(permille, ns) >= most * 8 / 10);
		}
}

UNIT_MAIN(
	cmocka_unit_test(all_looks_of_a_round_fall_into_a_window),
	cmocka_unit_test(what_two_looks_of_three_find_is_hot_at_any_pace),
	cmocka_unit_test(it_takes_no_more_looks_than_are_counted),
	cmocka_unit_test(what_each_look_finds_is_reported_before_the_last),
	cmocka_unit_test(the_period_doubles_and_then_the_scan_rests),
	cmocka_unit_test(a_pass_that_finds_nothing_makes_it_slower),
	cmocka_unit_test(what_is_found_makes_it_faster),
	cmocka_unit_test(it_is_no_faster_than_the_least),
	cmocka_unit_test(one_look_takes_the_time_of_all_and_is_none_of_the_shortest),
	cmocka_unit_test(little_that_is_found_leaves_it),
	cmocka_unit_test(what_nobody_promotes_makes_it_slower),
	cmocka_unit_test(what_stays_makes_those_slower_who_found_it),
	cmocka_unit_test(a_page_that_stays_does_not_speak_for_those_just_found),
	cmocka_unit_test(what_stays_need_not_be_all_that_was_found_before),
	cmocka_unit_test(only_a_whole_pass_says_that_there_is_nothing),
	cmocka_unit_test(a_budget_that_is_used_up_makes_it_rest),
	cmocka_unit_test(no_more_cpu_time_is_spent_than_the_budget_has),
)
