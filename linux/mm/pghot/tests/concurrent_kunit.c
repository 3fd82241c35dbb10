// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the hot map under concurrent use. None depends on who wins a race:
 * what must hold is that no record, access or place of a node gets lost.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/prandom.h>

#include "fixture.h"

#define RECORDERS	3
#define RECORDS		8000

/**
 * struct recorder - a thread that records accesses
 * @f: the map
 * @nid: node that its accesses come from; also its seed
 * @records: how many it makes
 * @pages: how many pages, from the first of SECTION_A on, it picks among
 * @became_ready: how many of its accesses made a record ready
 * @untracked: how many of its accesses met no map
 * @done: it has ended
 */
struct recorder {
	struct fixture *f;
	int nid;
	unsigned int records;
	unsigned long pages;
	unsigned long became_ready;
	unsigned long untracked;
	struct completion done;
};

static int recorder(void *data)
{
	struct recorder *r = data;
	struct rnd_state rnd;
	unsigned int i;

	prandom_seed_state(&rnd, r->nid + 1);
	for (i = 0; i < r->records; i++) {
		u32 page = prandom_u32_state(&rnd) % r->pages;

		switch (record_at(r->f, pfn_in(SECTION_A, page), r->nid, 1,
				  NOW)) {
		case PGHOT_BECAME_READY:
			r->became_ready++;
			break;
		case PGHOT_UNTRACKED:
			r->untracked++;
			break;
		case PGHOT_COUNTED:
			break;
		}
		if (i % 64 == 0)
			cond_resched();
	}
	complete(&r->done);
	return 0;
}

static void recorders_start(struct kunit *test, struct recorder *all,
			    unsigned int records, unsigned long pages)
{
	int i;

	for (i = 0; i < RECORDERS; i++) {
		struct task_struct *task;

		all[i] = (struct recorder) {
			.f = test->priv, .nid = i, .records = records,
			.pages = pages,
		};
		init_completion(&all[i].done);
		task = kthread_run(recorder, &all[i], "pghot_recorder%d", i);
		if (IS_ERR(task)) {
			KUNIT_FAIL(test, "no thread: %pe", task);
			complete(&all[i].done);
		}
	}
}

static bool recorders_done(struct recorder *all)
{
	int i;

	for (i = 0; i < RECORDERS; i++) {
		if (!completion_done(&all[i].done))
			return false;
	}
	return true;
}

/* Return how many records they made ready. */
static unsigned long recorders_wait(struct recorder *all)
{
	unsigned long ready = 0;
	int i;

	for (i = 0; i < RECORDERS; i++) {
		wait_for_completion(&all[i].done);
		ready += all[i].became_ready;
	}
	return ready;
}

/* Walk the node once and take what is ready. Return how many. */
static unsigned long take_all(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct pghot_cursor c = { };
	unsigned long pfn, taken = 0;
	unsigned int i, n;

	while (pghot_map_next_block(&f->map, &f->node, &c, &pfn)) {
		n = collect(f, pfn);
		for (i = 0; i < n; i++)
			taken += pghot_map_take(&f->map, f->entries[i].pfn);
		cond_resched();
	}
	return taken;
}

static void each_ready_record_is_taken_once(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct recorder all[RECORDERS];
	unsigned long ready, taken = 0;

	recorders_start(test, all, RECORDS, 3 * PGHOT_BLOCK_PAGES);
	while (!recorders_done(all)) {
		taken += take_all(test);
		cond_resched();
	}
	ready = recorders_wait(all);

	KUNIT_EXPECT_GT(test, ready, 0);
	KUNIT_EXPECT_EQ(test, ready, taken + pghot_map_ready(&f->node, NULL));
	/* None is left without its bits: one more walk finds the rest. */
	taken += take_all(test);
	KUNIT_EXPECT_EQ(test, ready, taken);
	KUNIT_EXPECT_EQ(test, pghot_map_ready(&f->node, NULL), 0);
}

static void no_ready_record_is_without_its_bits(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct recorder all[RECORDERS];
	unsigned long ready;

	recorders_start(test, all, RECORDS, 2 * PAGES_PER_SECTION);
	ready = recorders_wait(all);
	KUNIT_EXPECT_GT(test, ready, 0);
	KUNIT_EXPECT_EQ(test, ready, pghot_map_ready(&f->node, NULL));
	KUNIT_EXPECT_EQ(test, ready, take_all(test));
}

