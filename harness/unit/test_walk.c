// SPDX-License-Identifier: GPL-2.0
/* hotmap_walk.c: finding what is ready. */
#include "map.h"

#include "hotmap_layout.h"

#include <linux/array_size.h>

static struct fixture f;

static void assert_next(struct pghot_cursor *c, unsigned long block_pfn)
{
	unsigned long pfn = 0;

	assert_true(pghot_map_next_block(&f.map, &f.node, c, &pfn));
	assert_int_equal(pfn, block_pfn);
}

static void assert_end(struct pghot_cursor *c)
{
	unsigned long pfn = 0;

	assert_false(pghot_map_next_block(&f.map, &f.node, c, &pfn));
}

/* What is left of a walk: these blocks, and nothing more. */
static void assert_blocks(struct pghot_cursor *c, const unsigned long *pfns,
			  size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		assert_next(c, pfns[i]);
	assert_end(c);
}

#define assert_rest(c, ...)						\
	assert_blocks(c, (const unsigned long[]) { __VA_ARGS__ },	\
		      ARRAY_SIZE(((const unsigned long[]) { __VA_ARGS__ })))

/* The same of a walk from the start. */
#define assert_walk(...)						\
	assert_rest(&(struct pghot_cursor) { }, __VA_ARGS__)

TEST(nothing_ready_nothing_found)
{
	for_each_map(&f) {
		struct pghot_cursor c = { };

		record_at(&f, pfn_in(SECTION_A, 0), 0, 1, 0);
		assert_end(&c);
		assert_end(&c);
	}
}

TEST(a_node_without_sections_has_no_blocks)
{
	for_each_map(&f) {
		struct pghot_map_node none;
		struct pghot_cursor c = { };
		unsigned long pfn;

		pghot_map_node_init(&none, 9);
		assert_false(pghot_map_next_block(&f.map, &none, &c, &pfn));
	}
}

TEST(blocks_come_in_pfn_order_and_once)
{
	for_each_map(&f) {
		struct pghot_cursor c = { };

		make_ready(&f, pfn_in(SECTION_C, 0));
		make_ready(&f, pfn_in(SECTION_B, 32767));
		make_ready(&f, pfn_in(SECTION_A, 512));
		make_ready(&f, pfn_in(SECTION_A, 511));
		make_ready(&f, pfn_in(SECTION_A, 0));
		make_ready(&f, pfn_in(SECTION_D, 0));
		assert_rest(&c, pfn_in(SECTION_A, 0),
			    pfn_in(SECTION_A, 512),
			    pfn_in(SECTION_B, 32256),
			    pfn_in(SECTION_C, 0));
		c = (struct pghot_cursor) { };
		assert_end(&c);
	}
}

TEST(a_finished_walk_leaves_no_bits_to_look_at)
{
	for_each_map(&f) {
		struct pghot_cursor c = { };

		make_ready(&f, pfn_in(SECTION_A, 0));
		make_ready(&f, pfn_in(SECTION_C, 32767));
		assert_rest(&c, pfn_in(SECTION_A, 0),
			    pfn_in(SECTION_C, 32256));
		rcu_read_lock();
		assert_int_equal(find_next_bit(leaf_of(&f.map, SECTION_A)->hot,
					       LEAF_SECTIONS, 0),
				 LEAF_SECTIONS);
		assert_int_equal(find_next_bit(leaf_of(&f.map, SECTION_C)->hot,
					       LEAF_SECTIONS, 0),
				 LEAF_SECTIONS);
		rcu_read_unlock();
	}
}

TEST(marked_blocks_are_found_again)
{
	for_each_map(&f) {
		struct pghot_cursor c = { };

		make_ready(&f, pfn_in(SECTION_B, 600));
		assert_next(&c, pfn_in(SECTION_B, 512));
		pghot_map_mark(&f.map, pfn_in(SECTION_B, 600));
		assert_end(&c);
		c = (struct pghot_cursor) { };
		assert_next(&c, pfn_in(SECTION_B, 512));
	}
}

TEST(a_stopped_walk_leaves_the_rest_to_be_found)
{
	for_each_map(&f) {
		struct pghot_cursor c = { };

		make_ready(&f, pfn_in(SECTION_A, 0));
		make_ready(&f, pfn_in(SECTION_A, 5000));
		make_ready(&f, pfn_in(SECTION_C, 0));
		assert_next(&c, pfn_in(SECTION_A, 0));
		pghot_map_stop(&f.map, &c);
		c = (struct pghot_cursor) { };
		assert_rest(&c, pfn_in(SECTION_A, 4608),
			    pfn_in(SECTION_C, 0));
		pghot_map_stop(&f.map, &c);
	}
}

