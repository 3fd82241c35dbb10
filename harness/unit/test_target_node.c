// SPDX-License-Identifier: GPL-2.0
/* Which node a ready record is to be promoted to. */
#include "map.h"

static struct fixture f;

/* Make a page of SECTION_A ready by an access from @nid; return its entry's. */
static int target_after(unsigned long page, int nid)
{
	unsigned long pfn = pfn_in(SECTION_A, page);
	unsigned int n, i;

	record_at(&f, pfn, nid, f.t.freq_threshold, 1000);
	n = collect(&f, ALIGN_DOWN(pfn, PGHOT_BLOCK_PAGES));
	for (i = 0; i < n; i++)
		if (f.entries[i].pfn == pfn)
			return f.entries[i].nid;
	fail();
	return -2;
}

TEST(precise_keeps_every_node)
{
	static const int nids[] = { 0, 1, 2, 3, 63, 64, 511, 1022 };
	unsigned int i;

	fixture_init(&f, true);
	for (i = 0; i < 8; i++)
		assert_int_equal(target_after(i, nids[i]), nids[i]);
	assert_int_equal(target_after(100, NUMA_NO_NODE), NUMA_NO_NODE);
	fixture_exit(&f);
}

TEST(two_nodes_a_group_are_exact)
{
	fixture_init(&f, false);
	assert_int_equal(target_after(0, 5), 5);
	assert_int_equal(target_after(1, 1000), 1000);
	assert_int_equal(target_after(2, 5), 5);
	assert_int_equal(target_after(3, 1000), 1000);
	assert_int_equal(target_after(0, 5), 5);
	fixture_exit(&f);
}

TEST(each_group_has_its_own_two)
{
	fixture_init(&f, false);
	assert_int_equal(target_after(0, 0), 0);
	assert_int_equal(target_after(1, 1), 1);
	assert_int_equal(target_after(2048, 2), 2);
	assert_int_equal(target_after(2049, 3), 3);
	assert_int_equal(target_after(2, 0), 0);
	assert_int_equal(target_after(2050, 2), 2);
	fixture_exit(&f);
}

TEST(the_last_access_decides)
{
	for_each_map(&f) {
		assert_int_equal(target_after(9, 0), 0);
		assert_int_equal(target_after(9, 1), 1);
		assert_int_equal(target_after(9, 0), 0);
	}
}

TEST(a_third_node_replaces_one_and_is_exact_itself)
{
	fixture_init(&f, false);
	assert_int_equal(target_after(0, 0), 0);
	assert_int_equal(target_after(1, 1), 1);
	assert_int_equal(target_after(2, 2), 2);
	/* Node 1 kept its place. */
	assert_int_equal(target_after(1, 1), 1);
	assert_int_equal(target_after(3, 3), 3);
	assert_int_equal(target_after(2, 2), 2);
	fixture_exit(&f);
}

TEST(a_page_of_a_replaced_node_follows_the_place)
{
	bool found = false;
	unsigned int n;

	fixture_init(&f, false);
	assert_int_equal(target_after(0, 0), 0);
	assert_int_equal(target_after(1, 1), 1);
	assert_int_equal(target_after(2, 2), 2);
	n = collect(&f, pfn_in(SECTION_A, 0));
	assert_int_equal(n, 3);
	while (n--) {
		if (f.entries[n].pfn != pfn_in(SECTION_A, 0))
			continue;
		/* One byte a page cannot tell three nodes apart. */
		assert_int_equal(f.entries[n].nid, 2);
		found = true;
	}
	assert_true(found);
	fixture_exit(&f);
}

TEST(no_node_claims_no_place)
{
	fixture_init(&f, false);
	assert_int_equal(target_after(0, NUMA_NO_NODE), NUMA_NO_NODE);
	assert_int_equal(target_after(1, 4), 4);
	assert_int_equal(target_after(2, 5), 5);
	/* It has no place, and goes where the first does. */
	assert_int_equal(target_after(3, NUMA_NO_NODE), 4);
	fixture_exit(&f);
}

TEST(a_section_added_again_forgets_its_nodes)
{
	fixture_init(&f, false);
	assert_int_equal(target_after(0, 6), 6);
	pghot_map_remove(&f.map, SECTION_A, 1);
	pghot_map_add(&f.map, &f.node, SECTION_A, 0);
	assert_int_equal(target_after(0, NUMA_NO_NODE), NUMA_NO_NODE);
	fixture_exit(&f);
}

UNIT_MAIN(
	cmocka_unit_test(precise_keeps_every_node),
	cmocka_unit_test(two_nodes_a_group_are_exact),
	cmocka_unit_test(each_group_has_its_own_two),
	cmocka_unit_test(the_last_access_decides),
	cmocka_unit_test(a_third_node_replaces_one_and_is_exact_itself),
	cmocka_unit_test(a_page_of_a_replaced_node_follows_the_place),
	cmocka_unit_test(no_node_claims_no_place),
	cmocka_unit_test(a_section_added_again_forgets_its_nodes),
)
