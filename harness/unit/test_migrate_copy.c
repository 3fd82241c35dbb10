// SPDX-License-Identifier: GPL-2.0
/* mm/migrate_copy/choice.c: what copying costs, and who is to copy. */
#include "unit.h"

#include "migrate_copy.h"

/* Whether an engine copies that takes no longer than the CPU. */
static enum migrate_copy_verdict judge(struct migrate_copy_cost *engine,
				       const struct migrate_copy_cost *cpu)
{
	struct migrate_copy_cost took = *cpu;

	return migrate_copy_judge(engine, &took, cpu);
}

TEST(sizes_are_powers_of_four)
{
	static const struct { unsigned int folios, size; } want[] = {
		{ 1, 0 }, { 2, 1 }, { 4, 1 }, { 5, 2 }, { 16, 2 }, { 17, 3 },
		{ 64, 3 }, { 65, 4 }, { 256, 4 }, { ~0U, 4 },
	};
	size_t i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(migrate_copy_size(want[i].folios), want[i].size);
}

TEST(each_way_has_costs_of_its_own)
{
	unsigned int seen = 0, i;

	/* A node is in one tier. */
	for (i = 0; i < 8; i++)
		if (!(i & 4) || (i & 2) >> 1 == (i & 1))
			seen |= 1 << migrate_copy_way(i & 4, i & 2, i & 1);
	assert_int_equal(seen, (1 << MIGRATE_COPY_WAYS) - 1);
}

TEST(a_cost_is_the_least_of_the_first_and_follows_what_comes)
{
	struct migrate_copy_cost c = { };

	migrate_copy_learn(&c, 3000, 10);
	migrate_copy_learn(&c, 1000, 10);
	migrate_copy_learn(&c, 2000, 10);
	assert_int_equal(NS(c.cost), 100);
	learn(&c, 64, 5000, 10);
	assert_in_range(NS(c.cost), 490, 500);
	learn(&c, 64, 100, 10);
	assert_in_range(NS(c.cost), 10, 11);
}

TEST(what_cost_nearly_nothing_is_not_believed_for_ever)
{
	struct migrate_copy_cost c = known(0);

	learn(&c, 128, 6400, 64);
	assert_in_range(NS(c.cost), 90, 100);
}

TEST(one_interruption_is_not_believed)
{
	struct migrate_copy_cost c = known(100);

	migrate_copy_learn(&c, 1000000000, 64);
	assert_in_range(NS(c.cost), 100, 113);
	/* Neither nothing nor all there is breaks it. */
	migrate_copy_learn(&c, 0, 0);
	migrate_copy_learn(&c, ~0ULL, ~0ULL);
	migrate_copy_learn(&c, ~0ULL, 1);
	assert_in_range(NS(c.cost), 50, 200);
}

TEST(the_cpu_copies_until_it_is_known)
{
	struct migrate_copy_cost engine = { }, cpu = { };
	unsigned int i;

	for (i = 0; i < MIGRATE_COPY_KNOWN; i++) {
		assert_true(migrate_copy_cpu_due(&cpu));
		assert_int_equal(judge(&engine, &cpu), MIGRATE_COPY_BY_CPU);
		migrate_copy_learn(&cpu, 6400, 64);
	}
	assert_int_equal(judge(&engine, &cpu), MIGRATE_COPY_TO_LEARN);
}

/* How often the CPU is, in so many jobs. */
static unsigned int measured(struct migrate_copy_cost *cpu, unsigned int jobs)
{
	unsigned int due = 0;

	while (jobs--)
		due += migrate_copy_cpu_due(cpu);
	return due;
}

TEST(the_cpu_is_measured_now_and_then)
{
	struct migrate_copy_cost cpu = known(100);

	assert_int_equal(measured(&cpu, 10 * MIGRATE_COPY_SAMPLE), 10);
	/* As often where nobody wins by much. */
	cpu.winner = known(60).cost;
	assert_int_equal(measured(&cpu, 10 * MIGRATE_COPY_SAMPLE), 10);
}

