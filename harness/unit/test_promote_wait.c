// SPDX-License-Identifier: GPL-2.0
/* What waiting for a closed target costs, and whom it delays: nobody. */
#include <stdio.h>

#include "unit.h"
#include "machine.h"

#define WAITING		(2UL * PAGES_PER_SECTION)

static void waiting_for(int target)
{
	unsigned long i;

	for (i = 0; i < WAITING; i++)
		machine_ready(2, i, target);
}

/* Many pages and a thread that find their target full, and time enough for it. */
static void start_with_many_waiting(void)
{
	machine_start_apart(false);
	pghot_tunables.window_ms = 60000;
	machine_room(0, 0);
	waiting_for(0);
	machine_thread(2);
}

TEST(readiness_for_an_open_target_wakes_a_held_thread)
{
	machine_start_apart(false);
	machine_room(0, 0);
	machine_thread(2);
	machine_ready(2, 0, 0);
	machine_run(200);
	/* Asked after 4 ms, 8, 16, 32, 64 and 100: it is not to be for some time. */
	assert_int_equal(machine_stat("delay_target_full"), 6);
	machine_ready(2, 1, 1);
	machine_run(2);
	assert_int_equal(machine_moved(2, 1, 2, 1), 1);
	machine_stop();
}

/* Nor where another node wants its share of what there is not. */
TEST(nodes_ask_a_full_target_ever_less_often)
{
	unsigned long asked;

	machine_start(false);
	machine_room(0, 0);
	machine_room(1, 0);
	machine_thread(2);
	machine_thread(3);
	machine_ready(2, 0, 0);
	machine_ready(3, 0, 0);
	machine_run(500);
	asked = machine_stat("delay_target_full");
	machine_run(1000);
	/* Each of both nodes ten times a second, where two targets are full. */
	asked = machine_stat("delay_target_full") - asked;
	assert_in_range(asked, 10, 50);
	machine_stop();
}

TEST(readiness_for_a_closed_target_wakes_nobody)
{
	unsigned long i;

	machine_start_apart(false);
	machine_room(0, 0);
	machine_thread(2);
	machine_ready(2, 0, 0);
	machine_run(5);
	assert_int_equal(machine_stat("wakeups"), 1);
	for (i = 1; i < 50; i++) {
		machine_ready(2, i, 0);
		machine_run(1);
	}
	assert_int_equal(machine_stat("wakeups"), 1);
	machine_room(0, 1000);
	machine_run(2 * PGHOT_PERIOD_MS);
	assert_int_equal(machine_moved(2, 0, 50, 0), 50);
	machine_stop();
}

/* One page in 10 ms for an open target, among many for a full one. */
static void among_those_that_wait(unsigned int trickle)
{
	unsigned long i, refused;

	start_with_many_waiting();
	machine_run(200);
	refused = machine_stat("delay_target_full");
	/* Each once, and a block each time that the target was asked. */
	assert_true(refused <= WAITING + 6 * PGHOT_BLOCK_PAGES);
	for (i = 0; i < 300; i++) {
		machine_ready(2, WAITING + i * 64, 1);
		machine_run(3);
		assert_int_equal(machine_moved(2, WAITING + i * 64,
					       WAITING + i * 64 + 1, 1), 1);
		machine_run(7);
		if (i % 10 == 0)
			machine_node[0].node_zones[0].free += trickle;
	}
	refused = machine_stat("delay_target_full") - refused;
	/* Asked again ten times a second by now; a block is looked at as a whole. */
	assert_true(refused <= 40 * 2 * PGHOT_BLOCK_PAGES);
	assert_in_range(machine_stat("moved"), 300 + 28 * trickle,
			300 + 30 * trickle);
	machine_stop();
}

TEST(a_full_target_delays_nobody)
{
	among_those_that_wait(0);
}

TEST(a_target_with_little_room_delays_nobody)
{
	among_those_that_wait(1);
}

/* kswapd, which makes free for promotion what it keeps, in 8 ms each time. */
#define KEPT		512
#define KSWAPD_MS	8

