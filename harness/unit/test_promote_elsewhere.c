// SPDX-License-Identifier: GPL-2.0
/*
 * Pages whose own node takes none: whether they wait for it, or go to another.
 */
#include "unit.h"
#include "machine.h"

static unsigned long on(int target)
{
	return machine_moved(2, 0, NODE_PAGES, target);
}

static unsigned int kswapd(int nid)
{
	return machine_node[nid].node_zones[0].kswapd_woken;
}

TEST(for_want_of_room_a_page_goes_to_a_nearer_node)
{
	machine_start(false);
	machine_room(0, 0);
	machine_thread(2);
	machine_ready(2, 0, 0);
	machine_run(5);
	/* The node it should be on is to make room. That may take a moment. */
	assert_true(kswapd(0) > 0);
	assert_int_equal(on(1), 0);
	machine_run(5 * PGHOT_PERIOD_MS);
	assert_int_equal(on(1), 1);
	assert_int_equal(kswapd(1), 0);
	machine_stop();
}

/* What went to the other socket would stay there. */
/* Pages that node @nid accesses, while room is made in node 0. */
static void waits_for_room_from(int nid)
{
	unsigned int i;

	pghot_tunables.window_ms = 60000;
	machine_room(0, 0);
	machine_thread(2);
	machine_ready_first(2, 200, nid);
	for (i = 0; i < 20; i++) {
		machine_room(0, 10);
		machine_run(50);
	}
	assert_int_equal(on(1), 0);
	assert_in_range(on(0), 100, 200);
	machine_stop();
}

TEST(room_that_is_being_made_is_waited_for)
{
	machine_start(false);
	waits_for_room_from(0);
}

/* Choosy it stays for minutes after a loss, and gains by that. */
TEST(who_was_choosy_and_gains_is_waited_for)
{
	machine_start(false);
	WRITE_ONCE(pghot_target(0)->speed.choosy, 3);
	WRITE_ONCE(pghot_target(0)->gain_percent, 400);
	waits_for_room_from(0);
}

TEST(without_backoff_room_is_waited_for_whatever_it_gains)
{
	machine_start(false);
	pghot_backoff = 0;
	WRITE_ONCE(pghot_target(0)->speed.choosy, 3);
	waits_for_room_from(0);
	pghot_backoff = 1;
}

/* Slowly: room for a huge folio takes a quarter of a second, twice what is waited for any. */
static void makes_some_room(void)
{
	machine_node[0].node_zones[0].free += 2;
	pghot_room_left(pghot_target(0), 2);
}

TEST(room_that_a_large_folio_is_to_have_is_waited_for)
{
	unsigned int i;

	machine_start(false);
	pghot_tunables.window_ms = 60000;
	machine_room(0, 0);
	machine_room(1, 100000);
	machine_large(2, 0, 9);
	for (i = 0; i < 5000; i++)
		machine_ready(2, 512 + i, 0);
	machine_work = makes_some_room;
	machine_thread(2);
	for (i = 0; i < 40; i++) {
		if (!machine_moved(2, 0, 512, 0))
			machine_ready(2, 0, 0);
		machine_run(100);
	}
	assert_int_equal(on(1), 0);
	assert_int_equal(on(0), 5000 + 512);
	machine_stop();
}

/* Node 3 has CPUs and no memory, and is nearest to node 0. */
TEST(a_node_without_memory_waits_for_its_nearest)
{
	static const int distance[NODES][NODES] = {
		{ 10, 21, 14, 12 },
		{ 21, 10, 24, 21 },
		{ 14, 24, 10, 24 },
		{ 12, 21, 24, 10 },
	};

	machine_distance = distance;
	machine_start(false);
	machine_take_away(3);
	node_set(3, node_states[N_CPU]);
	waits_for_room_from(3);
}

TEST(what_is_used_as_much_need_not_make_way)
{
	machine_start(false);
	WRITE_ONCE(pghot_target(0)->speed.choosy, 1);
	machine_room(0, 0);
	machine_thread(2);
	machine_ready(2, 0, 0);
	machine_run(5);
	assert_int_equal(on(1), 1);
	machine_stop();
}

/* A page in each of a hundred blocks waits for node 0, which is full. */
static void start_with_blocks_that_wait(void)
{
	unsigned long i;

	machine_start(false);
	pghot_tunables.window_ms = 60000;
	machine_room(0, 0);
	machine_thread(2);
	for (i = 0; i < 100; i++)
		machine_ready(2, i * PGHOT_BLOCK_PAGES, 0);
}

