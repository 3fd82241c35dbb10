// SPDX-License-Identifier: GPL-2.0
/* Tests of the walk over the hot map: what is ready is found, in order. */
#include <linux/numa.h>

#include "fixture.h"

static void expect_next(struct kunit *test, struct pghot_cursor *c,
			unsigned long block_pfn)
{
	struct fixture *f = test->priv;
	unsigned long pfn = 0;

	KUNIT_EXPECT_TRUE(test, pghot_map_next_block(&f->map, &f->node, c,
						     &pfn));
	KUNIT_EXPECT_EQ(test, pfn, block_pfn);
}

static void expect_end(struct kunit *test, struct pghot_cursor *c)
{
	struct fixture *f = test->priv;
	unsigned long pfn;

	KUNIT_EXPECT_FALSE(test, pghot_map_next_block(&f->map, &f->node, c,
						      &pfn));
}

static void nothing_ready_nothing_found(struct kunit *test)
{
	struct fixture *f = test->priv;
	static struct pghot_map_node none;
	struct pghot_cursor c = { };
	unsigned long pfn;

	record_at(f, pfn_in(SECTION_A, 0), 0, 1, NOW);
	expect_end(test, &c);
	expect_end(test, &c);

	pghot_map_node_init(&none, 9);
	c = (struct pghot_cursor) { };
	KUNIT_EXPECT_FALSE(test, pghot_map_next_block(&f->map, &none, &c,
						      &pfn));
}

static void blocks_come_once_in_pfn_order(struct kunit *test)
{
	struct pghot_cursor c = { };

	make_ready(test, pfn_in(SECTION_C, 0));
	make_ready(test, pfn_in(SECTION_B, LAST_PAGE));
	make_ready(test, pfn_in(SECTION_A, PGHOT_BLOCK_PAGES));
	make_ready(test, pfn_in(SECTION_A, PGHOT_BLOCK_PAGES - 1));
	make_ready(test, pfn_in(SECTION_A, 0));
	make_ready(test, pfn_in(SECTION_D, 0));	/* another node's */
	expect_next(test, &c, pfn_in(SECTION_A, 0));
	expect_next(test, &c, pfn_in(SECTION_A, PGHOT_BLOCK_PAGES));
	expect_next(test, &c, pfn_in(SECTION_B, PAGES_PER_SECTION -
						PGHOT_BLOCK_PAGES));
	expect_next(test, &c, pfn_in(SECTION_C, 0));
	expect_end(test, &c);
	c = (struct pghot_cursor) { };
	expect_end(test, &c);
}

static void marked_block_is_found_again(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct pghot_cursor c = { };

	make_ready(test, pfn_in(SECTION_B, PGHOT_BLOCK_PAGES + 3));
	expect_next(test, &c, pfn_in(SECTION_B, PGHOT_BLOCK_PAGES));
	pghot_map_mark(&f->map, pfn_in(SECTION_B, PGHOT_BLOCK_PAGES + 3));
	expect_end(test, &c);
	c = (struct pghot_cursor) { };
	expect_next(test, &c, pfn_in(SECTION_B, PGHOT_BLOCK_PAGES));
}

static void stopped_walk_goes_on_where_it_was(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct pghot_cursor c = { }, from_start = { };

	make_ready(test, pfn_in(SECTION_A, 0));
	make_ready(test, pfn_in(SECTION_A, PGHOT_BLOCK_PAGES));
	make_ready(test, pfn_in(SECTION_C, 0));
	expect_next(test, &c, pfn_in(SECTION_A, 0));
	pghot_map_stop(&f->map, &c);
	expect_next(test, &c, pfn_in(SECTION_A, PGHOT_BLOCK_PAGES));
	expect_next(test, &c, pfn_in(SECTION_C, 0));
	pghot_map_stop(&f->map, &c);
	expect_end(test, &c);
	expect_end(test, &from_start);
}

static void ready_behind_the_walk_waits_for_the_next(struct kunit *test)
{
	struct pghot_cursor c = { };

	make_ready(test, pfn_in(SECTION_B, PGHOT_BLOCK_PAGES));
	expect_next(test, &c, pfn_in(SECTION_B, PGHOT_BLOCK_PAGES));
	make_ready(test, pfn_in(SECTION_B, 0));
	make_ready(test, pfn_in(SECTION_A, 0));
	expect_end(test, &c);
	c = (struct pghot_cursor) { };
	expect_next(test, &c, pfn_in(SECTION_A, 0));
	expect_next(test, &c, pfn_in(SECTION_B, 0));
	expect_end(test, &c);
}

