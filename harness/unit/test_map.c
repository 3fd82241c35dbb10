// SPDX-License-Identifier: GPL-2.0
/* hotmap.c: sections come and go, records are counted once. */
#include "map.h"

#include <linux/array_size.h>
#include <linux/math.h>

#include "hotmap_layout.h"

static struct fixture f;

TEST(untracked_pages_are_not_recorded)
{
	for_each_map(&f) {
		unsigned long far = section_nr_to_pfn(ULONG_MAX >> 15);

		assert_int_equal(record_at(&f, pfn_in(0, 0), 0, 1, 0),
				 PGHOT_UNTRACKED);
		assert_int_equal(record_at(&f, pfn_in(SECTION_C + 1, 0), 0, 1,
					   0), PGHOT_UNTRACKED);
		assert_int_equal(record_at(&f, far, 0, 1, 0), PGHOT_UNTRACKED);
		assert_null(pghot_map_owner(&f.map, far));
		assert_false(pghot_map_take(&f.map, far));
		assert_int_equal(collect(&f, far), 0);
		pghot_map_mark(&f.map, far);
	}
}

TEST(owner_is_the_sections_node)
{
	for_each_map(&f) {
		assert_ptr_equal(pghot_map_owner(&f.map, pfn_in(SECTION_A, 0)),
				 &f.node);
		assert_ptr_equal(pghot_map_owner(&f.map,
						 pfn_in(SECTION_D, 32767)),
				 &f.other);
		assert_null(pghot_map_owner(&f.map, pfn_in(SECTION_A - 1,
							   32767)));
	}
}

TEST(ready_once_until_taken)
{
	for_each_map(&f) {
		unsigned long pfn = pfn_in(SECTION_B, 700);

		assert_int_equal(record_at(&f, pfn, 0, 1, 0), PGHOT_COUNTED);
		assert_false(pghot_map_take(&f.map, pfn));
		assert_int_equal(record_at(&f, pfn, 0, 1, 10),
				 PGHOT_BECAME_READY);
		assert_int_equal(record_at(&f, pfn, 0, 1, 20), PGHOT_COUNTED);
		assert_true(pghot_map_take(&f.map, pfn));
		assert_false(pghot_map_take(&f.map, pfn));
		assert_int_equal(record_at(&f, pfn, 0, 1, 30), PGHOT_COUNTED);
		assert_int_equal(record_at(&f, pfn, 0, 1, 40),
				 PGHOT_BECAME_READY);
	}
}

TEST(neighbours_do_not_disturb_each_other)
{
	for_each_map(&f) {
		make_ready(&f, pfn_in(SECTION_A, 32767));
		make_ready(&f, pfn_in(SECTION_B, 1));
		assert_false(pghot_map_take(&f.map, pfn_in(SECTION_A, 32766)));
		assert_false(pghot_map_take(&f.map, pfn_in(SECTION_B, 0)));
		assert_false(pghot_map_take(&f.map, pfn_in(SECTION_B, 2)));
		assert_true(pghot_map_take(&f.map, pfn_in(SECTION_A, 32767)));
		assert_true(pghot_map_take(&f.map, pfn_in(SECTION_B, 1)));
	}
}

/* As many nodes as there can be but one, and what a driver may make up. */
TEST(numbers_that_no_node_has_are_kept_as_none)
{
	static const int nids[] = { 1023, 1024, 2047, 1 << 20, (int)~0U >> 1, -2 };
	unsigned long pfn = pfn_in(SECTION_A, 0);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(nids); i++) {
		for_each_map(&f) {
			record_at(&f, pfn, nids[i], 2, 1000);
			record_at(&f, pfn + 1, 1022, 2, 1000);
			record_at(&f, pfn + 2, 6, 2, 1000);
			record_at(&f, pfn + 3, nids[i], 2, 1000);
			assert_int_equal(collect(&f, pfn), 4);
			assert_int_equal(f.entries[1].nid, 1022);
			assert_int_equal(f.entries[2].nid, 6);
			if (!f.map.precise)
				continue;
			assert_int_equal(f.entries[0].nid, NUMA_NO_NODE);
			assert_int_equal(f.entries[3].nid, NUMA_NO_NODE);
		}
	}
}

