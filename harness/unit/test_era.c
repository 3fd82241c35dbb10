// SPDX-License-Identifier: GPL-2.0
/* Old accesses never pass for recent ones, whichever layout keeps them. */
#include "map.h"

#define SECOND		1000U
#define HOUR		(3600 * SECOND)
#define PAGES		64

/* As kmigrated does. */
static void expire_if_due(struct fixture *f, u32 now, u32 *expired)
{
	if (now - *expired < pghot_map_expire_ms(&f->map, &f->t))
		return;
	pghot_map_expire(&f->map, &f->node, now, &f->t, false);
	*expired = now;
}

/* Is the page, which is ready, in use as far as its record tells? */
static bool hot_at(struct fixture *f, unsigned long pfn, u32 now)
{
	assert_int_equal(collect_at(f, pfn & -PGHOT_BLOCK_PAGES, now), 1);
	assert_int_equal(f->entries[0].pfn, pfn);
	return f->entries[0].hot;
}

/* Some blocks with many pages and some with one. */
static unsigned long page_nr(unsigned int i)
{
	return pfn_in(SECTION_A, i < PAGES / 2 ? i : i * PGHOT_BLOCK_PAGES % 32768);
}

/*
 * Pages that are accessed once in one to three minutes, over a day. Before blocks
 * had eras a third of them became ready at the second access.
 */
TEST(what_is_accessed_now_and_then_never_gets_ready)
{
	struct fixture f;

	for_each_map(&f) {
		u32 now = 0, expired = 0, due[PAGES] = {};
		u64 random = 7;
		unsigned int i;

		while (now < 24 * HOUR) {
			now += 100;
			expire_if_due(&f, now, &expired);
			for (i = 0; i < PAGES; i++) {
				if (now < due[i])
					continue;
				due[i] = now + 60 * SECOND +
					 harness_random(&random) % (120 * SECOND);
				assert_int_equal(record_at(&f, page_nr(i), 0, 1,
							   now),
						 PGHOT_COUNTED);
			}
		}
	}
}

/* Each pause there can be, up to several turns of the record's clock. */
TEST(no_pause_makes_an_old_access_recent)
{
	struct fixture f;

	for_each_map(&f) {
		unsigned long pfn = pfn_in(SECTION_B, 7);
		u32 now = 1000, expired = 0, pause;

		for (pause = 4000; pause < 200 * SECOND; pause += 250) {
			assert_int_equal(record_at(&f, pfn, 0, 1, now),
					 PGHOT_COUNTED);
			now += pause;
			expire_if_due(&f, now, &expired);
		}
	}
}

TEST(a_page_that_waits_goes_stale_once)
{
	struct fixture f;

	for_each_map(&f) {
		unsigned long pfn = pfn_in(SECTION_A, 5), beside = pfn + 9;
		u32 now = 1000, expired = 0;

		make_ready(&f, pfn);
		for (now += 4000; now < HOUR; now += 500) {
			/* With and without reports beside it. */
			if (now / (60 * SECOND) % 2)
				record_at(&f, beside, 0, 1, now);
			pghot_map_take(&f.map, beside);
			expire_if_due(&f, now, &expired);
			assert_false(hot_at(&f, pfn, now));
		}
		/* It is still there to be accounted for. */
		assert_true(pghot_map_take_seen(&f.map, &f.entries[0]));
	}
}

TEST(accesses_within_the_window_count_across_eras)
{
	struct fixture f;

	for_each_map(&f) {
		unsigned long pfn = pfn_in(SECTION_C, 700);
		u32 now;

		for (now = 1000; now < 100 * SECOND; now += 1000) {
			assert_int_equal(record_at(&f, pfn, 0, 1, now),
					 PGHOT_COUNTED);
			assert_int_equal(record_at(&f, pfn, 0, 1, now + 2900),
					 PGHOT_BECAME_READY);
			assert_true(pghot_map_take(&f.map, pfn));
		}
	}
}

/* As long as it is renewed in time, with and without reports beside it. */
TEST(a_page_that_is_renewed_stays_hot)
{
	struct fixture f;

	for_each_map(&f) {
		unsigned long pfn = pfn_in(SECTION_A, 5);
		u32 now = 1000, expired = 0;

		make_ready(&f, pfn);
		for (now += 2000; now < HOUR; now += 2000) {
			if (now / (60 * SECOND) % 2)
				record_at(&f, pfn + 9, 0, 1, now);
			pghot_map_take(&f.map, pfn + 9);
			expire_if_due(&f, now, &expired);
			f.entries[0].pfn = pfn;
			pghot_map_renew(&f.map, &f.entries[0], now - 2000, now,
					&f.t);
			assert_true(hot_at(&f, pfn, now));
		}
		/* It was accessed a window ago, as far as is known. */
		collect_at(&f, pfn & -PGHOT_BLOCK_PAGES, now);
		assert_false(f.entries[0].hot);
	}
}