static void removed_section_does_not_stop_the_walk(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct pghot_cursor c = { };

	make_ready(test, pfn_in(SECTION_A, 0));
	make_ready(test, pfn_in(SECTION_A, PGHOT_BLOCK_PAGES));
	make_ready(test, pfn_in(SECTION_C, 0));
	expect_next(test, &c, pfn_in(SECTION_A, 0));
	pghot_map_remove(&f->map, SECTION_A, 1);
	expect_next(test, &c, pfn_in(SECTION_C, 0));
	expect_end(test, &c);
}

static void collect_keeps_pfn_order(struct kunit *test)
{
	static const unsigned int pages[] = { 0, 1, 7, 8, 63, 64, 510, 511 };
	const unsigned long block = pfn_in(SECTION_A, 3 * PGHOT_BLOCK_PAGES);
	struct fixture *f = test->priv;
	int i;

	for (i = ARRAY_SIZE(pages) - 1; i >= 0; i--)
		make_ready(test, block + pages[i]);
	make_ready(test, block - 1);
	make_ready(test, block + PGHOT_BLOCK_PAGES);
	record_at(f, block + 2, 0, 1, NOW);

	KUNIT_ASSERT_EQ(test, collect(f, block), ARRAY_SIZE(pages));
	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		KUNIT_EXPECT_EQ(test, f->entries[i].pfn, block + pages[i]);
		KUNIT_EXPECT_EQ(test, f->entries[i].class, 1);
		KUNIT_EXPECT_TRUE(test, f->entries[i].hot);
	}
	/* Collecting takes nothing away. */
	KUNIT_EXPECT_EQ(test, collect(f, block), ARRAY_SIZE(pages));
}

static void whole_block_can_be_ready(struct kunit *test)
{
	const unsigned long block = pfn_in(SECTION_B, 0);
	struct fixture *f = test->priv;
	int i;

	for (i = 0; i < PGHOT_BLOCK_PAGES; i++)
		make_ready(test, block + i);
	KUNIT_ASSERT_EQ(test, collect(f, block), PGHOT_BLOCK_PAGES);
	for (i = 0; i < PGHOT_BLOCK_PAGES; i++)
		KUNIT_ASSERT_EQ(test, f->entries[i].pfn, block + i);
}

static void colder_classes_are_left_and_told_of(struct kunit *test)
{
	const unsigned long block = pfn_in(SECTION_A, 0);
	struct fixture *f = test->priv;
	bool more = false;

	make_ready(test, block);
	KUNIT_EXPECT_EQ(test, pghot_map_collect(&f->map, block, 1, NOW, &f->t,
						f->entries, &more), 1);
	KUNIT_EXPECT_FALSE(test, more);

	make_ready(test, block + 1);
	record_at(f, block + 1, 0, 2, NOW);	/* class 2 */
	KUNIT_EXPECT_EQ(test, pghot_map_collect(&f->map, block, 2, NOW, &f->t,
						f->entries, &more), 1);
	KUNIT_EXPECT_TRUE(test, more);
	KUNIT_EXPECT_EQ(test, f->entries[0].pfn, block + 1);
	KUNIT_EXPECT_EQ(test, f->entries[0].class, 2);
}

static void cold_ones_are_told_apart(struct kunit *test)
{
	const unsigned long block = pfn_in(SECTION_A, 0);
	struct fixture *f = test->priv;
	bool more;

	make_ready(test, block);
	KUNIT_EXPECT_EQ(test, pghot_map_collect(&f->map, block, 0,
						NOW + f->t.window_ms, &f->t,
						f->entries, &more), 1);
	KUNIT_EXPECT_FALSE(test, f->entries[0].hot);
	/* A threshold raised meanwhile counts as well. */
	f->t.freq_threshold = 3;
	KUNIT_EXPECT_EQ(test, collect(f, block), 1);
	KUNIT_EXPECT_FALSE(test, f->entries[0].hot);
}

/* The node that a page of SECTION_A is to go to after an access from @nid. */
static int target_after(struct fixture *f, unsigned long page, int nid)
{
	unsigned long pfn = pfn_in(SECTION_A, page);
	unsigned int n, i;

	record_at(f, pfn, nid, f->t.freq_threshold, NOW);
	n = collect(f, ALIGN_DOWN(pfn, PGHOT_BLOCK_PAGES));
	for (i = 0; i < n; i++) {
		if (f->entries[i].pfn == pfn)
			return f->entries[i].nid;
	}
	return -2;
}

