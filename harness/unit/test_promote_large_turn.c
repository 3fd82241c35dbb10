// SPDX-License-Identifier: GPL-2.0
/* Large folios that wait for room, among small pages that take all there is. */
#include <linux/array_size.h>
#include <linux/limits.h>

#include "unit.h"
#include "machine.h"
#include "promoter.h"

#define LARGE		512UL
#define NR_LARGE	10UL
#define SMALL		(NR_LARGE * LARGE)
#define LAST		(NODE_PAGES - LARGE)
#define NR_SMALL	(NODE_PAGES - SMALL)
/* kswapd keeps so much free beyond the high watermark. */
#define MOST_ROOM	2000UL

static struct zone *zone;
/* So many pages are made free in a tick, and more small ones than that are ready. */
static unsigned long made_a_tick, made;
static unsigned long next;
/* Where large ones begin, on node 2. */
static unsigned long large_at;
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
	large_at = 0;
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
		n += machine_folio(2, large_at + i * LARGE)->order != 0;
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
			if (machine_folio(2, large_at + i * LARGE)->order != 0)
				machine_ready(2, large_at + i * LARGE, 0);
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

/* One that has moved is there again. Those who are hot stay so. */
static void always(unsigned long at, unsigned int order)
{
	if (!machine_folio(2, at)->order)
		machine_large(2, at, order);
	machine_ready(2, at, 0);
}

/* The other way round: large ones do not take it all. */
TEST(small_ones_come_among_endless_large_ones)
{
	unsigned long i, ms;

	begin(16, 2);
	for (ms = 0; ms < 10000; ms += 100) {
		for (i = 0; i < NR_LARGE; i++)
			always(large_at + i * LARGE, 9);
		machine_run(100);
	}
	assert_in_range(small_came(), made * 4 / 10, made * 95 / 100);
	machine_stop();
}

/* Other large folios wait than huge ones, which ask all the time, and come and go. */
static void run_among_medium(unsigned int ms, unsigned long nr)
{
	unsigned long i;

	for (; ms >= 100; ms -= 100) {
		for (i = 0; i < nr; i++)
			always(SMALL + (i + 1) * LARGE, 4);
		run(100);
	}
}

static void huge_come_among_medium(bool last)
{
	unsigned long i;

	begin(16, 3);
	/* Wherever they are. */
	large_at = last ? NODE_PAGES - NR_LARGE * LARGE : 0;
	for (i = 0; i < NR_LARGE; i++)
		machine_large(2, large_at + i * LARGE, 9);
	/* The others ask first. */
	for (i = 0; i < 100; i++) {
		machine_large(2, SMALL + (i + 1) * LARGE, 4);
		machine_ready(2, SMALL + (i + 1) * LARGE, 0);
	}
	machine_run(200);
	run_among_medium(2 * 2 * 2 * NR_LARGE * LARGE / 16 + 1000, 100);
	assert_int_equal(large_wait(), 0);
	machine_stop();
}

TEST(huge_ones_come_among_those_that_are_less_so)
{
	huge_come_among_medium(false);
	huge_come_among_medium(true);
}

/* The huge one was freed while room was kept for it. */
TEST(those_that_are_less_so_do_not_ask_for_it)
{
	unsigned long i, before;

	begin(16, 3);
	run(500);
	for (i = 0; i < NR_LARGE; i++)
		machine_folio(2, large_at + i * LARGE)->refs = 0;
	before = machine_stat("moved");
	made = 0;
	run_among_medium(5000, 20);
	assert_true(pghot_target(0)->keep.order <= 4);
	assert_in_range(machine_stat("moved") - before, made / 2, made + MOST_ROOM);
	machine_stop();
}

/* A thousand folios of 64 KiB, always, beside a huge one or none. */
static void run_among_thousand(unsigned int ms, bool huge)
{
	unsigned long i;

	for (; ms >= 100; ms -= 100) {
		for (i = 1; i <= 1000; i++)
			always(NODE_PAGES - 16 * i, 4);
		if (huge)
			machine_ready(2, 0, 0);
		machine_run(100);
	}
}

/* How often owners are asked in a second. */
static unsigned long asked_about_thousand(bool huge)
{
	unsigned long asked;

	begin(16, 2);
	zone->max_order = 8;
	run_among_thousand(2000, huge);
	asked = machine_asked;
	run_among_thousand(1000, huge);
	asked = machine_asked - asked;
	machine_stop();
	return asked;
}

/* Room is kept for one that finds no piece; others need not be looked at for that. */
TEST(others_are_not_asked_about_while_it_does_not_come)
{
	unsigned long alone = asked_about_thousand(false);
	unsigned long beside = asked_about_thousand(true);

	assert_in_range(beside, alone / 2, 4 * alone);
}

