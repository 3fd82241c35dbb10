// SPDX-License-Identifier: GPL-2.0
/* Large folios that find no room, and small ones behind them that would. */
#include <linux/array_size.h>
#include <linux/err.h>

#include "unit.h"
#include "machine.h"

#define LARGE		512UL
#define SMALL		(20 * LARGE)
#define NR_SMALL	100UL

static struct zone *zone(int nid)
{
	return &machine_node[nid].node_zones[0];
}

/* Ten huge pages in front of a hundred small ones, all for node 0. */
static void all_ready(void)
{
	unsigned long i;

	for (i = 0; i < 10; i++) {
		machine_large(2, i * LARGE, 9);
		machine_ready(2, i * LARGE, 0);
	}
	for (i = 0; i < NR_SMALL; i++)
		machine_ready(2, SMALL + i, 0);
}

/* Of what node 0 has free no piece is large. */
static void start_in_pieces(void)
{
	machine_start(false);
	zone(0)->max_order = 3;
	machine_room(1, 0);
	all_ready();
	machine_thread(2);
	machine_run(2 * PGHOT_PERIOD_MS);
}

static unsigned long small_moved(void)
{
	return machine_moved(2, SMALL, SMALL + NR_SMALL, 0);
}

TEST(small_pages_do_not_wait_for_a_large_one)
{
	machine_start(false);
	machine_room(0, 300);
	machine_room(1, 0);
	all_ready();
	machine_thread(2);
	machine_run(2 * PGHOT_PERIOD_MS);
	assert_int_equal(small_moved(), NR_SMALL);
	assert_int_equal(pghot_map_ready(&machine_lower[2].map, NULL), 10);
	/* They are asked for again, and not all for each of the others. */
	assert_in_range(machine_stat("delay_target_full"), 10, 60);
	assert_true(zone(0)->kswapd_woken);
	machine_room(0, 3 * LARGE);
	machine_run(2 * PGHOT_PERIOD_MS);
	assert_true(machine_moved(2, 0, SMALL, 0) >= 2 * LARGE);
	machine_stop();
}

TEST(a_large_folio_waits_for_free_memory_in_one_piece)
{
	start_in_pieces();
	assert_int_equal(small_moved(), NR_SMALL);
	/* It was not taken from where it was in use, nor is its record lost. */
	assert_int_equal(machine_stat("skip_migrate"), 0);
	assert_int_equal(pghot_map_ready(&machine_lower[2].map, NULL), 10);
	/* There is enough of it: nothing has to go for that. */
	assert_true(zone(0)->kcompactd_woken);
	assert_int_equal(zone(0)->kswapd_woken, 0);
	zone(0)->max_order = MAX_PAGE_ORDER;
	machine_run(4 * PGHOT_PERIOD_MS);
	assert_int_equal(machine_moved(2, 0, SMALL, 0), SMALL / 2);
	assert_int_equal(pghot_map_ready(&machine_lower[2].map, NULL), 0);
	machine_stop();
}

/* What compaction made of it would not do, or it needs somewhere to copy to. */
TEST(what_is_too_little_to_compact_has_to_become_more)
{
	static const unsigned long room[] = { 40, LARGE - 10, LARGE + 10 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(room); i++) {
		machine_start(false);
		zone(0)->max_order = 3;
		machine_room(0, room[i]);
		machine_room(1, 0);
		machine_large(2, 0, 9);
		machine_ready(2, 0, 0);
		machine_thread(2);
		machine_run(5);
		assert_true(zone(0)->kswapd_woken);
		assert_int_equal(zone(0)->kcompactd_woken, 0);
		machine_stop();
	}
}

TEST(those_that_wait_are_hardly_looked_at)
{
	unsigned int before;

	start_in_pieces();
	before = machine_asked;
	machine_run(10 * PGHOT_PERIOD_MS);
	/* One of ten, each time that it may be otherwise. */
	assert_in_range(machine_asked - before, 1, 12);
	machine_stop();
}

TEST(smaller_ones_are_not_too_large)
{
	machine_start(false);
	zone(0)->max_order = 4;
	machine_room(1, 0);
	machine_large(2, 0, 9);
	machine_ready(2, 0, 0);
	machine_large(2, LARGE, 4);
	machine_ready(2, LARGE, 0);
	machine_thread(2);
	machine_run(5);
	assert_int_equal(machine_moved(2, LARGE, LARGE + 16, 0), 16);
	assert_int_equal(machine_moved(2, 0, LARGE, 0), 0);
	machine_stop();
}

TEST(a_range_goes_on_behind_a_folio_that_is_too_large)
{
	unsigned long pages[NR_PGHOT_VERDICTS];
	struct pghot_promoter *p;
	struct pghot_range r;

	machine_start(false);
	zone(0)->max_order = 3;
	machine_room(1, 0);
	machine_large(2, 0, 9);
	r = (struct pghot_range) { .pfn = machine_pfn(2, 0), .nr = LARGE + 8 };
	p = pghot_promoter_create(2);
	assert_int_equal(pghot_promote_ranges(p, &r, 1, ULONG_MAX, pages), 0);
	assert_int_equal(pages[PGHOT_PROMOTED], 8);
	assert_int_equal(pages[PGHOT_WAITS_ROOM], LARGE);
	pghot_promoter_free(p);
	machine_stop();
}

/* It is asked where it may go before it is said to wait for another one's memory. */
TEST(what_may_go_to_another_target_only_does_not_wait_for_this_one)
{
	struct mem_cgroup one = { .allowed.bits = { BIT(1) | BIT(2) } };
	unsigned long i;

	machine_start(false);
	zone(0)->max_order = 3;
	for (i = 0; i < 10; i++) {
		machine_large(2, i * LARGE, 9);
		machine_ready(2, i * LARGE, 0);
	}
	machine_folio(2, 9 * LARGE)->memcg = &one;
	machine_thread(2);
	machine_run(10);
	assert_int_equal(machine_moved(2, 9 * LARGE, 10 * LARGE, 1), LARGE);
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(small_pages_do_not_wait_for_a_large_one),
	cmocka_unit_test(a_large_folio_waits_for_free_memory_in_one_piece),
	cmocka_unit_test(what_is_too_little_to_compact_has_to_become_more),
	cmocka_unit_test(those_that_wait_are_hardly_looked_at),
	cmocka_unit_test(smaller_ones_are_not_too_large),
	cmocka_unit_test(a_range_goes_on_behind_a_folio_that_is_too_large),
	cmocka_unit_test(what_may_go_to_another_target_only_does_not_wait_for_this_one),
)
