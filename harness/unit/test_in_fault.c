// SPDX-License-Identifier: GPL-2.0
/* Which folios a hint fault moves itself: each condition is one too few. */
#include "unit.h"
#include "machine.h"

#define ALL	{ { ~0UL } }
#define SLOW	{ { BIT(2) } }

static struct mm_struct process;

/* Behind, with plenty of room, and the folio allowed everywhere by its one owner. */
static struct folio *start(void)
{
	machine_start(false);
	machine_plenty(0);
	machine_behind(2);
	process = (struct mm_struct) { .cpuset = ALL, .policy = ALL };
	return machine_folio(2, 50);
}

static bool moves(struct folio *folio)
{
	return pghot_fault_moves(folio, &process, false, 0, 0);
}

TEST(moves_where_kmigrated_is_behind_and_would_do_the_same)
{
	assert_true(moves(start()));
	assert_true(moves(machine_large(2, 512, 9)));
	machine_stop();
}

TEST(not_if_kmigrated_keeps_up)
{
	struct folio *folio = start();

	machine_run(10);
	assert_false(moves(folio));
	machine_stop();
}

TEST(not_if_the_folio_is_not_on_the_node_that_is_behind)
{
	start();
	assert_false(moves(machine_folio(3, 50)));
	machine_stop();
}

TEST(not_to_another_node_than_the_accessing_one)
{
	struct folio *folio = start();

	machine_plenty(1);
	assert_false(pghot_fault_moves(folio, &process, false, 0, 1));
	assert_false(pghot_fault_moves(folio, &process, false, 1, 0));
	machine_stop();
}

TEST(not_if_others_may_have_it_mapped)
{
	struct folio *folio = start();

	folio->shared = true;
	assert_false(moves(folio));
	machine_stop();
}

/* A CPU may be on one. numa_should_promote() does not ask. */
TEST(not_to_a_node_without_memory)
{
	struct folio *folio = start();

	assert_true(pghot_fault_allowed(folio, &process, false, 0));
	machine_take_away(0);
	assert_false(pghot_fault_allowed(folio, &process, false, 0));
	assert_false(pghot_fault_allowed(folio, &process, true, 0));
	assert_false(moves(folio));
	machine_stop();
}

TEST(not_where_its_memory_cgroup_forbids)
{
	struct mem_cgroup memcg = { .allowed = SLOW };
	struct folio *folio = start();

	folio->memcg = &memcg;
	assert_false(moves(folio));
	assert_false(pghot_fault_allowed(folio, &process, false, 0));
	node_set(0, memcg.allowed);
	assert_true(moves(folio));
	machine_stop();
}

TEST(not_where_the_cpuset_of_the_process_forbids)
{
	struct folio *folio = start();

	process.cpuset = (nodemask_t) SLOW;
	assert_false(moves(folio));
	assert_false(pghot_fault_moves(folio, &process, true, 0, 0));
	machine_stop();
}

/* Which the page's own stands in place of. */
TEST(not_where_the_policy_of_the_process_forbids)
{
	struct folio *folio = start();

	process.policy = (nodemask_t) SLOW;
	assert_false(moves(folio));
	assert_true(pghot_fault_moves(folio, &process, true, 0, 0));
	machine_stop();
}

TEST(not_where_all_allow_something_and_not_the_same)
{
	struct mem_cgroup memcg = { .allowed = { { BIT(1) | BIT(2) } } };
	struct folio *folio = start();

	folio->memcg = &memcg;
	process.policy = (nodemask_t) { { BIT(0) | BIT(2) } };
	assert_false(pghot_fault_allowed(folio, &process, false, 0));
	assert_false(pghot_fault_allowed(folio, &process, false, 1));
	assert_true(pghot_fault_allowed(folio, &process, true, 1));
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(moves_where_kmigrated_is_behind_and_would_do_the_same),
	cmocka_unit_test(not_if_kmigrated_keeps_up),
	cmocka_unit_test(not_if_the_folio_is_not_on_the_node_that_is_behind),
	cmocka_unit_test(not_to_another_node_than_the_accessing_one),
	cmocka_unit_test(not_if_others_may_have_it_mapped),
	cmocka_unit_test(not_to_a_node_without_memory),
	cmocka_unit_test(not_where_its_memory_cgroup_forbids),
	cmocka_unit_test(not_where_the_cpuset_of_the_process_forbids),
	cmocka_unit_test(not_where_the_policy_of_the_process_forbids),
	cmocka_unit_test(not_where_all_allow_something_and_not_the_same),
)