/* The default layout says by the count that nobody knows the node. */
TEST(a_node_that_nobody_knows_is_told_from_one_that_is_known)
{
	unsigned long pfn = pfn_in(SECTION_A, 0);

	for_each_map(&f) {
		f.t.ask = true;
		record_at(&f, pfn, 1, 2, 1000);
		record_at(&f, pfn + 1, NUMA_NO_NODE, 2, 1000);
		/* Whose word the first access was nobody knows any more. */
		record_at(&f, pfn + 2, NUMA_NO_NODE, 1, 1000);
		assert_int_equal(record_at(&f, pfn + 2, NUMA_NO_NODE, 1, 1000),
				 PGHOT_BECAME_READY);
		assert_int_equal(collect(&f, pfn), 3);
		assert_int_equal(f.entries[0].nid, 1);
		assert_int_equal(f.entries[1].nid, NUMA_NO_NODE);
		assert_int_equal(f.entries[2].nid, NUMA_NO_NODE);
		assert_true(f.entries[1].hot && f.entries[2].hot);
		/* Who says nothing takes nothing back, and who says something is heard. */
		record_at(&f, pfn, NUMA_NO_NODE, 2, 1000);
		record_at(&f, pfn + 1, 1, 1, 1000);
		assert_int_equal(collect(&f, pfn), 3);
		assert_int_equal(f.entries[0].nid, 1);
		assert_int_equal(f.entries[1].nid, 1);
		assert_true(f.entries[1].hot);
		assert_int_equal(collect_at(&f, pfn, 9000), 3);
		assert_false(f.entries[1].hot || f.entries[2].hot);
	}
}

/* A count of one access less is none. */
TEST(where_one_access_is_enough_all_nodes_count_as_known)
{
	unsigned long pfn = pfn_in(SECTION_A, 0);

	for_each_map(&f) {
		f.t.ask = true;
		f.t.freq_threshold = 1;
		record_at(&f, pfn, 1, 1, 1000);
		record_at(&f, pfn + 1, NUMA_NO_NODE, 1, 1000);
		assert_int_equal(collect(&f, pfn), 2);
		assert_true(f.entries[0].hot && f.entries[1].hot);
		assert_int_equal(f.entries[1].nid, f.map.precise ? NUMA_NO_NODE : 1);
	}
}

/* A walk that had passed the block by comes back for the answer. */
TEST(a_node_that_becomes_known_is_looked_at_again)
{
	unsigned long pfn = pfn_in(SECTION_A, 0), block;

	for_each_map(&f) {
		struct pghot_cursor c = { 0 };

		f.t.ask = true;
		record_at(&f, pfn + 1, 0, 2, 1000);
		record_at(&f, pfn, NUMA_NO_NODE, 2, 1000);
		assert_true(pghot_map_next_block(&f.map, &f.node, &c, &block));
		assert_false(pghot_map_next_block(&f.map, &f.node, &c, &block));
		record_at(&f, pfn, 0, 1, 1000);
		c = (struct pghot_cursor) { 0 };
		assert_true(pghot_map_next_block(&f.map, &f.node, &c, &block));
	}
}

TEST(the_histogram_follows_each_record)
{
	for_each_map(&f) {
		unsigned long hist[PGHOT_CLASSES], sum = 0;
		unsigned long pfn = pfn_in(SECTION_C, 5);
		int i;

		make_ready(&f, pfn);
		make_ready(&f, pfn_in(SECTION_D, 5));
		assert_int_equal(pghot_map_ready(&f.node, hist), 1);
		/* Two accesses: class 1 in either layout. */
		assert_int_equal(hist[1], 1);
		record_at(&f, pfn, 0, 1, 1000);
		assert_int_equal(pghot_map_ready(&f.node, hist), 1);
		assert_int_equal(hist[f.map.precise ? 1 : 2], 1);
		/* Long after, it waits as one that was as hot. */
		record_at(&f, pfn, 0, 1, 7000);
		assert_int_equal(pghot_map_ready(&f.node, hist), 1);
		assert_int_equal(hist[2], 1);
		for (i = 0; i < PGHOT_CLASSES; i++)
			sum += hist[i];
		assert_int_equal(sum, 1);
		assert_true(pghot_map_take(&f.map, pfn));
		assert_int_equal(pghot_map_ready(&f.node, NULL), 0);
		assert_int_equal(pghot_map_ready(&f.other, NULL), 1);
	}
}

TEST(a_count_in_flux_is_not_negative)
{
	for_each_map(&f) {
		unsigned long hist[PGHOT_CLASSES];

		atomic_long_set(&f.node.hist[0].class[3], -1);
		assert_int_equal(pghot_map_ready(&f.node, hist), 0);
		assert_int_equal(hist[3], 0);
		atomic_long_set(&f.node.hist[0].class[3], 0);
	}
}