static void one_node_is_exact(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, target_after(f, 0, 1), 1);
	KUNIT_EXPECT_EQ(test, target_after(f, 1, 1), 1);
}

static void two_nodes_are_exact(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, target_after(f, 0, 5), 5);
	KUNIT_EXPECT_EQ(test, target_after(f, 1, 1000), 1000);
	KUNIT_EXPECT_EQ(test, target_after(f, 2, 5), 5);
	KUNIT_EXPECT_EQ(test, target_after(f, 3, 1000), 1000);
	/* The last access decides. */
	KUNIT_EXPECT_EQ(test, target_after(f, 0, 1000), 1000);
	KUNIT_EXPECT_EQ(test, target_after(f, 0, 5), 5);
	/* Four blocks have two nodes of their own. */
	KUNIT_EXPECT_EQ(test, target_after(f, 4 * PGHOT_BLOCK_PAGES, 7), 7);
	KUNIT_EXPECT_EQ(test, target_after(f, 4 * PGHOT_BLOCK_PAGES + 1, 8), 8);
	KUNIT_EXPECT_EQ(test, target_after(f, 4, 5), 5);
}

static void third_node_takes_a_place(struct kunit *test)
{
	const struct layout_param *param = test->param_value;
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, target_after(f, 0, 4), 4);
	KUNIT_EXPECT_EQ(test, target_after(f, 1, 5), 5);
	/* An even node takes the first place, an odd one the second. */
	KUNIT_EXPECT_EQ(test, target_after(f, 2, 6), 6);
	KUNIT_EXPECT_EQ(test, target_after(f, 1, 5), 5);
	KUNIT_EXPECT_EQ(test, target_after(f, 3, 7), 7);
	KUNIT_EXPECT_EQ(test, target_after(f, 2, 6), 6);
	/* The pages that 4 and 5 wanted follow whoever took their places. */
	KUNIT_ASSERT_EQ(test, collect(f, pfn_in(SECTION_A, 0)), 4);
	KUNIT_EXPECT_EQ(test, f->entries[0].nid, param->precise ? 4 : 6);
	KUNIT_EXPECT_EQ(test, f->entries[1].nid, param->precise ? 5 : 7);
}

static void access_from_nowhere_claims_no_place(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, target_after(f, 0, NUMA_NO_NODE), NUMA_NO_NODE);
	KUNIT_EXPECT_EQ(test, target_after(f, 1, 3), 3);
	KUNIT_EXPECT_EQ(test, target_after(f, 2, 4), 4);
	KUNIT_EXPECT_EQ(test, target_after(f, 1, 3), 3);
}

static struct kunit_case walk_cases[] = {
	KUNIT_CASE_PARAM(nothing_ready_nothing_found, layout_gen_params),
	KUNIT_CASE_PARAM(blocks_come_once_in_pfn_order, layout_gen_params),
	KUNIT_CASE_PARAM(marked_block_is_found_again, layout_gen_params),
	KUNIT_CASE_PARAM(stopped_walk_goes_on_where_it_was, layout_gen_params),
	KUNIT_CASE_PARAM(ready_behind_the_walk_waits_for_the_next,
			 layout_gen_params),
	KUNIT_CASE_PARAM(removed_section_does_not_stop_the_walk,
			 layout_gen_params),
	KUNIT_CASE_PARAM(collect_keeps_pfn_order, layout_gen_params),
	KUNIT_CASE_PARAM(whole_block_can_be_ready, layout_gen_params),
	KUNIT_CASE_PARAM(colder_classes_are_left_and_told_of,
			 layout_gen_params),
	KUNIT_CASE_PARAM(cold_ones_are_told_apart, layout_gen_params),
	KUNIT_CASE_PARAM(one_node_is_exact, layout_gen_params),
	KUNIT_CASE_PARAM(two_nodes_are_exact, layout_gen_params),
	KUNIT_CASE_PARAM(third_node_takes_a_place, layout_gen_params),
	KUNIT_CASE_PARAM(access_from_nowhere_claims_no_place,
			 layout_gen_params),
	{ }
};

static struct kunit_suite walk_suite = {
	.name = "pghot_walk",
	.init = fixture_init,
	.test_cases = walk_cases,
};

kunit_test_suite(walk_suite);