static unsigned int kswapd_at;

static void kswapd(void)
{
	struct zone *zone = &machine_node[0].node_zones[0];

	if (!zone->kswapd_woken)
		return;
	zone->free += KEPT / KSWAPD_MS;
	if (++kswapd_at % KSWAPD_MS == 0)
		zone->kswapd_woken = 0;
}

TEST(room_is_used_as_fast_as_it_is_made)
{
	unsigned long moved;

	start_with_many_waiting();
	/* There was none for long. */
	machine_run(500);
	assert_int_equal(machine_stat("moved"), 0);
	kswapd_at = 0;
	machine_work = kswapd;
	machine_run(PGHOT_PERIOD_MS + 500);
	moved = machine_stat("moved");
	print_message("%lu moved in 500 ms\n", moved);
	/* With a look each 100 ms: five times, or six, what is kept free. */
	assert_true(moved >= 500 / KSWAPD_MS * KEPT * 3 / 4);
	machine_work = NULL;
	machine_stop();
}

/* What is demoted leaves so much of node 0 free. */
static void demote(unsigned long nr, unsigned long room)
{
	machine_room(0, room);
	while (nr--)
		pghot_room_left(pghot_target(0), 1);
}

/*
 * A hundred pages wait for node 0, of which kswapd makes so much free. By now it is asked
 * once in a tenth of a second.
 */
static void start_with_a_hundred_waiting(unsigned long made)
{
	struct zone *zone = &machine_node[0].node_zones[0];
	unsigned long i;

	machine_start_apart(false);
	zone->promo = zone->high + made;
	machine_room(0, 0);
	machine_thread(2);
	for (i = 0; i < 100; i++)
		machine_ready(2, i, 0);
	machine_run(200);
}

TEST(who_waits_is_told_of_room_that_is_made)
{
	start_with_a_hundred_waiting(1024);
	assert_int_equal(machine_moved(2, 0, 100, 0), 0);
	demote(1000, 63);
	machine_run(3);
	assert_int_equal(machine_moved(2, 0, 100, 0), 0);
	demote(16, 64);
	machine_run(3);
	/* One is kept. */
	assert_int_equal(machine_moved(2, 0, 100, 0), 63);
	/* And so on, as fast as it is made. */
	demote(64, 64);
	machine_run(3);
	assert_int_equal(machine_moved(2, 0, 100, 0), 100);
	machine_stop();
}

/* Where kswapd keeps next to nothing for promotion that is what there is to wait for. */
TEST(who_waits_is_told_of_half_of_what_kswapd_makes)
{
	start_with_a_hundred_waiting(20);
	demote(16, 10);
	machine_run(3);
	assert_int_equal(machine_moved(2, 0, 100, 0), 0);
	demote(16, 11);
	machine_run(3);
	assert_int_equal(machine_moved(2, 0, 100, 0), 10);
	machine_stop();
}

/* One page for each batch that is demoted, and so on, is all that a large folio would get. */
TEST(small_pages_leave_room_for_a_large_one_that_waits)
{
	unsigned long i;

	machine_start_apart(false);
	machine_node[0].node_zones[0].promo = machine_node[0].node_zones[0].high + 4096;
	machine_room(0, 0);
	machine_thread(2);
	machine_large(2, 0, 9);
	machine_ready(2, 0, 0);
	for (i = 1024; i < 1124; i++)
		machine_ready(2, i, 0);
	machine_run(200);
	/* Some of it is free, and so it is the large one alone that is refused. */
	machine_room(0, 80);
	machine_run(2 * PGHOT_PERIOD_MS);
	assert_int_equal(machine_moved(2, 0, 512, 0), 0);
	demote(400, 511);
	machine_run(3);
	assert_int_equal(machine_moved(2, 0, 1124, 0), 79);
	demote(16, 600);
	machine_run(3);
	assert_int_equal(machine_moved(2, 0, 512, 0), 512);
	machine_stop();
}

