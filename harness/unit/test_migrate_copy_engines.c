// SPDX-License-Identifier: GPL-2.0
/* mm/migrate_copy/choice.c: which of several engines copies. */
#include "unit.h"

#include "migrate_copy.h"

/* Three at most, asked in this order. */
#define ENGINES	3

/* Who copies the next job, as engine.c has it: its number, or ENGINES for the CPU. */
static unsigned int choose(struct migrate_copy_cost *engine, unsigned int nr,
			   const struct migrate_copy_cost *cpu)
{
	struct migrate_copy_choice choice = { };
	unsigned int best = ENGINES, i;

	for (i = 0; i < nr && choice.verdict != MIGRATE_COPY_TO_LEARN; i++) {
		struct migrate_copy_cost took = *cpu;

		if (migrate_copy_prefer(&choice, &engine[i],
					migrate_copy_judge(&engine[i], &took, cpu)))
			best = i;
	}
	return choice.verdict < MIGRATE_COPY_BY_ENGINE ? ENGINES : best;
}

TEST(the_least_dear_copies)
{
	struct migrate_copy_cost cpu = known(250);
	unsigned int least;

	for (least = 0; least < ENGINES; least++) {
		struct migrate_copy_cost engine[] = { known(200), known(200), known(200) };

		engine[least] = known(150);
		assert_int_equal(choose(engine, ENGINES, &cpu), least);
	}
}

TEST(what_is_not_known_goes_before_all)
{
	struct migrate_copy_cost cpu = known(250), engine[] = { known(10), { }, known(20) };

	assert_int_equal(choose(engine, ENGINES, &cpu), 1);
}

TEST(who_rests_or_lost_does_not_keep_others_away)
{
	struct migrate_copy_cost cpu = known(250);
	struct migrate_copy_cost engine[] = { known(10), known(200), known(500) };
	struct migrate_copy_choice choice = { };

	migrate_copy_was_busy(&engine[0]);
	assert_int_equal(choose(engine, ENGINES, &cpu), 1);
	/* Where there is none but who rests, that is known. */
	assert_true(migrate_copy_prefer(&choice, &engine[0], MIGRATE_COPY_RESTS));
	assert_false(migrate_copy_prefer(&choice, &engine[2], MIGRATE_COPY_BY_CPU));
	assert_int_equal(choice.verdict, MIGRATE_COPY_RESTS);
}

/* Whichever is asked first. */
TEST(who_is_beaten_is_tried_and_may_win)
{
	struct migrate_copy_cost cpu = known(250);
	unsigned int beaten;

	for (beaten = 0; beaten < 2; beaten++) {
		struct migrate_copy_cost engine[] = { known(150), known(150) };
		unsigned int jobs = 0;

		engine[beaten] = known(200);
		/* None of these tells of what became of it. */
		for (; choose(engine, 2, &cpu) != beaten; jobs++) {
			assert_true(jobs < MIGRATE_COPY_AGAIN_MAX);
			learn(&engine[!beaten], 1, 64 * 150, 64);
		}
		learn(&engine[beaten], 1, 64 * 30, 64);
		for (jobs = 0; jobs < MIGRATE_COPY_AGAIN_MAX / 2; jobs++) {
			assert_int_equal(choose(engine, 2, &cpu), beaten);
			learn(&engine[beaten], 1, 64 * 30, 64);
		}
	}
}

/* Each of them is, and what it costs to find that it is no better does not tell. */
TEST(trying_who_is_beaten_costs_nearly_nothing)
{
	static const u64 ns[][ENGINES] = {
		{ 150, 200, 230 }, { 230, 150, 200 }, { 5, 230, 100 }, { 1, 200, 230 },
	};
	size_t i;

	for (i = 0; i < 4; i++) {
		struct migrate_copy_cost cpu = known(250), engine[ENGINES];
		unsigned int copied[ENGINES] = { }, jobs = 1000000, j;
		u64 spent = 0, least = 250;

		for (j = 0; j < ENGINES; j++) {
			engine[j] = known(ns[i][j]);
			least = ns[i][j] < least ? ns[i][j] : least;
		}
		for (j = 0; j < jobs; j++) {
			unsigned int who = choose(engine, ENGINES, &cpu);

			assert_true(who < ENGINES);
			learn(&engine[who], 1, 64 * ns[i][who], 64);
			copied[who]++;
			spent += ns[i][who];
		}
		for (j = 0; j < ENGINES; j++)
			assert_true(copied[j] > 10);
		assert_true(spent < jobs * least * 101 / 100);
	}
}

UNIT_MAIN(
	cmocka_unit_test(the_least_dear_copies),
	cmocka_unit_test(what_is_not_known_goes_before_all),
	cmocka_unit_test(who_rests_or_lost_does_not_keep_others_away),
	cmocka_unit_test(who_is_beaten_is_tried_and_may_win),
	cmocka_unit_test(trying_who_is_beaten_costs_nearly_nothing),
)