/* Some of its 2 MiB are ready all the time, and wait for less. */
TEST(a_large_one_comes_whoever_is_beside_it)
{
	unsigned int ms, i;

	begin(4, 2);
	for (i = 0; i < NR_LARGE; i++)
		machine_folio(2, i * LARGE)->refs = 0;
	machine_large(2, LAST, 8);
	for (ms = 0; ms < 10000; ms += 100) {
		machine_ready(2, LAST, 0);
		for (i = 0; i < 8; i++)
			machine_ready(2, LAST + LARGE / 2 + 8 * i + ms / 100 % 8, 0);
		machine_run(100);
		if (!machine_folio(2, LAST)->order)
			break;
	}
	assert_in_range(ms, 0, 3000);
	machine_stop();
}

/* Its target is full again, and choosy. So what is accessed there goes to the other one. */
TEST(what_waits_for_one_piece_goes_where_others_go)
{
	unsigned int ms, i;

	machine_start(false);
	zone = &machine_node[0].node_zones[0];
	zone->max_order = 3;
	machine_room(0, 4 * LARGE);
	machine_room(1, 0);
	machine_large(2, LAST, 9);
	machine_ready(2, LAST, 0);
	machine_thread(2);
	machine_run(2 * PGHOT_PERIOD_MS);
	assert_int_equal(machine_moved(2, LAST, LAST + 1, 0), 0);
	machine_room(0, 0);
	pghot_target(0)->speed.choosy = 1;
	machine_room(1, 200 * LARGE);
	machine_moves_a_tick = 50;
	for (ms = 0; ms < 1000; ms++) {
		for (i = 0; i < 60; i++)
			machine_ready(2, SMALL + 60 * ms + i, 0);
		if (ms % 100 == 0)
			machine_ready(2, LAST, 0);
		machine_run(1);
	}
	assert_int_equal(machine_moved(2, LAST, LAST + 1, 1), 1);
	machine_stop();
}

/* Nobody can say any more that they wait for it, and it is not looked for all the time. */
TEST(a_target_that_is_gone_is_not_asked_about)
{
	struct pghot_promoter *p;

	machine_start(false);
	p = pghot_promoter_create(2);
	pghot_promoter_met_large(p, 1, 9);
	pghot_promoter_close_to_large(p, 1, 9);
	assert_in_range(pghot_promoter_due_ms(p), 1, PGHOT_PERIOD_MS);
	machine_take_away(1);
	machine_run(1000);
	pghot_promoter_open(p, 1, true);
	pghot_promoter_sum_up(p);
	assert_int_equal(pghot_promoter_due_ms(p), U32_MAX);
	pghot_promoter_free(p);
	machine_stop();
}

/* Nothing is made, and of what there is no piece is large. */
static void begin_in_pieces(void)
{
	begin(0, 2);
	zone->max_order = 3;
	machine_room(0, 4 * LARGE);
}

/* One of all that wait is tried now and then. */
static void assert_hardly_looked_at(void)
{
	machine_run(PGHOT_PERIOD_MS);
	machine_looked = 0;
	machine_run(1000);
	assert_in_range(machine_looked, 5, 100);
}

/* No small ones, and DRAM is in pieces. */
TEST(all_that_wait_for_one_piece_cost_as_much_as_one)
{
	unsigned long i;

	begin_in_pieces();
	for (i = 0; i < NODE_PAGES; i += LARGE)
		machine_large(2, i, 9);
	for (i = 0; i < NODE_PAGES; i += LARGE)
		machine_ready(2, i, 0);
	assert_hardly_looked_at();
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

	begin_in_pieces();
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
	assert_hardly_looked_at();
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(large_folios_come_among_endless_small_ones),
	cmocka_unit_test(small_ones_do_not_wait_for_what_does_not_come),
	cmocka_unit_test(nothing_is_kept_for_what_has_gone),
	cmocka_unit_test(small_ones_come_among_endless_large_ones),
	cmocka_unit_test(huge_ones_come_among_those_that_are_less_so),
	cmocka_unit_test(those_that_are_less_so_do_not_ask_for_it),
	cmocka_unit_test(others_are_not_asked_about_while_it_does_not_come),
	cmocka_unit_test(a_large_one_comes_whoever_is_beside_it),
	cmocka_unit_test(what_waits_for_one_piece_goes_where_others_go),
	cmocka_unit_test(a_target_that_is_gone_is_not_asked_about),
	cmocka_unit_test(all_that_wait_for_one_piece_cost_as_much_as_one),
	cmocka_unit_test(smaller_ones_are_found_among_those_that_wait),
)
