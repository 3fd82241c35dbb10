// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the hot map under concurrent use. None depends on who wins a race:
 * what must hold is that no record, access or place of a node gets lost.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>

#include "fixture.h"

#define RECORDERS	3
#define RECORDS		20000

/**
 * struct recorder - a thread that records accesses, to some pages in turn
 * @f: the map
 * @nid: node that its accesses come from
 * @records: how many it makes
 * @pages: how many pages, from the first of SECTION_A on
 * @stride: how far apart they are
 * @became_ready: how many of its accesses made a record ready
 * @go: when to begin
 * @done: it has ended
 */
struct recorder {
	struct fixture *f;
	int nid;
	unsigned int records;
	unsigned int pages;
	unsigned int stride;
	unsigned long became_ready;
	struct completion *go;
	struct completion done;
};

struct recorders {
	struct completion go;
	struct recorder each[RECORDERS];
};

static int recorder(void *data)
{
	struct recorder *r = data;
	unsigned int i;

	wait_for_completion(r->go);
	for (i = 0; i < r->records; i++) {
		unsigned long pfn = pfn_in(SECTION_A, i % r->pages * r->stride);

		if (record_at(r->f, pfn, r->nid, 1, NOW) == PGHOT_BECAME_READY)
			r->became_ready++;
		if (i % 64 == 0)
			cond_resched();
	}
	complete(&r->done);
	return 0;
}

static void recorders_start(struct kunit *test, struct recorders *all,
			    unsigned int records, unsigned int pages,
			    unsigned int stride)
{
	int i;

	init_completion(&all->go);
	for (i = 0; i < RECORDERS; i++) {
		struct recorder *r = &all->each[i];
		struct task_struct *task;

		*r = (struct recorder) {
			.f = test->priv, .nid = i, .records = records,
			.pages = pages, .stride = stride, .go = &all->go,
		};
		init_completion(&r->done);
		task = kthread_run(recorder, r, "pghot_recorder%d", i);
		if (IS_ERR(task)) {
			KUNIT_FAIL(test, "no thread: %pe", task);
			complete(&r->done);
		}
	}
	complete_all(&all->go);
}

static bool recorders_done(struct recorders *all)
{
	int i;

	for (i = 0; i < RECORDERS; i++) {
		if (!completion_done(&all->each[i].done))
			return false;
	}
	return true;
}

/* Return how many records they made ready. */
static unsigned long recorders_wait(struct recorders *all)
{
	unsigned long ready = 0;
	int i;

	for (i = 0; i < RECORDERS; i++) {
		wait_for_completion(&all->each[i].done);
		ready += all->each[i].became_ready;
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
	struct recorders all;
	unsigned long ready, taken = 0;

	/* Few pages, so that they meet; more than a block apart some. */
	recorders_start(test, &all, RECORDS, 8, 300);
	while (!recorders_done(&all)) {
		taken += take_all(test);
		cond_resched();
	}
	ready = recorders_wait(&all);

	KUNIT_EXPECT_GT(test, ready, 0);
	KUNIT_EXPECT_EQ(test, ready, taken + pghot_map_ready(&f->node, NULL));
	/* None is left without its bits: one more walk finds the rest. */
	taken += take_all(test);
	KUNIT_EXPECT_EQ(test, ready, taken);
	KUNIT_EXPECT_EQ(test, pghot_map_ready(&f->node, NULL), 0);
}

static void no_ready_record_is_without_its_bits(struct kunit *test)
{
	const unsigned int pages = 8000;
	struct fixture *f = test->priv;
	struct recorders all;

	recorders_start(test, &all, pages, pages, 8);
	KUNIT_EXPECT_EQ(test, recorders_wait(&all), pages);
	KUNIT_EXPECT_EQ(test, pghot_map_ready(&f->node, NULL), pages);
	KUNIT_EXPECT_EQ(test, take_all(test), pages);
}

static void no_access_is_lost(struct kunit *test)
{
	struct fixture *f = test->priv;
	const u32 max = pghot_freq_max(pghot_map_layout(&f->map));
	const unsigned int pages = 64, each = max / RECORDERS;
	struct recorders all;

	/* Each page is ready only if every one of its accesses is counted. */
	f->t.freq_threshold = each * RECORDERS;
	recorders_start(test, &all, pages * each, pages, 1);
	KUNIT_EXPECT_EQ(test, recorders_wait(&all), pages);
}

static void no_place_of_a_node_is_lost(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct recorders all;
	unsigned int i, n;

	f->t.freq_threshold = 1;
	recorders_start(test, &all, RECORDS, PGHOT_BLOCK_PAGES, 1);
	recorders_wait(&all);
	n = collect(f, pfn_in(SECTION_A, 0));
	KUNIT_EXPECT_EQ(test, n, PGHOT_BLOCK_PAGES);
	for (i = 0; i < n; i++) {
		KUNIT_ASSERT_GE(test, f->entries[i].nid, 0);
		KUNIT_ASSERT_LT(test, f->entries[i].nid, RECORDERS);
	}
}

static void removal_under_way_loses_nothing(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct recorders all;
	unsigned long ready, gone = 0;
	int err = 0;

	recorders_start(test, &all, RECORDS, 64, PAGES_PER_SECTION / 32);
	while (!recorders_done(&all)) {
		gone += pghot_map_remove(&f->map, SECTION_A, 2);
		err = err ?: pghot_map_add(&f->map, &f->node, SECTION_B,
					   numa_mem_id());
		err = err ?: pghot_map_add(&f->map, &f->node, SECTION_A,
					   numa_mem_id());
	}
	ready = recorders_wait(&all);

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, ready, gone + pghot_map_ready(&f->node, NULL));
	KUNIT_EXPECT_EQ(test, ready, gone + take_all(test));
}

static void removal_during_a_walk_loses_nothing(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct recorders all;
	unsigned long ready, taken = 0, gone = 0;
	int err = 0;

	recorders_start(test, &all, RECORDS, 64, PAGES_PER_SECTION / 32);
	while (!recorders_done(&all)) {
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
			if (recorders_done(&all))
				break;
		}
		pghot_map_stop(&f->map, &c);
	}
	ready = recorders_wait(&all);

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, ready,
			taken + gone + pghot_map_ready(&f->node, NULL));
}

struct reader {
	struct completion reading;
	struct completion done;
	bool removed;
	bool removed_meanwhile;
};

static int reader(void *data)
{
	struct reader *r = data;

	rcu_read_lock();
	complete(&r->reading);
	/* Long enough for a removal that does not wait to come to its end. */
	mdelay(50);
	r->removed_meanwhile = READ_ONCE(r->removed);
	rcu_read_unlock();
	complete(&r->done);
	return 0;
}

static void removal_waits_for_readers(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct reader r = { };
	struct task_struct *task;

	init_completion(&r.reading);
	init_completion(&r.done);
	task = kthread_run(reader, &r, "pghot_reader");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	wait_for_completion(&r.reading);
	pghot_map_remove(&f->map, SECTION_A, 1);
	WRITE_ONCE(r.removed, true);
	wait_for_completion(&r.done);
	KUNIT_EXPECT_FALSE(test, r.removed_meanwhile);
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
	KUNIT_CASE_PARAM(removal_waits_for_readers, layout_gen_params),
	{ }
};

static struct kunit_suite concurrent_suite = {
	.name = "pghot_concurrent",
	.init = fixture_init,
	.test_cases = concurrent_cases,
};

kunit_test_suite(concurrent_suite);
