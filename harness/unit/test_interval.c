// SPDX-License-Identifier: GPL-2.0
/* Two sources that see the same access count it once, whichever layout. */
#include "map.h"

#include <linux/array_size.h>

static enum pghot_recorded report(struct fixture *f, unsigned long pfn, int nid,
				  u32 interval_ms, u32 weight, u32 now)
{
	struct pghot_access access = {
		.pfn = pfn, .nid = nid, .weight = weight,
		.interval_ms = interval_ms,
	};
	struct pghot_map_node *node;

	return pghot_map_record(&f->map, &access, now, &f->t, &node);
}

static const u32 periods_ms[] = { 50, 100, 250, 999, 1000, 1500, 2000, 3000 };

/* One that sees each access, and one that looks what was accessed since it last looked. */
TEST(what_both_see_counts_once)
{
	struct fixture f;
	unsigned int i;

	for_each_map(&f) {
		unsigned long page = 0;

		for (i = 0; i < ARRAY_SIZE(periods_ms); i++) {
			u32 period = periods_ms[i], start, at;

			/* Wherever the access lies in the interval, and that in buckets. */
			for (start = 100000; start < 101000; start += 37) {
				for (at = 0; at < period; at += period / 25) {
					unsigned long pfn = pfn_in(SECTION_A, page++ % 32768);

					pghot_map_expire(&f.map, &f.node, start, &f.t, true);
					assert_int_equal(report(&f, pfn, 0, 0, 1, start + at),
							 PGHOT_COUNTED);
					assert_int_equal(report(&f, pfn, 0, period, 1,
								start + period),
							 PGHOT_COUNTED);
				}
			}
		}
	}
}

/* What one source finds in each of two intervals is two accesses. */
TEST(each_interval_of_one_source_counts)
{
	struct fixture f;
	unsigned int i;

	for_each_map(&f) {
		unsigned long page = 0;

		for (i = 0; i < ARRAY_SIZE(periods_ms); i++) {
			u32 period = periods_ms[i], start;

			/* Two of them have to fit into the window. */
			if (period > f.t.window_ms / 2)
				continue;
			for (start = 100000; start < 101000; start += 37) {
				unsigned long pfn = pfn_in(SECTION_A, page++ % 32768);

				pghot_map_expire(&f.map, &f.node, start, &f.t, true);
				assert_int_equal(report(&f, pfn, 0, period, 1, start),
						 PGHOT_COUNTED);
				assert_int_equal(report(&f, pfn, 0, period, 1,
							start + period),
						 PGHOT_BECAME_READY);
			}
		}
	}
}

/* Who counted more than was seen so far is believed. */
TEST(the_higher_count_holds)
{
	struct fixture f;

	for_each_map(&f) {
		unsigned long pfn = pfn_in(SECTION_A, 5);

		f.t.freq_threshold = 3;
		report(&f, pfn, 0, 0, 1, 100500);
		assert_int_equal(report(&f, pfn, 0, 1000, 2, 101000), PGHOT_COUNTED);
		assert_int_equal(report(&f, pfn, 0, 1000, 3, 101001),
				 PGHOT_BECAME_READY);
	}
}

/* A source that does not know the node leaves what another one said. */
TEST(no_node_leaves_the_node)
{
	struct fixture f;

	for_each_map(&f) {
		unsigned long pfn = pfn_in(SECTION_B, 9), block;
		struct pghot_cursor c = {};
		bool more;

		report(&f, pfn, 3, 0, 1, 100000);
		assert_int_equal(report(&f, pfn, NUMA_NO_NODE, 0, 1, 100001),
				 PGHOT_BECAME_READY);
		assert_true(pghot_map_next_block(&f.map, &f.node, &c, &block));
		assert_int_equal(pghot_map_collect(&f.map, block, 0, 100002, &f.t,
						   f.entries, &more), 1);
		assert_int_equal(f.entries[0].nid, 3);
	}
}

UNIT_MAIN(
	cmocka_unit_test(what_both_see_counts_once),
	cmocka_unit_test(each_interval_of_one_source_counts),
	cmocka_unit_test(the_higher_count_holds),
	cmocka_unit_test(no_node_leaves_the_node),
)