/*
 * They waited for room that was being made. When it is known that none is, nobody looks
 * at them because of their own node any more.
 */
TEST(what_waits_is_not_kept_from_another_node)
{
	start_with_blocks_that_wait();
	machine_run(500);
	assert_int_equal(on(1), 100);
	machine_stop();
}

/* The other node was full too for a while. */
TEST(what_waits_is_not_kept_from_another_node_that_was_full)
{
	start_with_blocks_that_wait();
	machine_room(1, 0);
	machine_run(1000);
	assert_int_equal(on(1), 0);
	machine_plenty(1);
	machine_run(500);
	assert_int_equal(on(1), 100);
	machine_stop();
}

/* That their node makes no room shows when a pass that takes long is past some of them. */
TEST(what_a_long_pass_went_by_is_looked_at_once_more)
{
	unsigned long i, k;

	machine_start(false);
	pghot_tunables.window_ms = 60000;
	machine_moves_a_tick = 4;
	machine_room(0, 0);
	for (i = 0; i < 240; i += 2) {
		machine_ready(2, i * PGHOT_BLOCK_PAGES, 0);
		for (k = 0; k < 16; k++)
			machine_ready(2, (i + 1) * PGHOT_BLOCK_PAGES + k, 1);
	}
	machine_thread(2);
	machine_run(1200);
	assert_int_equal(on(1), 120 + 16 * 120);
	machine_stop();
}

/* Node 0 has few of them, and node 1 needs none. */
static void start_with_few_tokens(void)
{
	machine_start(false);
	pghot_tunables.window_ms = 60000;
	sysctl_numa_balancing_promote_rate_limit = 1;
	machine_plenty(1);
	machine_thread(2);
}

/* It is slowed down when they wait for its tokens already. */
TEST(what_waits_for_tokens_is_not_kept_from_another_node)
{
	start_with_few_tokens();
	machine_ready_first(2, 2000, 0);
	machine_run(1000);
	assert_int_equal(on(1), 0);
	WRITE_ONCE(pghot_target(0)->speed.choosy, PGHOT_SPEED_CHOOSY);
	WRITE_ONCE(pghot_target(0)->speed.rate, 100U << PAGE_SHIFT);
	machine_run(500);
	assert_true(on(0) < 600);
	assert_int_equal(on(0) + on(1), 2000);
	machine_stop();
}

/* One page in @step is hot, and its owner allows node 0 alone, which is full. */
static void bound_to_what_is_full(unsigned long pages, unsigned long step)
{
	static struct mem_cgroup one = { .allowed.bits = { BIT(0) | BIT(2) } };
	unsigned long i;

	machine_start(false);
	pghot_tunables.window_ms = 60000;
	machine_room(0, 0);
	machine_thread(2);
	for (i = 0; i < pages; i += step) {
		machine_folio(2, i)->memcg = &one;
		machine_ready(2, i, 0);
	}
	machine_run(500);
}

/* Whoever allows their node alone is looked at for that once, not with each pass. */
TEST(what_may_not_go_elsewhere_is_hardly_looked_at)
{
	unsigned long asked;

	bound_to_what_is_full(100 * PGHOT_BLOCK_PAGES, PGHOT_BLOCK_PAGES);
	asked = machine_asked;
	machine_run(1000);
	assert_int_equal(on(1), 0);
	assert_true(machine_asked - asked <= 20);
	machine_stop();
}

/*
 * Each is asked once, as for that its folio has to be looked at. From then on
 * it waits for a node that is closed, though others go elsewhere.
 */
TEST(owners_are_not_asked_again_while_their_node_is_full)
{
	unsigned long i, asked;

	bound_to_what_is_full(PAGES_PER_SECTION, 1);
	asked = machine_asked;
	for (i = 0; i < 100; i++) {
		machine_ready(2, PAGES_PER_SECTION + i, 0);
		machine_run(10);
	}
	assert_int_equal(on(1), 100);
	/* When the node is asked again, ten times a second, and the new ones. */
	assert_true(machine_asked - asked <= 100 + 20 * PGHOT_BLOCK_PAGES);
	machine_stop();
}

/* It came when there was no memory to keep anything about it. */
TEST(a_node_that_nothing_is_known_of_is_passed_over)
{
	machine_start(false);
	machine_top = 3;
	assert_null(pghot_target(2));
	machine_room(2, 0);
	machine_thread(3);
	machine_ready(3, 0, 2);
	machine_run(2 * PGHOT_PERIOD_MS);
	assert_int_equal(machine_moved(3, 0, 1, 0), 1);
	machine_top = LOWER;
	machine_stop();
}