/* At a fifth of its cost 8% of the time went into comparing. */
TEST(the_dearer_the_cpu_the_more_seldom_it_is_measured)
{
	struct migrate_copy_cost cpu = known(100);

	cpu.winner = known(20).cost;
	assert_int_equal(measured(&cpu, 10 * 5 * MIGRATE_COPY_SAMPLE), 10);
	/* One that costs next to nothing is compared too. */
	cpu.winner = 1;
	measured(&cpu, 1);
	assert_int_equal(measured(&cpu, 10 * MIGRATE_COPY_SAMPLE *
				  MIGRATE_COPY_SAMPLE_TIMES), 10);
	/* It does not win any more: what was to be waited for is not. */
	measured(&cpu, 1);
	cpu.winner = 0;
	assert_int_equal(measured(&cpu, 2 * MIGRATE_COPY_SAMPLE), 2);
}

TEST(an_engine_has_to_be_cheaper_by_a_margin)
{
	struct migrate_copy_cost cpu = known(160);
	struct migrate_copy_cost cheap = known(149), dear = known(152);

	assert_int_equal(judge(&cheap, &cpu), MIGRATE_COPY_BY_ENGINE);
	assert_int_equal(judge(&dear, &cpu), MIGRATE_COPY_BY_CPU);
}

/* As it is judged, and as often as one likes. */
TEST(who_wins_can_be_asked_without_a_job)
{
	struct migrate_copy_cost cpu = known(160), fresh = { }, quick = known(1);
	struct migrate_copy_cost cheap = known(149), dear = known(152), late = known(330);
	unsigned int i;

	for (i = 0; i < 2 * MIGRATE_COPY_AGAIN; i++) {
		assert_true(migrate_copy_wins(&cheap, &quick, &cpu));
		assert_false(migrate_copy_wins(&cheap, &late, &cpu));
		assert_false(migrate_copy_wins(&dear, &quick, &cpu));
		assert_false(migrate_copy_wins(&fresh, &quick, &cpu));
		assert_false(migrate_copy_wins(&cheap, &quick, &fresh));
	}
	migrate_copy_was_busy(&cheap);
	assert_false(migrate_copy_wins(&cheap, &quick, &cpu));
	assert_int_equal(judge(&dear, &cpu), MIGRATE_COPY_BY_CPU);
}

TEST(what_lost_is_tried_again_ever_more_seldom)
{
	struct migrate_copy_cost cpu = known(100), engine = known(200);
	unsigned int tries = 0, jobs = 0, last = 0, gap = 0;

	for (; jobs < 100000; jobs++) {
		if (judge(&engine, &cpu) != MIGRATE_COPY_TO_LEARN)
			continue;
		assert_true(jobs - last >= gap);
		gap = jobs - last;
		last = jobs;
		tries++;
		migrate_copy_learn(&engine, 64 * 200, 64);
	}
	assert_in_range(tries, 380, 400);
	assert_in_range(gap, MIGRATE_COPY_AGAIN_MAX, MIGRATE_COPY_AGAIN_MAX + 1);

	/* Once it is faster it is found out at the next try, and it wins. */
	for (jobs = 0; jobs <= MIGRATE_COPY_AGAIN_MAX; jobs++) {
		enum migrate_copy_verdict verdict = judge(&engine, &cpu);

		if (verdict == MIGRATE_COPY_BY_ENGINE)
			break;
		if (verdict == MIGRATE_COPY_TO_LEARN)
			migrate_copy_learn(&engine, 64 * 50, 64);
	}
	assert_true(jobs <= MIGRATE_COPY_AGAIN_MAX);
}

TEST(what_is_busy_is_left_alone_for_a_while)
{
	struct migrate_copy_cost cpu = known(100), engine = known(50), fresh = { };
	unsigned int i;

	migrate_copy_was_busy(&engine);
	migrate_copy_was_busy(&fresh);
	for (i = 0; i < MIGRATE_COPY_REST; i++) {
		assert_int_equal(judge(&engine, &cpu), MIGRATE_COPY_RESTS);
		assert_int_equal(judge(&fresh, &cpu), MIGRATE_COPY_RESTS);
	}
	assert_int_equal(judge(&engine, &cpu), MIGRATE_COPY_BY_ENGINE);
	assert_int_equal(judge(&fresh, &cpu), MIGRATE_COPY_TO_LEARN);
}

/* Jobs until it is asked again, when it is busy then. */
static unsigned int rest(struct migrate_copy_cost *engine,
			 const struct migrate_copy_cost *cpu)
{
	unsigned int jobs = 0;

	migrate_copy_was_busy(engine);
	for (; judge(engine, cpu) == MIGRATE_COPY_RESTS; jobs++)
		assert_true(jobs < 100000);
	return jobs;
}