TEST(a_stopped_walk_can_go_on_and_leaves_what_is_behind)
{
	for_each_map(&f) {
		struct pghot_cursor c = { };

		make_ready(&f, pfn_in(SECTION_A, 0));
		make_ready(&f, pfn_in(SECTION_A, 5000));
		assert_next(&c, pfn_in(SECTION_A, 0));
		pghot_map_mark(&f.map, pfn_in(SECTION_A, 0));
		pghot_map_stop(&f.map, &c);
		/* A block refused over and over does not hide the next one. */
		assert_rest(&c, pfn_in(SECTION_A, 4608));
		assert_walk(pfn_in(SECTION_A, 0));
	}
}

TEST(stale_ones_are_not_left_out_for_their_class)
{
	for_each_map(&f) {
		struct pghot_entry e[PGHOT_BLOCK_PAGES];
		bool more = false;

		make_ready(&f, pfn_in(SECTION_A, 0));
		assert_int_equal(pghot_map_collect(&f.map, pfn_in(SECTION_A, 0),
						   PGHOT_CLASSES, 1000, &f.t, e,
						   &more), 0);
		assert_true(more);
		more = false;
		assert_int_equal(pghot_map_collect(&f.map, pfn_in(SECTION_A, 0),
						   PGHOT_CLASSES,
						   1001 + f.t.window_ms,
						   &f.t, e,
						   &more), 1);
		assert_false(more);
		assert_false(e[0].hot);
	}
}

TEST(what_becomes_ready_ahead_is_found_behind_is_kept)
{
	for_each_map(&f) {
		struct pghot_cursor c = { };

		make_ready(&f, pfn_in(SECTION_A, 1024));
		assert_next(&c, pfn_in(SECTION_A, 1024));
		make_ready(&f, pfn_in(SECTION_A, 0));
		make_ready(&f, pfn_in(SECTION_A, 2048));
		make_ready(&f, pfn_in(SECTION_B, 0));
		assert_rest(&c, pfn_in(SECTION_A, 2048),
			    pfn_in(SECTION_B, 0));
		assert_walk(pfn_in(SECTION_A, 0));
	}
}

TEST(sections_removed_under_the_walk_are_passed_over)
{
	for_each_map(&f) {
		struct pghot_cursor c = { };

		make_ready(&f, pfn_in(SECTION_A, 0));
		make_ready(&f, pfn_in(SECTION_A, 5000));
		make_ready(&f, pfn_in(SECTION_B, 0));
		make_ready(&f, pfn_in(SECTION_C, 0));
		assert_next(&c, pfn_in(SECTION_A, 0));
		assert_int_equal(pghot_map_remove(&f.map, SECTION_A, 2), 3);
		assert_next(&c, pfn_in(SECTION_C, 0));
		assert_int_equal(collect(&f, pfn_in(SECTION_A, 0)), 0);
		assert_end(&c);
	}
}

TEST(a_section_that_changed_its_owner_keeps_its_blocks)
{
	for_each_map(&f) {
		struct pghot_cursor c = { };
		unsigned long pfn;

		make_ready(&f, pfn_in(SECTION_B, 0));
		make_ready(&f, pfn_in(SECTION_B, 1000));
		assert_next(&c, pfn_in(SECTION_B, 0));
		pghot_map_remove(&f.map, SECTION_B, 1);
		pghot_map_add(&f.map, &f.other, SECTION_B, 0);
		make_ready(&f, pfn_in(SECTION_B, 2000));
		assert_end(&c);
		c = (struct pghot_cursor) { };
		assert_true(pghot_map_next_block(&f.map, &f.other, &c, &pfn));
		assert_int_equal(pfn, pfn_in(SECTION_B, 1536));
	}
}

TEST(collected_in_pfn_order)
{
	static const unsigned int pages[] = { 0, 1, 7, 8, 63, 64, 510, 511 };

	for_each_map(&f) {
		unsigned int i;

		for (i = 8; i-- > 0;)
			make_ready(&f, pfn_in(SECTION_A, 512 + pages[i]));
		/* Neighbour blocks stay out of it. */
		make_ready(&f, pfn_in(SECTION_A, 511));
		make_ready(&f, pfn_in(SECTION_A, 1024));
		assert_int_equal(collect(&f, pfn_in(SECTION_A, 512)), 8);
		for (i = 0; i < 8; i++)
			assert_int_equal(f.entries[i].pfn,
					 pfn_in(SECTION_A, 512 + pages[i]));
		/* They stay until they are taken. */
		assert_int_equal(collect(&f, pfn_in(SECTION_A, 512)), 8);
		assert_true(pghot_map_take(&f.map, f.entries[3].pfn));
		assert_int_equal(collect(&f, pfn_in(SECTION_A, 512)), 7);
	}
}

