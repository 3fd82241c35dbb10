// SPDX-License-Identifier: GPL-2.0
/* Blocks that are held: passed over until what they wait for is wanted. */
#include "map.h"

#define T0	PGHOT_WAIT_BIT(0)
#define T1	PGHOT_WAIT_BIT(1)

static struct fixture f;

/* The next block of a walk that wants these targets, 0 at its end. */
static unsigned long next(struct pghot_cursor *c, u8 wanted)
{
	unsigned long pfn = 0;

	c->wanted = wanted;
	return pghot_map_next_block(&f.map, &f.node, c, &pfn) ? pfn : 0;
}

/* Walk the whole node; return how many blocks there were, and hold each again. */
static unsigned int round_of(u8 wanted, u8 waits)
{
	struct pghot_cursor c = {};
	unsigned long pfn;
	unsigned int n = 0;

	while ((pfn = next(&c, wanted))) {
		n++;
		pghot_map_hold(&f.map, pfn, waits);
	}
	return n;
}

static unsigned int peek_all(void)
{
	struct pghot_cursor c = {};
	unsigned long pfn;
	unsigned int n = 0;

	while (pghot_map_peek_block(&f.map, &f.node, &c, &pfn))
		n++;
	return n;
}

/* Two blocks of each of two sections, in two leaves. */
static void four_ready(void)
{
	make_ready(&f, pfn_in(SECTION_B, 3));
	make_ready(&f, pfn_in(SECTION_B, 5000));
	make_ready(&f, pfn_in(SECTION_C, 0));
	make_ready(&f, pfn_in(SECTION_C, PAGES_PER_SECTION - 1));
}

/* Hot ones are left for the next walk. */
TEST(a_walk_may_be_for_held_blocks_alone)
{
	for_each_map(&f) {
		struct pghot_cursor c = { .held_only = true };

		four_ready();
		assert_int_equal(next(&c, T0 | T1), 0);
		assert_int_equal(round_of(0, T0), 4);
		make_ready(&f, pfn_in(SECTION_B, 900));
		make_ready(&f, pfn_in(SECTION_B, 9000));
		c = (struct pghot_cursor) { .held_only = true };
		assert_int_equal(next(&c, T1), 0);
		c = (struct pghot_cursor) { .held_only = true };
		assert_int_equal(next(&c, T0), pfn_in(SECTION_B, 0));
		pghot_map_hold(&f.map, pfn_in(SECTION_B, 0), T1);
		pghot_map_stop(&f.map, &c);
		assert_int_equal(round_of(0, T0), 2);
		assert_int_equal(round_of(T0, T0), 6);
	}
}

TEST(held_blocks_are_passed_over)
{
	for_each_map(&f) {
		four_ready();
		assert_int_equal(round_of(0, T0), 4);
		assert_int_equal(round_of(0, T0), 0);
		assert_int_equal(round_of(T1, T0), 0);
		assert_int_equal(round_of(T0, T1), 4);
		assert_int_equal(round_of(T0, T0), 0);
		assert_int_equal(round_of(T0 | T1, T0), 4);
	}
}

TEST(a_held_block_that_becomes_hot_is_found_alone)
{
	struct pghot_cursor c = {};

	for_each_map(&f) {
		four_ready();
		round_of(0, T0);
		make_ready(&f, pfn_in(SECTION_B, 5001));
		c = (struct pghot_cursor) {};
		assert_int_equal(next(&c, T1), ALIGN_DOWN(pfn_in(SECTION_B, 5001),
							  PGHOT_BLOCK_PAGES));
		assert_int_equal(next(&c, T1), 0);
		/* The others still wait for what they waited for. */
		assert_int_equal(round_of(T1, T0), 0);
		assert_int_equal(round_of(T0, T0), 3);
	}
}

