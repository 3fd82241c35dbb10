// SPDX-License-Identifier: GPL-2.0
/*
 * A record says who accesses its page; where the page goes is found when its
 * turn comes.
 */
#include "unit.h"
#include "machine.h"

static unsigned long on(int target)
{
	return machine_moved(2, 0, NODE_PAGES, target);
}

TEST(owners_who_allow_one_node_wait_for_it)
{
	struct mem_cgroup one = { .allowed.bits = { BIT(0) | BIT(2) } };

	machine_start(false);
	machine_room(0, 0);
	machine_folio(2, 0)->memcg = &one;
	machine_thread(2);
	machine_ready(2, 0, 0);
	machine_run(500);
	assert_int_equal(machine_stat("moved") + machine_stat("skip_policy"), 0);
	machine_room(0, 100);
	machine_run(2 * PGHOT_PERIOD_MS);
	assert_int_equal(on(0), 1);
	machine_stop();
}

TEST(an_unknown_accessor_is_taken_to_be_near_the_page)
{
	machine_start(true);
	machine_thread(2);
	machine_thread(3);
	machine_ready(2, 0, NUMA_NO_NODE);
	machine_ready(3, 0, NUMA_NO_NODE);
	machine_run(PGHOT_PERIOD_MS + 5);
	assert_int_equal(on(0), 1);
	assert_int_equal(machine_moved(3, 0, 1, 1), 1);
	machine_stop();
}

/* Where it can be asked, it is; what is known goes at once. */
/* Hot pages that can be asked about, the first so many, and nobody knows for whom. */
static void ready_for_anybody(unsigned long nr)
{
	unsigned long i;

	for (i = 0; i < nr; i++)
		machine_folio(2, i)->mapped = true;
	machine_ready_first(2, nr, NUMA_NO_NODE);
}

TEST(an_unknown_accessor_is_asked_for)
{
	for_each_layout(precise) {
		unsigned long i;

		machine_start(precise);
		pghot_tunables.ask = true;
		machine_thread(2);
		for (i = 0; i < 200; i++) {
			machine_folio(2, i)->mapped = true;
			machine_ready(2, i, i % 2 ? 0 : NUMA_NO_NODE);
		}
		machine_run(PGHOT_PERIOD_MS + 5);
		assert_int_equal(machine_stat("skip_asked"), 100);
		assert_int_equal(machine_questions, 100);
		assert_int_equal(on(0), 100);
		/* The answer. */
		for (i = 0; i < 200; i += 2)
			machine_ready(2, i, 1);
		machine_run(PGHOT_PERIOD_MS + 5);
		assert_int_equal(machine_questions, 100);
		assert_int_equal(on(1), 100);
		machine_check();
		machine_stop();
	}
}

/* It is not asked of what nobody has mapped, and not where it makes no difference. */
TEST(an_unknown_accessor_is_asked_for_only_where_it_matters)
{
	struct mem_cgroup one = { .allowed.bits = { BIT(0) | BIT(2) } };

	for_each_layout(precise) {
		machine_start(precise);
		pghot_tunables.ask = true;
		machine_thread(2);
		machine_folio(2, 1)->mapped = true;
		machine_folio(2, 1)->memcg = &one;
		machine_ready(2, 0, NUMA_NO_NODE);
		machine_ready(2, 1, NUMA_NO_NODE);
		machine_run(PGHOT_PERIOD_MS + 5);
		assert_int_equal(on(0), 2);
		assert_int_equal(machine_questions, 0);
		machine_stop();
	}
}

/* Nothing is asked of pages that could not move, until they can. */
TEST(an_unknown_accessor_is_asked_for_when_there_is_room)
{
	unsigned long before;

	machine_start(false);
	pghot_tunables.ask = true;
	machine_room(0, 0);
	machine_room(1, 0);
	machine_thread(2);
	/* That there is none is found out by the first page that is to move. */
	machine_ready(2, 100, 0);
	machine_ready(2, 101, 1);
	machine_run(5);
	before = machine_questions;
	ready_for_anybody(50);
	machine_run(5);
	assert_int_equal(machine_questions, before);
	machine_plenty(0);
	machine_plenty(1);
	machine_run(2 * PGHOT_PERIOD_MS);
	assert_int_equal(machine_questions, before + 50);
	machine_stop();
}

/*
 * Nor of more than could: who would answer for the rest would find no room. What was
 * asked about gives its place back, whether there are answers or not.
 */
TEST(no_more_are_asked_about_than_there_is_room_for)
{
	unsigned long i;

	machine_start(true);
	pghot_tunables.ask = true;
	machine_room(0, 30);
	machine_room(1, 30);
	machine_thread(2);
	ready_for_anybody(200);
	machine_run(2);
	assert_in_range(machine_questions, 30, 60);
	assert_int_equal(on(0) + on(1), 0);
	machine_run(4 * PGHOT_PERIOD_MS);
	assert_int_equal(machine_questions, 200);
	for (i = 300; i < 310; i++)
		machine_ready(2, i, 1);
	machine_run(PGHOT_PERIOD_MS);
	assert_int_equal(on(1), 10);
	machine_stop();
}