TEST(removal_counts_what_was_ready)
{
	for_each_map(&f) {
		make_ready(&f, pfn_in(SECTION_A, 0));
		make_ready(&f, pfn_in(SECTION_B, 1));
		make_ready(&f, pfn_in(SECTION_B, 32767));
		make_ready(&f, pfn_in(SECTION_C, 2));
		record_at(&f, pfn_in(SECTION_B, 9), 0, 1, 0);
		assert_int_equal(pghot_map_remove(&f.map, SECTION_B, 1), 2);
		assert_int_equal(f.node.sections, 2);
		assert_int_equal(pghot_map_ready(&f.node, NULL), 2);
		assert_null(pghot_map_owner(&f.map, pfn_in(SECTION_B, 1)));
		/* Those that are gone and those beyond the map are skipped. */
		assert_int_equal(pghot_map_remove(&f.map, SECTION_B, 1), 0);
		assert_int_equal(pghot_map_remove(&f.map, 0, MAX_SECTIONS * 2),
				 2);
		assert_int_equal(f.node.sections, 0);
		assert_int_equal(f.other.sections, 0);
		assert_int_equal(pghot_map_ready(&f.node, NULL), 0);
	}
}

TEST(others_may_run_after_each_section)
{
	for_each_map(&f) {
		unsigned long before = harness_resched;

		pghot_map_remove(&f.map, 0, SECTION_A);
		assert_true(harness_resched - before >= SECTION_A);
	}
}

TEST(a_section_added_again_is_empty)
{
	for_each_map(&f) {
		unsigned long pfn = pfn_in(SECTION_B, 1);
		struct pghot_cursor c = { };

		make_ready(&f, pfn);
		pghot_map_remove(&f.map, SECTION_B, 1);
		assert_int_equal(pghot_map_add(&f.map, &f.other, SECTION_B, 0),
				 0);
		assert_false(pghot_map_take(&f.map, pfn));
		assert_false(pghot_map_next_block(&f.map, &f.other, &c, &pfn));
		assert_ptr_equal(pghot_map_owner(&f.map, pfn_in(SECTION_B, 0)),
				 &f.other);
	}
}

TEST(adding_twice_keeps_the_records)
{
	for_each_map(&f) {
		make_ready(&f, pfn_in(SECTION_A, 4));
		assert_int_equal(pghot_map_add(&f.map, &f.node, SECTION_A, 0),
				 0);
		assert_int_equal(f.node.sections, 3);
		assert_true(pghot_map_take(&f.map, pfn_in(SECTION_A, 4)));
	}
}

TEST(sections_beyond_the_map_are_refused)
{
	for_each_map(&f) {
		assert_int_equal(pghot_map_add(&f.map, &f.node, MAX_SECTIONS,
					       0), -ERANGE);
		assert_int_equal(pghot_map_add(&f.map, &f.node, ULONG_MAX, 0),
				 -ERANGE);
		assert_int_equal(f.node.sections, 3);
	}
}

TEST(a_leaf_goes_with_its_last_section)
{
	for_each_map(&f) {
		long before = harness_live().pages;
		struct pghot_cursor c = { };
		unsigned long pfn = pfn_in(SECTION_B, 1);

		make_ready(&f, pfn);
		assert_true(pghot_map_next_block(&f.map, &f.node, &c, &pfn));
		assert_int_equal(pghot_map_remove(&f.map, SECTION_A, 1), 0);
		assert_int_equal(before - harness_live().pages, 1);
		assert_int_equal(pghot_map_remove(&f.map, SECTION_B, 1), 1);
		/* Its records, and the leaf. */
		assert_int_equal(before - harness_live().pages, 3);
		/* A walk that was under way ends. */
		pghot_map_hold(&f.map, pfn, 1);
		pghot_map_stop(&f.map, &c);
		assert_false(pghot_map_next_block(&f.map, &f.node, &c, &pfn));
		assert_int_equal(pghot_map_add(&f.map, &f.node, SECTION_B, 0),
				 0);
		make_ready(&f, pfn_in(SECTION_B, 1));
	}
}

TEST(no_contiguous_pages_means_vmalloc)
{
	for_each_map(&f) {
		harness_fail.pages = true;
		assert_int_equal(pghot_map_add(&f.map, &f.node, 7, 0), 0);
		harness_fail.pages = false;
		assert_int_equal(harness_live().vmalloc, 1);
		make_ready(&f, pfn_in(7, 3));
		assert_int_equal(pghot_map_remove(&f.map, 7, 1), 1);
		assert_int_equal(harness_live().vmalloc, 0);
	}
}