TEST(what_is_never_but_busy_is_asked_ever_more_seldom)
{
	struct migrate_copy_cost cpu = known(100), engine = known(50), fresh = { };
	unsigned int want = MIGRATE_COPY_REST, i;

	for (i = 0; i < 20; i++) {
		assert_int_equal(rest(&engine, &cpu), want);
		assert_int_equal(rest(&fresh, &cpu), want);
		want = want < MIGRATE_COPY_REST_MAX ? 2 * want : want;
	}
	assert_int_equal(want, MIGRATE_COPY_REST_MAX);
	/* One job that it does, and it is as if it had never been. */
	migrate_copy_learn(&engine, 64 * 50, 64);
	assert_int_equal(rest(&engine, &cpu), MIGRATE_COPY_REST);
	/* Several who were asked before one was told count once. */
	for (i = 0; i < 20; i++)
		migrate_copy_was_busy(&engine);
	for (i = 0; judge(&engine, &cpu) == MIGRATE_COPY_RESTS; i++)
		;
	assert_int_equal(i, 2 * MIGRATE_COPY_REST);
}

/* One lucky job among many that are dear does not bring an engine back for long. */
TEST(luck_is_soon_found_out)
{
	struct migrate_copy_cost cpu = known(100), engine = known(200);
	u64 jobs = 100000, spent = 0, i;

	for (i = 0; i < jobs; i++) {
		u64 ns = 100;

		if (judge(&engine, &cpu) != MIGRATE_COPY_BY_CPU) {
			ns = engine.won ? 200 : 50;
			migrate_copy_learn(&engine, 64 * ns, 64);
			ns = 200;
		}
		spent += ns;
	}
	assert_true(spent < jobs * 104);
}

/* An engine that never wins costs next to nothing, however slow it is. */
TEST(a_slow_engine_costs_nearly_nothing)
{
	struct migrate_copy_cost cpu = known(100), engine = { };
	u64 jobs = 100000, spent = 0, i;

	for (i = 0; i < jobs; i++) {
		u64 ns = 100;

		if (judge(&engine, &cpu) != MIGRATE_COPY_BY_CPU) {
			ns = 300;
			migrate_copy_learn(&engine, 64 * ns, 64);
		}
		spent += ns;
	}
	assert_true(spent < jobs * 101);
}

/* The share of time that is lost by trying it does not go by how slow it is. */
TEST(the_dearer_the_loss_the_more_seldom_it_is_tried)
{
	static const u64 ns[] = { 150, 300, 1000, 5000, 20000 };
	unsigned int last = ~0U;
	size_t i;

	for (i = 0; i < sizeof(ns) / sizeof(ns[0]); i++) {
		struct migrate_copy_cost cpu = known(100), engine = known(ns[i]);
		u64 jobs = 5000000, lost = 0, j;
		unsigned int tries = 0;

		for (j = 0; j < jobs; j++) {
			if (judge(&engine, &cpu) == MIGRATE_COPY_BY_CPU)
				continue;
			migrate_copy_learn(&engine, 64 * ns[i], 64);
			lost += ns[i] - 100;
			tries++;
		}
		assert_true(lost < jobs * 100 / 200);
		assert_true(tries > 5 && tries <= last);
		last = tries;
	}
}

/* It is found out all the same that one who lost a thousand times as much does not now. */
TEST(however_dear_it_was_it_is_tried_some_day)
{
	struct migrate_copy_cost cpu = known(100), engine = known(100000);
	unsigned int most = MIGRATE_COPY_AGAIN_MAX * MIGRATE_COPY_AGAIN_TIMES, i, won = 0;

	for (i = 0; i < 1000000; i++)
		if (judge(&engine, &cpu) != MIGRATE_COPY_BY_CPU)
			migrate_copy_learn(&engine, 64 * 100000, 64);
	for (i = 0; i <= most + 100; i++) {
		if (judge(&engine, &cpu) == MIGRATE_COPY_BY_CPU)
			continue;
		migrate_copy_learn(&engine, 64 * 20, 64);
		won++;
	}
	assert_true(won >= 100);
}

/*
 * How dear a loss was goes by what the CPU costs now: one that was reckoned when it was
 * cheap does not keep an engine away once it is not.
 */