TEST(taken_as_seen_only_if_not_accessed_since)
{
	for_each_map(&f) {
		unsigned long pfn = pfn_in(SECTION_B, 700);

		make_ready(&f, pfn);
		assert_int_equal(collect(&f, pfn_in(SECTION_B, 512)), 1);
		record_at(&f, pfn, 0, 1, 1000);
		assert_false(pghot_map_take_seen(&f.map, f.entries));
		assert_int_equal(pghot_map_ready(&f.node, NULL), 1);

		assert_int_equal(collect(&f, pfn_in(SECTION_B, 512)), 1);
		assert_true(pghot_map_take_seen(&f.map, f.entries));
		assert_false(pghot_map_take_seen(&f.map, f.entries));
		assert_int_equal(pghot_map_ready(&f.node, NULL), 0);
	}
}

TEST(a_whole_block_fits)
{
	for_each_map(&f) {
		unsigned int i;

		for (i = 0; i < PGHOT_BLOCK_PAGES; i++)
			make_ready(&f, pfn_in(SECTION_C, 32256 + i));
		assert_int_equal(collect(&f, pfn_in(SECTION_C, 32256)),
				 PGHOT_BLOCK_PAGES);
		assert_int_equal(f.entries[511].pfn, pfn_in(SECTION_C, 32767));
	}
}

TEST(colder_ones_are_left_out_and_reported)
{
	for_each_map(&f) {
		unsigned long base = pfn_in(SECTION_A, 0);
		bool more = false;

		f.t.freq_threshold = 1;
		record_at(&f, base, 0, 1, 1000);
		record_at(&f, base + 1, 0, 2, 1000);
		assert_int_equal(pghot_map_collect(&f.map, base, 1, 1000, &f.t,
						   f.entries, &more), 1);
		assert_true(more);
		assert_int_equal(f.entries[0].pfn, base + 1);
		assert_int_equal(f.entries[0].class, 1);
		more = false;
		assert_int_equal(pghot_map_collect(&f.map, base, 7, 1000, &f.t,
						   f.entries, &more), 0);
		assert_true(more);
	}
}

TEST(entries_say_whether_they_are_still_hot)
{
	for_each_map(&f) {
		unsigned long base = pfn_in(SECTION_A, 0);
		bool more = false;

		make_ready(&f, base);
		assert_int_equal(collect(&f, base), 1);
		assert_true(f.entries[0].hot);
		assert_int_equal(pghot_map_collect(&f.map, base, 0, 6000, &f.t,
						   f.entries, &more), 1);
		assert_false(f.entries[0].hot);
		/* A raised threshold applies to what is ready already. */
		f.t.freq_threshold = 3;
		assert_int_equal(collect(&f, base), 1);
		assert_false(f.entries[0].hot);
	}
}

UNIT_MAIN(
	cmocka_unit_test(nothing_ready_nothing_found),
	cmocka_unit_test(a_node_without_sections_has_no_blocks),
	cmocka_unit_test(blocks_come_in_pfn_order_and_once),
	cmocka_unit_test(a_finished_walk_leaves_no_bits_to_look_at),
	cmocka_unit_test(marked_blocks_are_found_again),
	cmocka_unit_test(a_stopped_walk_leaves_the_rest_to_be_found),
	cmocka_unit_test(a_stopped_walk_can_go_on_and_leaves_what_is_behind),
	cmocka_unit_test(stale_ones_are_not_left_out_for_their_class),
	cmocka_unit_test(what_becomes_ready_ahead_is_found_behind_is_kept),
	cmocka_unit_test(sections_removed_under_the_walk_are_passed_over),
	cmocka_unit_test(a_section_that_changed_its_owner_keeps_its_blocks),
	cmocka_unit_test(collected_in_pfn_order),
	cmocka_unit_test(taken_as_seen_only_if_not_accessed_since),
	cmocka_unit_test(a_whole_block_fits),
	cmocka_unit_test(colder_ones_are_left_out_and_reported),
	cmocka_unit_test(entries_say_whether_they_are_still_hot),
)
