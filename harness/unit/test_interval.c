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

/* How often a source looks what was accessed since it last looked. */
static const u32 periods_ms[] = { 50, 100, 250, 999, 1000, 1500, 2000, 3000 };

/* Wherever an interval lies in buckets: each time with a page of its own. */
static void for_each_interval(void (*check)(struct fixture *f, unsigned long pfn,
					    u32 period, u32 start))
{
	unsigned long page = 0;
	struct fixture f;
	unsigned int i;

	for_each_map(&f) {
		for (i = 0; i < ARRAY_SIZE(periods_ms); i++) {
			u32 start;

			for (start = 100000; start < 101000; start += 37) {
				pghot_map_expire(&f.map, &f.node, start, &f.t, true);
				check(&f, pfn_in(SECTION_A, page++ % 1000 * 32),
				      periods_ms[i], start);
			}
		}
	}
}

/* One that sees each access, wherever in the interval, and one that looks. */
static void see_both(struct fixture *f, unsigned long pfn, u32 period, u32 start)
{
	u32 at, i = 0;

	for (at = 0; at < period; at += period / 25, i++) {
		assert_int_equal(report(f, pfn + i, 0, 0, 1, start + at),
				 PGHOT_COUNTED);
		assert_int_equal(report(f, pfn + i, 0, period, 1, start + period),
				 PGHOT_COUNTED);
	}
}

TEST(what_both_see_counts_once)
{
	for_each_interval(see_both);
}

static void look_twice(struct fixture *f, unsigned long pfn, u32 period, u32 start)
{
	/* Two of them have to fit into the window. */
	if (period > f->t.window_ms / 2)
		return;
	assert_int_equal(report(f, pfn, 0, period, 1, start), PGHOT_COUNTED);
	assert_int_equal(report(f, pfn, 0, period, 1, start + period),
			 PGHOT_BECAME_READY);
}

/* What one source finds in each of two intervals is two accesses. */
TEST(each_interval_of_one_source_counts)
{
	for_each_interval(look_twice);
}

/* One that sees each access sees one, and then no more; the other looks twice. */
static void see_and_look_twice(struct fixture *f, unsigned long pfn, u32 period, u32 start)
{
	u32 at, i = 0;

	/* The access has to be in the window still when the second one ends. */
	if (period > f->t.window_ms / 3)
		return;
	for (at = 0; at < period; at += period / 25, i++) {
		report(f, pfn + i, 0, 0, 1, start + at);
		assert_int_equal(report(f, pfn + i, 0, period, 1, start + period),
				 PGHOT_COUNTED);
		assert_int_equal(report(f, pfn + i, 0, period, 1, start + 2 * period),
				 PGHOT_BECAME_READY);
	}
}

/* An access is part of the interval that it falls into, and not of those after it. */
TEST(what_both_see_keeps_no_later_interval_from_counting)
{
	for_each_interval(see_and_look_twice);
}

/* Of two CPUs one may be in the next bucket: what that one saw is of the next interval. */
TEST(an_access_of_the_next_bucket_is_part_of_the_next_interval)
{
	struct fixture f;

	for_each_map(&f) {
		unsigned long pfn = pfn_in(SECTION_A, 5);

		report(&f, pfn, 0, 0, 1, 101000);
		assert_int_equal(report(&f, pfn, 0, 20, 1, 100999), PGHOT_COUNTED);
		assert_int_equal(report(&f, pfn, 0, 20, 1, 101019), PGHOT_COUNTED);
		assert_int_equal(report(&f, pfn, 0, 20, 1, 101039), PGHOT_BECAME_READY);
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

		report(&f, pfn, 3, 0, 1, 100000);
		assert_int_equal(report(&f, pfn, NUMA_NO_NODE, 0, 1, 100001),
				 PGHOT_BECAME_READY);
		assert_true(pghot_map_next_block(&f.map, &f.node, &c, &block));
		assert_int_equal(collect_at(&f, block, 100002), 1);
		assert_int_equal(f.entries[0].nid, 3);
	}
}

/*
 * A sweep has not looked at what was not ready when it began: what makes it ready
 * later has a time that no accessed bit of then can renew.
 */
TEST(a_report_that_makes_ready_is_of_now)
{
	struct fixture f;

	for_each_map(&f) {
		unsigned long pfn = pfn_in(SECTION_A, 5);

		report(&f, pfn, 0, 0, 1, 100500);
		assert_int_equal(report(&f, pfn, 0, 3000, 2, 102600),
				 PGHOT_BECAME_READY);
		assert_int_equal(collect_at(&f, pfn & -PGHOT_BLOCK_PAGES, 102700), 1);
		assert_false(pghot_map_renew(&f.map, f.entries, 102100, 102700, &f.t));
	}
}

/* Whoever waits is hotter by what is seen of it at a time, not by how long it waits. */
TEST(what_waits_counts_what_one_interval_saw)
{
	struct fixture f;
	u32 now;

	for_each_map(&f) {
		unsigned long pfn = pfn_in(SECTION_A, 5);
		struct pghot_rec rec;

		for (now = 100000; now <= 110000; now += 1000)
			report(&f, pfn, 0, 1000, 1, now);
		assert_int_equal(collect_at(&f, pfn & -PGHOT_BLOCK_PAGES, 110001), 1);
		rec = pghot_unpack(pghot_map_layout(&f.map), f.entries[0].seen);
		assert_int_equal(rec.freq, 2);
		assert_true(f.entries[0].hot);
	}
}

/* What is known of the last access is not taken back. */
TEST(a_report_that_makes_ready_leaves_a_later_access)
{
	struct fixture f;

	for_each_map(&f) {
		u32 edge = 102500 / pghot_bucket_ms(pghot_map_layout(&f.map), f.t.window_ms) *
			   pghot_bucket_ms(pghot_map_layout(&f.map), f.t.window_ms) +
			   f.t.window_ms;
		unsigned long pfn = pfn_in(SECTION_A, 5);

		report(&f, pfn, 0, 0, 1, 102500);
		assert_int_equal(report(&f, pfn, 0, 3000, 2, 102600),
				 PGHOT_BECAME_READY);
		assert_int_equal(collect_at(&f, pfn & -PGHOT_BLOCK_PAGES, edge - 1), 1);
		assert_true(f.entries[0].hot);
	}
}

UNIT_MAIN(
	cmocka_unit_test(what_both_see_counts_once),
	cmocka_unit_test(each_interval_of_one_source_counts),
	cmocka_unit_test(what_both_see_keeps_no_later_interval_from_counting),
	cmocka_unit_test(an_access_of_the_next_bucket_is_part_of_the_next_interval),
	cmocka_unit_test(the_higher_count_holds),
	cmocka_unit_test(no_node_leaves_the_node),
	cmocka_unit_test(a_report_that_makes_ready_is_of_now),
	cmocka_unit_test(what_waits_counts_what_one_interval_saw),
	cmocka_unit_test(a_report_that_makes_ready_leaves_a_later_access),
)