TEST(room_is_asked_of_the_first_choice_only)
{
	machine_start(false);
	machine_room(0, 0);
	machine_room(1, 0);
	machine_thread(2);
	machine_ready(2, 0, 0);
	machine_run(1000);
	assert_in_range(kswapd(0), 5, 20);
	assert_int_equal(kswapd(1), 0);
	machine_ready(2, 1, 1);
	machine_run(1000);
	assert_in_range(kswapd(1), 5, 20);
	machine_stop();
}

TEST(what_has_room_again_takes_its_own)
{
	machine_start(false);
	machine_room(0, 0);
	machine_thread(2);
	machine_ready(2, 0, 0);
	machine_run(2 * PGHOT_PERIOD_MS);
	machine_room(0, 100);
	machine_run(2 * PGHOT_PERIOD_MS);
	machine_ready(2, 1, 0);
	machine_run(5);
	assert_int_equal(on(0), 1);
	machine_stop();
}

TEST(a_node_that_is_no_nearer_is_no_substitute)
{
	machine_start_apart(false);
	machine_room(0, 0);
	machine_thread(2);
	machine_ready(2, 0, 0);
	machine_run(1000);
	assert_int_equal(on(1), 0);
	assert_true(machine_stat("delay_target_full") > 0);
	machine_stop();
}

/* A node that has no tokens has taken what it may; that is no want of room. */
TEST(a_rate_limit_means_waiting)
{
	start_with_few_tokens();
	machine_ready_first(2, 1000, 0);
	machine_run(1000);
	assert_in_range(on(0), 200, 400);
	assert_int_equal(on(1), 0);
	machine_stop();
}

/* It takes few because what is there is used as much; others may have something colder. */
TEST(a_node_that_gains_nothing_keeps_nothing_from_others)
{
	machine_start(false);
	pghot_tunables.window_ms = 60000;
	WRITE_ONCE(pghot_target(0)->speed.choosy, PGHOT_SPEED_CHOOSY);
	WRITE_ONCE(pghot_target(0)->speed.rate, 100U << PAGE_SHIFT);
	machine_thread(2);
	machine_ready_first(2, 1000, 0);
	machine_run(1000);
	assert_in_range(on(0), 10, 200);
	assert_int_equal(on(0) + on(1), 1000);
	machine_stop();
}

TEST(a_substitute_without_tokens_means_waiting_too)
{
	machine_start(false);
	pghot_tunables.window_ms = 60000;
	sysctl_numa_balancing_promote_rate_limit = 1;
	machine_room(0, 0);
	machine_thread(2);
	machine_ready_first(2, 1000, 0);
	machine_run(1000);
	assert_in_range(on(1), 200, 400);
	assert_int_equal(on(0), 0);
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(for_want_of_room_a_page_goes_to_a_nearer_node),
	cmocka_unit_test(room_that_is_being_made_is_waited_for),
	cmocka_unit_test(who_was_choosy_and_gains_is_waited_for),
	cmocka_unit_test(without_backoff_room_is_waited_for_whatever_it_gains),
	cmocka_unit_test(room_that_a_large_folio_is_to_have_is_waited_for),
	cmocka_unit_test(a_node_without_memory_waits_for_its_nearest),
	cmocka_unit_test(what_is_used_as_much_need_not_make_way),
	cmocka_unit_test(what_waits_is_not_kept_from_another_node),
	cmocka_unit_test(what_waits_is_not_kept_from_another_node_that_was_full),
	cmocka_unit_test(what_a_long_pass_went_by_is_looked_at_once_more),
	cmocka_unit_test(what_waits_for_tokens_is_not_kept_from_another_node),
	cmocka_unit_test(what_may_not_go_elsewhere_is_hardly_looked_at),
	cmocka_unit_test(owners_are_not_asked_again_while_their_node_is_full),
	cmocka_unit_test(a_node_that_nothing_is_known_of_is_passed_over),
	cmocka_unit_test(room_is_asked_of_the_first_choice_only),
	cmocka_unit_test(what_has_room_again_takes_its_own),
	cmocka_unit_test(a_node_that_is_no_nearer_is_no_substitute),
	cmocka_unit_test(a_rate_limit_means_waiting),
	cmocka_unit_test(a_node_that_gains_nothing_keeps_nothing_from_others),
	cmocka_unit_test(a_substitute_without_tokens_means_waiting_too),
)