TEST(another_window_starts_from_nothing)
{
	struct fixture f;

	for_each_map(&f) {
		unsigned long pfn = pfn_in(SECTION_A, 5);

		record_at(&f, pfn, 0, 1, 1000);
		make_ready(&f, pfn + 1);
		f.t.window_ms = 60000;
		pghot_map_expire(&f.map, &f.node, 1000, &f.t, true);
		assert_int_equal(record_at(&f, pfn, 0, 1, 1000), PGHOT_COUNTED);
		/* What is ready is, as before, for who promotes to deal with. */
		assert_int_equal(pghot_map_ready(&f.node, NULL), 1);
		assert_int_equal(collect_at(&f, pfn & -PGHOT_BLOCK_PAGES, 1000), 1);
		assert_int_equal(f.entries[0].pfn, pfn + 1);
		assert_false(f.entries[0].hot);
	}
}

static enum pghot_recorded anew_at(struct fixture *f, unsigned long pfn, u32 now)
{
	struct pghot_access access = { .pfn = pfn, .weight = 1, .anew = true };
	struct pghot_map_node *node;

	return pghot_map_record(&f->map, &access, now, &f->t, &node);
}

TEST(who_comes_anew_is_first)
{
	unsigned long pfn = pfn_in(SECTION_A, 5);
	struct fixture f;

	for_each_map(&f) {
		record_at(&f, pfn, 0, 1, 1000);
		assert_int_equal(anew_at(&f, pfn, 1000), PGHOT_COUNTED);
		assert_int_equal(record_at(&f, pfn, 0, 1, 1000),
				 PGHOT_BECAME_READY);
	}
}

/* Who says so knows of one mapping; what waits is known by all of them. */
TEST(who_comes_anew_takes_nothing_from_what_is_ready)
{
	unsigned long pfn = pfn_in(SECTION_A, 5);
	struct fixture f;

	for_each_map(&f) {
		record_at(&f, pfn, 0, 2, 1000);
		assert_int_equal(anew_at(&f, pfn, 1000), PGHOT_COUNTED);
		assert_true(hot_at(&f, pfn, 1000));
	}
}

/* Ready at one second, and accessed anew at seven. */
static void comes_anew_to_stale(struct fixture *f, unsigned long pfn)
{
	record_at(f, pfn, 0, 3, 1000);
	assert_int_equal(anew_at(f, pfn, 7000), PGHOT_COUNTED);
	assert_false(hot_at(f, pfn, 7000));
}

/* But what has gone stale waits no longer than that, and is not in use. */
TEST(who_comes_anew_makes_nothing_stale_hot)
{
	unsigned long pfn = pfn_in(SECTION_A, 5);
	struct fixture f;

	for_each_map(&f)
		comes_anew_to_stale(&f, pfn);
}

/* Nor where a count says whether the node is known, and has no room for one access. */
TEST(one_access_makes_nothing_stale_hot_where_nodes_are_asked_for)
{
	unsigned long pfn = pfn_in(SECTION_A, 5);
	struct fixture f;

	for_each_map(&f) {
		f.t.ask = true;
		comes_anew_to_stale(&f, pfn);
		/* The second one within the window does. */
		record_at(&f, pfn, 0, 1, 8000);
		assert_true(hot_at(&f, pfn, 8000));
	}
}

TEST(one_access_makes_nothing_hot_that_another_window_emptied)
{
	unsigned long pfn = pfn_in(SECTION_A, 5);
	struct fixture f;

	for_each_map(&f) {
		f.t.ask = true;
		make_ready(&f, pfn);
		f.t.window_ms = 60000;
		pghot_map_expire(&f.map, &f.node, 1000, &f.t, true);
		record_at(&f, pfn, 0, 1, 1000);
		assert_false(hot_at(&f, pfn, 1000));
		record_at(&f, pfn, 0, 2, 1000);
		assert_true(hot_at(&f, pfn, 1000));
	}
}

UNIT_MAIN(
	cmocka_unit_test(what_is_accessed_now_and_then_never_gets_ready),
	cmocka_unit_test(no_pause_makes_an_old_access_recent),
	cmocka_unit_test(a_page_that_waits_goes_stale_once),
	cmocka_unit_test(accesses_within_the_window_count_across_eras),
	cmocka_unit_test(a_page_that_is_renewed_stays_hot),
	cmocka_unit_test(another_window_starts_from_nothing),
	cmocka_unit_test(who_comes_anew_is_first),
	cmocka_unit_test(who_comes_anew_takes_nothing_from_what_is_ready),
	cmocka_unit_test(who_comes_anew_makes_nothing_stale_hot),
	cmocka_unit_test(one_access_makes_nothing_stale_hot_where_nodes_are_asked_for),
	cmocka_unit_test(one_access_makes_nothing_hot_that_another_window_emptied),
)