/* It is not to look for what migration may not use. */
TEST(what_is_kept_for_others_is_no_room)
{
	machine_start_apart(false);
	machine_node[0].node_zones[0].nr_free_highatomic = 1000;
	machine_room(0, 0);
	machine_thread(2);
	machine_ready(2, 0, 0);
	machine_run(200);
	demote(1000, 1000);
	machine_run(3);
	assert_int_equal(machine_stat("wakeups"), 1);
	machine_stop();
}

TEST(room_that_nobody_waits_for_wakes_nobody)
{
	machine_start_apart(false);
	machine_room(0, 0);
	machine_thread(2);
	machine_run(10);
	demote(1000, 1000);
	assert_int_equal(machine_stat("wakeups"), 0);
	machine_stop();
}

TEST(those_that_wait_move_when_there_is_room)
{
	machine_start_apart(false);
	pghot_tunables.window_ms = 60000;
	machine_room(0, 0);
	waiting_for(0);
	machine_ready(2, WAITING, 1);
	machine_thread(2);
	machine_run(1000);
	machine_room(0, WAITING + 100);
	machine_run(300);
	assert_int_equal(machine_moved(2, 0, WAITING, 0), WAITING);
	machine_stop();
}

/* A page waits for a full target, then it is accessed from elsewhere. */
TEST(a_page_may_change_its_mind_while_it_waits)
{
	machine_start_apart(false);
	machine_room(0, 0);
	machine_thread(2);
	machine_ready(2, 0, 0);
	machine_ready(2, 1, 1);
	machine_run(2 * PGHOT_PERIOD_MS);
	machine_ready(2, 0, 1);
	machine_run(PGHOT_PERIOD_MS + 1);
	assert_int_equal(machine_moved(2, 0, 2, 1), 2);
	machine_stop();
}

/* What waits for a node that is no target any more goes to another. */
TEST(nobody_waits_for_a_node_that_went)
{
	machine_start(false);
	pghot_tunables.window_ms = 60000;
	machine_room(0, 0);
	machine_room(1, 0);
	machine_thread(2);
	machine_ready(2, 0, 0);
	machine_ready(2, 1, 1);
	machine_run(2 * PGHOT_PERIOD_MS);
	assert_int_equal(machine_stat("moved"), 0);
	machine_take_away(0);
	machine_room(1, 1000);
	machine_run(PGHOT_PERIOD_MS + 1);
	assert_int_equal(machine_moved(2, 0, 2, 1), 2);
	machine_stop();
}

static void goes_stale(int other, u32 window_ms, u32 period_ms)
{
	unsigned int ms;

	machine_start_apart(false);
	pghot_tunables.window_ms = window_ms;
	pghot_period_ms = period_ms;
	machine_room(0, 0);
	machine_thread(2);
	waiting_for(0);
	if (!other)
		machine_room(1, 0);
	machine_run(window_ms / 2);
	assert_int_equal(machine_stat("skip_stale"), 0);
	/* Three quarters of a window, and another to be found. */
	for (ms = 0; ms < 2 * window_ms; ms += 10) {
		machine_run(10);
		if (other)
			machine_ready(2, WAITING + ms, 1);
	}
	assert_true(machine_stat("skip_stale") >= WAITING);
	machine_stop();
}

TEST(the_stale_are_dropped_where_all_targets_are_closed)
{
	goes_stale(0, PGHOT_WINDOW_MS, PGHOT_PERIOD_MS);
}

TEST(the_stale_are_dropped_where_one_target_is_open)
{
	goes_stale(1, PGHOT_WINDOW_MS, PGHOT_PERIOD_MS);
}

TEST(the_stale_are_dropped_however_long_the_period)
{
	goes_stale(0, 200, 10000);
}

TEST(what_was_freed_while_it_waited_is_dropped)
{
	unsigned long i;

	start_with_many_waiting();
	machine_run(500);
	for (i = 0; i < WAITING; i++) {
		machine_folio(2, i)->refs = 0;
		machine_folio(2, i)->mapping = NULL;
	}
	machine_run(PGHOT_PERIOD_MS + 1);
	assert_int_equal(machine_stat("skip_gone"), WAITING);
	machine_stop();
}