TEST(no_memory_leaves_the_map_as_it_was)
{
	for_each_map(&f) {
		struct pghot_map_node was = f.node;
		struct pghot_map none;

		harness_fail = (struct harness_fail) {
			.pages = true, .vmalloc = true,
		};
		assert_int_equal(pghot_map_add(&f.map, &f.node, 7, 0), -ENOMEM);
		/* There are records, and no leaf for them. */
		harness_fail.after = 1;
		assert_int_equal(pghot_map_add(&f.map, &f.node, 1700, 0),
				 -ENOMEM);
		harness_fail.slab = true;
		assert_int_equal(pghot_map_init(&none, 10, false), -ENOMEM);
		harness_fail = (struct harness_fail) { };
		assert_memory_equal(&was, &f.node, sizeof(was));
		assert_null(pghot_map_owner(&f.map, pfn_in(7, 0)));
		assert_int_equal(pghot_map_add(&f.map, &f.node, 7, 0), 0);
	}
}

/* In whole pages, as the kernel allocates. */
static unsigned long kernel_bytes(const struct pghot_map *map,
				  unsigned long sections)
{
	unsigned long records = PAGES_PER_SECTION * (map->precise ? 4 : 1);

	return sections * ALIGN(records, 4096) +
	       sections / LEAF_SECTIONS *
	       ALIGN(sizeof(struct pghot_leaf), 4096) +
	       map->nr_roots * sizeof(*map->roots);
}

TEST(records_of_a_tib_take_little_more_than_a_byte_a_page)
{
	for_each_map(&f) {
		size_t bytes = pghot_map_section_bytes(&f.map);
		size_t records = PAGES_PER_SECTION * (f.map.precise ? 4 : 1);

		assert_in_range(bytes, records, records + 112);
		assert_in_range(kernel_bytes(&f.map, 8192), 0,
				(f.map.precise ? 1025UL : 257UL) << 20);
	}
}

/* CPUs of different nodes never count in one line, however many a node has. */
TEST(nodes_share_no_shard_of_the_histogram)
{
	int owner[PGHOT_HIST_SHARDS];
	unsigned int nid, cpu;

	memset(owner, 0xff, sizeof(owner));
	for (nid = 0; nid < PGHOT_HIST_NODES; nid++) {
		for (cpu = 0; cpu < 512; cpu++) {
			unsigned int shard = hist_shard(nid, cpu);

			assert_in_range(shard, 0, PGHOT_HIST_SHARDS - 1);
			assert_true(owner[shard] < 0 || owner[shard] == nid);
			owner[shard] = nid;
		}
	}
	assert_in_range(hist_shard(1023, 8191), 0, PGHOT_HIST_SHARDS - 1);
}

UNIT_MAIN(
	cmocka_unit_test(untracked_pages_are_not_recorded),
	cmocka_unit_test(owner_is_the_sections_node),
	cmocka_unit_test(ready_once_until_taken),
	cmocka_unit_test(neighbours_do_not_disturb_each_other),
	cmocka_unit_test(numbers_that_no_node_has_are_kept_as_none),
	cmocka_unit_test(a_node_that_nobody_knows_is_told_from_one_that_is_known),
	cmocka_unit_test(where_one_access_is_enough_all_nodes_count_as_known),
	cmocka_unit_test(a_node_that_becomes_known_is_looked_at_again),
	cmocka_unit_test(the_histogram_follows_each_record),
	cmocka_unit_test(a_count_in_flux_is_not_negative),
	cmocka_unit_test(removal_counts_what_was_ready),
	cmocka_unit_test(others_may_run_after_each_section),
	cmocka_unit_test(a_section_added_again_is_empty),
	cmocka_unit_test(adding_twice_keeps_the_records),
	cmocka_unit_test(sections_beyond_the_map_are_refused),
	cmocka_unit_test(a_leaf_goes_with_its_last_section),
	cmocka_unit_test(no_contiguous_pages_means_vmalloc),
	cmocka_unit_test(no_memory_leaves_the_map_as_it_was),
	cmocka_unit_test(records_of_a_tib_take_little_more_than_a_byte_a_page),
	cmocka_unit_test(nodes_share_no_shard_of_the_histogram),
)