TEST(a_target_that_closes_in_a_walk_ends_it)
{
	struct pghot_cursor c;

	for_each_map(&f) {
		four_ready();
		round_of(0, T0);
		c = (struct pghot_cursor) {};
		assert_int_equal(next(&c, T0 | T1), pfn_in(SECTION_B, 0));
		pghot_map_hold(&f.map, pfn_in(SECTION_B, 0), T0);
		assert_int_equal(next(&c, T1), 0);
		assert_int_equal(round_of(T1, T0), 0);
		assert_int_equal(round_of(T0, T0), 4);
	}
}

TEST(a_walk_from_the_middle_leaves_the_rest_held)
{
	struct pghot_cursor c;

	for_each_map(&f) {
		four_ready();
		round_of(0, T0);
		c = (struct pghot_cursor) { .section = SECTION_B, .block = 1 };
		assert_int_equal(next(&c, T0), ALIGN_DOWN(pfn_in(SECTION_B, 5000),
							  PGHOT_BLOCK_PAGES));
		assert_int_equal(next(&c, T0), pfn_in(SECTION_C, 0));
		pghot_map_stop(&f.map, &c);
		assert_int_equal(round_of(T1, T0), 0);
		assert_int_equal(round_of(T0, T0), 2);
	}
}

TEST(what_a_section_waits_for_is_forgotten_with_its_blocks)
{
	struct pghot_cursor c;

	for_each_map(&f) {
		four_ready();
		/* One block of the section waits for both, the other for one. */
		round_of(0, T0);
		c = (struct pghot_cursor) {};
		next(&c, T0);
		pghot_map_hold(&f.map, pfn_in(SECTION_B, 0), T0 | T1);
		while (next(&c, 0))
			;
		assert_int_equal(round_of(T1, T0), 2);
		assert_int_equal(round_of(T1, T0), 0);
	}
}

TEST(a_record_that_is_for_another_node_now_is_found)
{
	for_each_map(&f) {
		four_ready();
		round_of(0, T0);
		record_at(&f, pfn_in(SECTION_B, 3), 0, 1, 1000);
		assert_int_equal(round_of(0, T0), 0);
		record_at(&f, pfn_in(SECTION_B, 3), 1, 1, 1000);
		assert_int_equal(round_of(0, T0), 1);
	}
}

TEST(all_that_waits_can_be_looked_at)
{
	for_each_map(&f) {
		assert_int_equal(peek_all(), 0);
		four_ready();
		assert_int_equal(peek_all(), 4);
		round_of(0, T0);
		assert_int_equal(peek_all(), 4);
		make_ready(&f, pfn_in(SECTION_C, 1));
		make_ready(&f, pfn_in(SECTION_D, 1));
		assert_int_equal(peek_all(), 4);
		assert_int_equal(round_of(0, T0), 1);
		assert_int_equal(round_of(T0, T0), 4);
	}
}

TEST(a_section_that_went_holds_nothing)
{
	for_each_map(&f) {
		four_ready();
		round_of(0, T0);
		assert_int_equal(pghot_map_remove(&f.map, SECTION_B, 1), 2);
		assert_int_equal(peek_all(), 2);
		pghot_map_hold(&f.map, pfn_in(SECTION_B, 0), T0);
		pghot_map_add(&f.map, &f.node, SECTION_B, 0);
		assert_int_equal(round_of(T0, T0), 2);
	}
}

UNIT_MAIN(
	cmocka_unit_test(a_walk_may_be_for_held_blocks_alone),
	cmocka_unit_test(held_blocks_are_passed_over),
	cmocka_unit_test(a_held_block_that_becomes_hot_is_found_alone),
	cmocka_unit_test(a_target_that_closes_in_a_walk_ends_it),
	cmocka_unit_test(a_walk_from_the_middle_leaves_the_rest_held),
	cmocka_unit_test(what_a_section_waits_for_is_forgotten_with_its_blocks),
	cmocka_unit_test(a_record_that_is_for_another_node_now_is_found),
	cmocka_unit_test(all_that_waits_can_be_looked_at),
	cmocka_unit_test(a_section_that_went_holds_nothing),
)