static void no_access_is_lost(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct recorder all[RECORDERS];
	const u32 max = pghot_freq_max(pghot_map_layout(&f->map));
	/* As many as the record can count, all on one page. */
	const u32 each = max / RECORDERS, sum = each * RECORDERS;

	f->t.freq_threshold = sum;
	recorders_start(test, all, each, 1);
	KUNIT_EXPECT_EQ(test, recorders_wait(all), 1);
	KUNIT_ASSERT_EQ(test, collect(f, pfn_in(SECTION_A, 0)), 1);
	KUNIT_EXPECT_EQ(test, f->entries[0].class,
			pghot_class(pghot_map_layout(&f->map),
				    (struct pghot_rec) { .freq = sum }));
}

static void no_place_of_a_node_is_lost(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct recorder all[RECORDERS];
	unsigned int i, n;

	f->t.freq_threshold = 1;
	recorders_start(test, all, RECORDS, PGHOT_BLOCK_PAGES);
	recorders_wait(all);
	n = collect(f, pfn_in(SECTION_A, 0));
	KUNIT_EXPECT_GT(test, n, 0);
	for (i = 0; i < n; i++) {
		KUNIT_ASSERT_GE(test, f->entries[i].nid, 0);
		KUNIT_ASSERT_LT(test, f->entries[i].nid, RECORDERS);
	}
}

static void removal_under_way_loses_nothing(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct recorder all[RECORDERS];
	unsigned long ready, gone = 0;
	int err = 0;

	recorders_start(test, all, RECORDS, 2 * PAGES_PER_SECTION);
	while (!recorders_done(all)) {
		gone += pghot_map_remove(&f->map, SECTION_A, 2);
		err = err ?: pghot_map_add(&f->map, &f->node, SECTION_B,
					   numa_mem_id());
		err = err ?: pghot_map_add(&f->map, &f->node, SECTION_A,
					   numa_mem_id());
	}
	ready = recorders_wait(all);

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, ready, gone + pghot_map_ready(&f->node, NULL));
	KUNIT_EXPECT_EQ(test, ready, gone + take_all(test));
}

static void removal_during_a_walk_loses_nothing(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct recorder all[RECORDERS];
	unsigned long ready, taken = 0, gone = 0;
	int err = 0;

	recorders_start(test, all, RECORDS, 2 * PAGES_PER_SECTION);
	while (!recorders_done(all)) {
		struct pghot_cursor c = { };
		unsigned long pfn;
		unsigned int i, n;

		while (pghot_map_next_block(&f->map, &f->node, &c, &pfn)) {
			n = collect(f, pfn);
			gone += pghot_map_remove(&f->map, SECTION_A, 1);
			for (i = 0; i < n; i++)
				taken += pghot_map_take(&f->map,
							f->entries[i].pfn);
			err = err ?: pghot_map_add(&f->map, &f->node, SECTION_A,
						   numa_mem_id());
			if (recorders_done(all))
				break;
		}
		pghot_map_stop(&f->map, &c);
	}
	ready = recorders_wait(all);

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, ready,
			taken + gone + pghot_map_ready(&f->node, NULL));
}

static struct kunit_case concurrent_cases[] = {
	KUNIT_CASE_PARAM(each_ready_record_is_taken_once, layout_gen_params),
	KUNIT_CASE_PARAM(no_ready_record_is_without_its_bits,
			 layout_gen_params),
	KUNIT_CASE_PARAM(no_access_is_lost, layout_gen_params),
	KUNIT_CASE_PARAM(no_place_of_a_node_is_lost, layout_gen_params),
	KUNIT_CASE_PARAM(removal_under_way_loses_nothing, layout_gen_params),
	KUNIT_CASE_PARAM(removal_during_a_walk_loses_nothing,
			 layout_gen_params),
	{ }
};

static struct kunit_suite concurrent_suite = {
	.name = "pghot_concurrent",
	.init = fixture_init,
	.test_cases = concurrent_cases,
};

kunit_test_suite(concurrent_suite);