TEST(what_lost_is_tried_sooner_once_the_cpu_is_dearer)
{
	struct migrate_copy_cost cpu = known(100), engine = known(20000);
	unsigned int tries = 0, jobs;

	/* Until it has the longest wait before it. */
	for (jobs = 0; jobs < 10000000 && tries < 10; jobs++) {
		if (judge(&engine, &cpu) != MIGRATE_COPY_TO_LEARN)
			continue;
		migrate_copy_learn(&engine, 64 * 20000, 64);
		tries++;
	}
	assert_int_equal(tries, 10);
	assert_int_equal(judge(&engine, &cpu), MIGRATE_COPY_BY_CPU);
	cpu = known(15000);
	for (jobs = 0; judge(&engine, &cpu) == MIGRATE_COPY_BY_CPU; jobs++)
		assert_true(jobs <= MIGRATE_COPY_AGAIN_MAX);
}

/*
 * One that is late may cost next to nothing: whoever migrates was kept from the CPU until
 * it was done, once in so many jobs, or others have the CPU each time.
 */
static unsigned int late_share(unsigned int nothing_in)
{
	struct migrate_copy_cost cpu = known(100), engine = { }, took = { };
	unsigned int copied = 0, i;

	for (i = 0; i < 100000; i++) {
		u64 ns = copied % nothing_in ? 5000 : 5;

		if (migrate_copy_judge(&engine, &took, &cpu) == MIGRATE_COPY_BY_CPU)
			continue;
		migrate_copy_learn(&took, 64 * 5000, 64);
		migrate_copy_learn(&engine, 64 * ns, 64);
		copied++;
	}
	return copied;
}

TEST(what_is_late_is_hardly_used_however_little_it_costs)
{
	assert_in_range(late_share(1), 15, 40);
	assert_in_range(late_share(2), 15, 40);
	assert_in_range(late_share(7), 15, 40);
}

TEST(what_was_late_is_used_once_it_is_not)
{
	struct migrate_copy_cost cpu = known(100), engine = known(50), took = known(5000);
	unsigned int jobs, copied = 0;

	for (jobs = 0; jobs < 4 * MIGRATE_COPY_AGAIN_MAX; jobs++) {
		if (migrate_copy_judge(&engine, &took, &cpu) == MIGRATE_COPY_BY_CPU)
			continue;
		migrate_copy_learn(&took, 64 * 90, 64);
		migrate_copy_learn(&engine, 64 * 50, 64);
		copied++;
	}
	assert_true(copied > 2 * MIGRATE_COPY_AGAIN_MAX);
	/* One hiccup later it still is. */
	migrate_copy_learn(&took, 3000000, 64);
	assert_int_equal(migrate_copy_judge(&engine, &took, &cpu), MIGRATE_COPY_BY_ENGINE);
}

UNIT_MAIN(
	cmocka_unit_test(sizes_are_powers_of_four),
	cmocka_unit_test(each_way_has_costs_of_its_own),
	cmocka_unit_test(a_cost_is_the_least_of_the_first_and_follows_what_comes),
	cmocka_unit_test(what_cost_nearly_nothing_is_not_believed_for_ever),
	cmocka_unit_test(one_interruption_is_not_believed),
	cmocka_unit_test(the_cpu_copies_until_it_is_known),
	cmocka_unit_test(the_cpu_is_measured_now_and_then),
	cmocka_unit_test(the_dearer_the_cpu_the_more_seldom_it_is_measured),
	cmocka_unit_test(an_engine_has_to_be_cheaper_by_a_margin),
	cmocka_unit_test(who_wins_can_be_asked_without_a_job),
	cmocka_unit_test(what_lost_is_tried_again_ever_more_seldom),
	cmocka_unit_test(what_is_busy_is_left_alone_for_a_while),
	cmocka_unit_test(what_is_never_but_busy_is_asked_ever_more_seldom),
	cmocka_unit_test(luck_is_soon_found_out),
	cmocka_unit_test(a_slow_engine_costs_nearly_nothing),
	cmocka_unit_test(the_dearer_the_loss_the_more_seldom_it_is_tried),
	cmocka_unit_test(however_dear_it_was_it_is_tried_some_day),
	cmocka_unit_test(what_lost_is_tried_sooner_once_the_cpu_is_dearer),
	cmocka_unit_test(what_is_late_is_hardly_used_however_little_it_costs),
	cmocka_unit_test(what_was_late_is_used_once_it_is_not),
)