/* Tokens likewise: none are left with questions. */
TEST(questions_take_no_tokens_for_good)
{
	unsigned long i;

	machine_start(true);
	pghot_tunables.ask = true;
	/* A quarter of a second's worth: 256 pages. */
	sysctl_numa_balancing_promote_rate_limit = 4;
	machine_room(0, 2000);
	machine_room(1, 2000);
	machine_thread(2);
	ready_for_anybody(1000);
	machine_run(2);
	assert_in_range(machine_questions, 256, 512);
	machine_run(4 * PGHOT_PERIOD_MS);
	assert_int_equal(machine_questions, 1000);
	for (i = 1100; i < 1300; i++)
		machine_ready(2, i, 0);
	machine_run(PGHOT_PERIOD_MS);
	assert_int_equal(on(0), 200);
	machine_stop();
}

/* So is one that is no node, or has nothing that accesses memory. */
TEST(an_impossible_accessor_is_an_unknown_one)
{
	machine_start(true);
	machine_thread(2);
	machine_ready(2, 0, 3);
	machine_ready(2, 1, 700);
	machine_ready(2, 2, 2);
	machine_run(PGHOT_PERIOD_MS + 5);
	assert_int_equal(on(0), 3);
	machine_stop();
}

TEST(a_node_with_cpus_only_has_its_pages_nearby)
{
	machine_start(false);
	machine_take_away(1);
	machine_thread(2);
	machine_ready(2, 0, 1);
	machine_run(5);
	assert_int_equal(on(0), 1);
	machine_stop();
}

/* Node 1 has CPUs and no memory, and what it accesses is next to it already. */
TEST(what_is_nearest_as_it_is_does_not_move)
{
	machine_start_apart(false);
	machine_take_away(1);
	machine_thread(3);
	machine_ready(3, 0, 1);
	machine_run(PGHOT_PERIOD_MS + 5);
	assert_int_equal(machine_stat("moved"), 0);
	assert_int_equal(machine_stat("skip_policy"), 1);
	machine_stop();
}

/* Readiness wakes the thread unless there is nowhere to go from that node. */
TEST(only_who_has_nowhere_to_go_wakes_nobody)
{
	unsigned long i, woken;

	machine_start(false);
	machine_room(0, 0);
	machine_room(1, 0);
	machine_thread(2);
	machine_ready(2, 0, 0);
	machine_run(5);
	woken = machine_stat("wakeups");
	for (i = 1; i < 50; i++) {
		machine_ready(2, i, 0);
		machine_run(1);
	}
	assert_int_equal(machine_stat("wakeups"), woken);
	machine_room(1, 1000);
	machine_run(2 * PGHOT_PERIOD_MS);
	assert_int_equal(on(1), 50);
	machine_ready(2, 50, 0);
	machine_run(2);
	assert_int_equal(on(1), 51);
	machine_stop();
}

/* One whose accessor nobody knows waits for the node that is next to it. */
TEST(an_unknown_accessor_has_nowhere_to_go_either)
{
	unsigned long i, woken;

	machine_start(true);
	pghot_tunables.window_ms = 60000;
	sysctl_numa_balancing_promote_rate_limit = 0;
	machine_thread(2);
	for (i = 0; i < 10; i++) {
		machine_ready(2, i, NUMA_NO_NODE);
		machine_run(1);
	}
	woken = machine_stat("wakeups");
	for (i = 10; i < 50; i++) {
		machine_ready(2, i, NUMA_NO_NODE);
		machine_run(1);
	}
	assert_int_equal(machine_stat("wakeups"), woken);
	/* The other node takes pages of its own. */
	machine_plenty(1);
	machine_ready(2, 50, 1);
	machine_run(2);
	assert_int_equal(on(1), 1);
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(owners_who_allow_one_node_wait_for_it),
	cmocka_unit_test(an_unknown_accessor_is_taken_to_be_near_the_page),
	cmocka_unit_test(an_unknown_accessor_is_asked_for),
	cmocka_unit_test(an_unknown_accessor_is_asked_for_only_where_it_matters),
	cmocka_unit_test(an_unknown_accessor_is_asked_for_when_there_is_room),
	cmocka_unit_test(no_more_are_asked_about_than_there_is_room_for),
	cmocka_unit_test(questions_take_no_tokens_for_good),
	cmocka_unit_test(an_impossible_accessor_is_an_unknown_one),
	cmocka_unit_test(a_node_with_cpus_only_has_its_pages_nearby),
	cmocka_unit_test(what_is_nearest_as_it_is_does_not_move),
	cmocka_unit_test(only_who_has_nowhere_to_go_wakes_nobody),
	cmocka_unit_test(an_unknown_accessor_has_nowhere_to_go_either),
)