TEST(once_all_went_cold_nothing_is_waited_for)
{
	unsigned int woken;

	machine_start_apart(false);
	machine_room(0, 0);
	machine_thread(2);
	machine_ready(2, 0, 0);
	machine_run(3 * PGHOT_WINDOW_MS);
	assert_int_equal(machine_stat("skip_stale"), 1);
	woken = machine_node[0].node_zones[0].kswapd_woken;
	machine_run(1000);
	assert_int_equal(machine_node[0].node_zones[0].kswapd_woken, woken);
	machine_stop();
}

/*
 * Uniform accesses over four times DRAM, which is full: kswapd makes room for
 * some pages when it is asked, and those it takes come back to the lower tier.
 */
#define DRAM		(NODE_PAGES / 4)

static u64 seed;
static unsigned long top[DRAM], nr_top;

static void uniform(void)
{
	struct zone *zone = &machine_node[0].node_zones[0];
	unsigned int i;

	for (i = 0; i < 100; i++) {
		unsigned long page = harness_random(&seed) % NODE_PAGES;
		struct folio *folio = machine_folio(2, page);

		if (folio->refs)
			machine_ready(2, page, 0);
		else if (folio->target == 0 && !folio->busy && nr_top < DRAM) {
			folio->busy = true;
			top[nr_top++] = page;
		}
	}
	if (!zone->kswapd_woken)
		return;
	for (i = 0; i < 10 && nr_top; i++) {
		unsigned long k = harness_random(&seed) % nr_top;

		machine_demote(2, top[k]);
		top[k] = top[--nr_top];
	}
	if (zone->free >= zone->high + 500)
		zone->kswapd_woken = 0;
}

TEST(uniform_accesses_are_refused_seldom)
{
	unsigned long refused, moved;

	machine_start(false);
	seed = 1;
	nr_top = 0;
	machine_room(0, DRAM);
	machine_take_away(1);
	machine_work = uniform;
	machine_thread(2);
	machine_run(20000);
	refused = machine_stat("delay_target_full") +
		  machine_stat("delay_rate_limit");
	moved = machine_stat("moved");
	print_message("%lu refused, %lu promoted\n", refused, moved);
	assert_true(moved > DRAM);
	assert_true(refused <= moved / 10);
	machine_work = NULL;
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(readiness_for_an_open_target_wakes_a_held_thread),
	cmocka_unit_test(nodes_ask_a_full_target_ever_less_often),
	cmocka_unit_test(readiness_for_a_closed_target_wakes_nobody),
	cmocka_unit_test(a_full_target_delays_nobody),
	cmocka_unit_test(a_target_with_little_room_delays_nobody),
	cmocka_unit_test(room_is_used_as_fast_as_it_is_made),
	cmocka_unit_test(who_waits_is_told_of_room_that_is_made),
	cmocka_unit_test(who_waits_is_told_of_half_of_what_kswapd_makes),
	cmocka_unit_test(small_pages_leave_room_for_a_large_one_that_waits),
	cmocka_unit_test(what_is_kept_for_others_is_no_room),
	cmocka_unit_test(room_that_nobody_waits_for_wakes_nobody),
	cmocka_unit_test(those_that_wait_move_when_there_is_room),
	cmocka_unit_test(a_page_may_change_its_mind_while_it_waits),
	cmocka_unit_test(nobody_waits_for_a_node_that_went),
	cmocka_unit_test(the_stale_are_dropped_where_all_targets_are_closed),
	cmocka_unit_test(the_stale_are_dropped_where_one_target_is_open),
	cmocka_unit_test(the_stale_are_dropped_however_long_the_period),
	cmocka_unit_test(what_was_freed_while_it_waited_is_dropped),
	cmocka_unit_test(once_all_went_cold_nothing_is_waited_for),
	cmocka_unit_test(uniform_accesses_are_refused_seldom),
)
