// SPDX-License-Identifier: GPL-2.0
/* Large folios that wait for room, among small pages that take all there is. */
#include <linux/array_size.h>

#include "unit.h"
#include "machine.h"

#define LARGE		512UL
#define NR_LARGE	10UL
#define SMALL		(NR_LARGE * LARGE)
#define NR_SMALL	(NODE_PAGES - SMALL)
/* kswapd keeps so much free beyond the high watermark. */
#define MOST_ROOM	2000UL

static struct zone *zone;
/* So many pages are made free in a tick, and more small ones than that are ready. */
static unsigned long made_a_tick, made;
static unsigned long next;
/* Node that the small pages are on. */
static int small_on;

static void tick(void)
{
	unsigned long i;

	for (i = 0; i < 2 * made_a_tick; i++)
		machine_ready(small_on, SMALL + next++ % NR_SMALL, 0);
	for (i = 0; i < made_a_tick && zone->free < zone->high + MOST_ROOM; i++, made++)
		zone->free++;
	pghot_room_left(pghot_target(0), made_a_tick);
}

static void begin(unsigned long room_a_tick, unsigned int small_node)
{
	unsigned long i;

	machine_start(false);
	machine_take_away(1);
	machine_room(0, 0);
	zone = &machine_node[0].node_zones[0];
	machine_reuses = true;
	made_a_tick = room_a_tick;
	made = 0;
	next = 0;
	small_on = small_node;
	for (i = 0; i < NR_LARGE; i++)
		machine_large(2, i * LARGE, 9);
	machine_work = tick;
	machine_thread(2);
	if (small_node != 2)
		machine_thread(small_node);
}

/* Who has moved left the frame to a small one. */
static unsigned long large_wait(void)
{
	unsigned long i, n = 0;

	for (i = 0; i < NR_LARGE; i++)
		n += machine_folio(2, i * LARGE)->order != 0;
	return n;
}

static unsigned long small_came(void)
{
	return machine_stat("moved") - (NR_LARGE - large_wait());
}

static void run(unsigned int ms)
{
	unsigned long i;

	/* They stay in use as long as they wait. */
	for (; ms >= 100; ms -= 100) {
		for (i = 0; i < NR_LARGE; i++)
			if (machine_folio(2, i * LARGE)->order != 0)
				machine_ready(2, i * LARGE, 0);
		machine_run(100);
	}
}

/* Half of what is made is for those that are large. */
TEST(large_folios_come_among_endless_small_ones)
{
	static const unsigned long speed[] = { 4, 16, 64 };
	unsigned int i, node;

	for (i = 0; i < ARRAY_SIZE(speed); i++) {
		for (node = 2; node < 4; node++) {
			begin(speed[i], node);
			run(3 * 2 * NR_LARGE * LARGE / speed[i] + 1000);
			assert_int_equal(large_wait(), 0);
			/* Nothing is left unused for it. */
			assert_true(made > speed[i] * 900);
			assert_in_range(small_came(), made - SMALL - MOST_ROOM, made - SMALL);
			machine_stop();
		}
	}
}

/* Its room is made, but never in one piece. */
TEST(small_ones_do_not_wait_for_what_does_not_come)
{
	unsigned long before;

	begin(16, 2);
	zone->max_order = 3;
	run(20000);
	before = small_came();
	made = 0;
	run(10000);
	assert_int_equal(large_wait(), NR_LARGE);
	assert_in_range(small_came() - before, made * 95 / 100, made + MOST_ROOM);
	machine_stop();
}

/* It was freed, or is no longer hot. */
TEST(nothing_is_kept_for_what_has_gone)
{
	unsigned long before;

	begin(16, 2);
	zone->max_order = 3;
	run(1000);
	before = small_came();
	made = 0;
	machine_run(10000);
	assert_in_range(small_came() - before, made * 95 / 100, made + MOST_ROOM);
	machine_stop();
}

/* The other way round: large ones do not take it all. */
TEST(small_ones_come_among_endless_large_ones)
{
	unsigned long i, ms;

	begin(16, 2);
	for (ms = 0; ms < 10000; ms += 100) {
		for (i = 0; i < NR_LARGE; i++) {
			if (!machine_folio(2, i * LARGE)->order)
				machine_large(2, i * LARGE, 9);
			machine_ready(2, i * LARGE, 0);
		}
		machine_run(100);
	}
	assert_in_range(small_came(), made * 4 / 10, made * 95 / 100);
	machine_stop();
}

/* No small ones, and DRAM is in pieces: one of them is tried now and then. */
TEST(all_that_wait_for_one_piece_cost_as_much_as_one)
{
	unsigned long i;

	begin(0, 2);
	zone->max_order = 3;
	machine_room(0, 4 * LARGE);
	for (i = 0; i < NODE_PAGES; i += LARGE)
		machine_large(2, i, 9);
	for (i = 0; i < NODE_PAGES; i += LARGE)
		machine_ready(2, i, 0);
	machine_run(PGHOT_PERIOD_MS);
	machine_looked = 0;
	machine_run(1000);
	assert_in_range(machine_looked, 5, 100);
	zone->max_order = 10;
	machine_run(PGHOT_PERIOD_MS);
	assert_int_equal(machine_moved(2, 0, NODE_PAGES, 0), 0);
	assert_in_range(machine_stat("moved"), 3, 4);
	machine_stop();
}

/* There are pieces for them, and none for the many before them. */
TEST(smaller_ones_are_found_among_those_that_wait)
{
	unsigned long i;

	begin(0, 2);
	zone->max_order = 3;
	machine_room(0, 4 * LARGE);
	for (i = 0; i < 100; i++) {
		machine_large(2, i * LARGE, i % 20 == 19 ? 4 : 9);
		machine_ready(2, i * LARGE, 0);
	}
	machine_run(3 * PGHOT_PERIOD_MS);
	assert_int_equal(machine_stat("moved"), 0);
	zone->max_order = 4;
	machine_run(3 * PGHOT_PERIOD_MS);
	assert_int_equal(machine_stat("moved"), 5);
	/* Those that wait are all large again. */
	machine_run(PGHOT_PERIOD_MS);
	machine_looked = 0;
	machine_run(1000);
	assert_in_range(machine_looked, 5, 100);
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(large_folios_come_among_endless_small_ones),
	cmocka_unit_test(small_ones_do_not_wait_for_what_does_not_come),
	cmocka_unit_test(nothing_is_kept_for_what_has_gone),
	cmocka_unit_test(small_ones_come_among_endless_large_ones),
	cmocka_unit_test(all_that_wait_for_one_piece_cost_as_much_as_one),
	cmocka_unit_test(smaller_ones_are_found_among_those_that_wait),
)
