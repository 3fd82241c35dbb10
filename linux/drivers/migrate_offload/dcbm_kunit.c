// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the copy engine of DMA channels, which dcbm.c includes: which channels it
 * takes, and what it makes of transfers that fail or hang. Channels are made up, and a
 * transfer of theirs ends when the test says so.
 */
#include <kunit/test.h>
#include <linux/delay.h>

#include "../../mm/migrate_copy/state.h"
#include "dcbm_fake.h"

static int fake_init(struct kunit *test)
{
	fake_nr = 0;
	fake_end_asked = 0;
	fake_user = current;
	fake_submits = fake_submit;
	if (dcbm_nr_channels)
		kunit_skip(test, "channels are in use");
	if (!fake_set(1)) {
		fake_set(0);
		kunit_skip(test, "there are channels");
	}
	return 0;
}

/* Not one of a driver that does not say what failed, or too early, beside others or alone. */
static void only_drivers_that_report(struct kunit *test)
{
	static const char * const silent[] = {
		"ptdma", "ae4dma", "switchtec_dma", "ioatdma", "idxd2", "idx",
	};
	static const char * const drivers[] = {
		"idxd", "plx_dma", "memsim-dma",
	};
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(silent); n++) {
		fake_add(test, silent[n], 0);
		KUNIT_EXPECT_EQ(test, fake_set(1), -ENODEV);
		KUNIT_EXPECT_EQ(test, dcbm_nr_channels, 0);
	}
	for (n = 0; n < ARRAY_SIZE(drivers); n++) {
		struct fake *good = fake_add(test, drivers[n], 0);

		KUNIT_EXPECT_EQ(test, fake_set(DCBM_CHANNELS_MAX), 0);
		KUNIT_EXPECT_EQ(test, dcbm_nr_channels, (n + 1) * FAKE_CHANNELS);
		KUNIT_EXPECT_PTR_EQ(test, dcbm_device(dcbm_nr_channels - 1), good->dev);
	}
}

/* What failed is not taken for copied. */
static void failed_transfers_are_no_copies(struct kunit *test)
{
	const struct dmaengine_result *results[] = {
		&fake_good,
		&(struct dmaengine_result) { .result = DMA_TRANS_READ_FAILED },
		&(struct dmaengine_result) { .result = DMA_TRANS_WRITE_FAILED },
		&(struct dmaengine_result) { .result = DMA_TRANS_ABORTED },
	};
	unsigned int n;

	fake_add(test, "idxd", 0);
	KUNIT_ASSERT_EQ(test, fake_set(1), 0);
	for (n = 0; n < ARRAY_SIZE(results); n++) {
		struct migrate_copy_job *job = fake_job(test, 1);

		fake_nr = 0;
		KUNIT_ASSERT_EQ(test, dcbm_start(&dcbm_engine, job), 0);
		KUNIT_ASSERT_EQ(test, fake_nr, 1);
		fake_end(0, results[n]);
		dcbm_finish(&dcbm_engine, job);
		KUNIT_EXPECT_EQ(test, test_bit(0, job->copied), results[n] == &fake_good);
	}
}

/* All that channels were given has been called back, or not. */
static bool fake_done(const struct migrate_copy_job *job)
{
	struct dcbm_job *own = job->private;

	return completion_done(&own->done);
}

/* A job of two pages that are no neighbours, which channels of a driver were given. */
static struct migrate_copy_job *
fake_start_apart(struct kunit *test, const char *driver,
		 dma_cookie_t (*submits)(struct dma_async_tx_descriptor *tx))
{
	struct migrate_copy_job *job = fake_job(test, 2);

	if (dcbm_phys_of(job->pair[0].src) < dcbm_phys_of(job->pair[1].src))
		swap(job->pair[0], job->pair[1]);
	fake_add(test, driver, 0);
	KUNIT_ASSERT_EQ(test, fake_set(1), 0);
	fake_submits = submits;
	KUNIT_ASSERT_EQ(test, dcbm_start(&dcbm_engine, job), 0);
	KUNIT_ASSERT_EQ(test, fake_nr, 2);
	return job;
}

/* Alone it does not hang, and beside one that is under way it ends nothing. */
static void what_is_aborted_when_given_counts_once(struct kunit *test)
{
	struct migrate_copy_job *one = fake_job(test, 1), *two;

	two = fake_start_apart(test, "idxd", fake_submit_aborts);
	KUNIT_ASSERT_FALSE(test, fake_done(two));
	fake_end(1, &fake_good);
	KUNIT_ASSERT_TRUE(test, fake_done(two));
	dcbm_finish(&dcbm_engine, two);
	KUNIT_EXPECT_FALSE(test, test_bit(0, two->copied));
	KUNIT_EXPECT_TRUE(test, test_bit(1, two->copied));

	fake_nr = 0;
	KUNIT_ASSERT_EQ(test, dcbm_start(&dcbm_engine, one), 0);
	KUNIT_ASSERT_TRUE(test, fake_done(one));
	dcbm_finish(&dcbm_engine, one);
	KUNIT_EXPECT_FALSE(test, test_bit(0, one->copied));
	KUNIT_EXPECT_EQ(test, atomic_read(&dcbm_channels[0].jobs), 0);
}

static void what_is_aborted_later_is_waited_for(struct kunit *test)
{
	const struct dmaengine_result aborted = { .result = DMA_TRANS_ABORTED };
	struct migrate_copy_job *job;
	unsigned int n;

	job = fake_start_apart(test, "idxd", fake_submit_will_abort);
	/* Neither has the place of the other one. */
	KUNIT_EXPECT_PTR_NE(test, fake_copies[0].callback_param,
			    fake_copies[1].callback_param);
	for (n = 0; n < 2; n++) {
		KUNIT_ASSERT_FALSE(test, fake_done(job));
		fake_end(n, &aborted);
	}
	KUNIT_ASSERT_TRUE(test, fake_done(job));
	dcbm_finish(&dcbm_engine, job);
	KUNIT_EXPECT_TRUE(test, bitmap_empty(job->copied, job->nr));
	KUNIT_EXPECT_EQ(test, atomic_read(&dcbm_channels[0].jobs), 0);
}

static void what_is_not_taken_is_not_waited_for(struct kunit *test)
{
	struct migrate_copy_job *job = fake_start_apart(test, "idxd", fake_submit_fails);

	KUNIT_ASSERT_TRUE(test, fake_done(job));
	KUNIT_EXPECT_EQ(test, atomic_read(&dcbm_channels[0].jobs), 0);
	dcbm_finish(&dcbm_engine, job);
	KUNIT_EXPECT_TRUE(test, bitmap_empty(job->copied, job->nr));
}

/* By driver: what the first of two pieces asks for. */
static const struct fake_pieces {
	const char *driver;
	unsigned long first;
} fake_pieces[] = {
	{ "idxd", DMA_PREP_INTERRUPT }, { "plx_dma", 0 }, { "memsim-dma", 0 },
};

KUNIT_ARRAY_PARAM_DESC(fake_pieces, fake_pieces, driver);

/* Where the driver calls back for all that ended, the last piece is enough. */
static void only_the_last_piece_interrupts(struct kunit *test)
{
	const struct fake_pieces *of = test->param_value;
	struct migrate_copy_job *job = fake_start_apart(test, of->driver, fake_submit);

	KUNIT_EXPECT_EQ(test, fake_copies[0].flags, of->first);
	KUNIT_EXPECT_EQ(test, fake_copies[1].flags, DMA_PREP_INTERRUPT);
	fake_end(0, &fake_good);
	fake_end(1, &fake_good);
	dcbm_finish(&dcbm_engine, job);
}

/* That one may be refused. */
static void what_does_not_interrupt_is_asked_for(struct kunit *test)
{
	struct migrate_copy_job *job;

	job = fake_start_apart(test, "plx_dma", fake_submit_takes_one);
	KUNIT_ASSERT_FALSE(test, fake_done(job));
	fake_end_asked = 1;
	dcbm_finish(&dcbm_engine, job);
	KUNIT_EXPECT_TRUE(test, test_bit(0, job->copied));
	KUNIT_EXPECT_FALSE(test, test_bit(1, job->copied));
	KUNIT_EXPECT_EQ(test, atomic_read(&dcbm_channels[0].jobs), 0);
}

/* A job has room for as many pieces as channels took when they were requested. */
static void pieces_are_as_large_as_at_first(struct kunit *test)
{
	static struct device_dma_parameters less = { .max_segment_size = PAGE_SIZE };
	struct migrate_copy_job *job = fake_job(test, 1);
	struct fake *f = fake_add(test, "idxd", 0);

	job->order = 2;
	job->pair[0].src = fake_folio(test, job->order);
	job->pair[0].dst = fake_folio(test, job->order);
	KUNIT_ASSERT_EQ(test, fake_set(1), 0);
	f->dev->dma_parms = &less;
	KUNIT_ASSERT_EQ(test, dcbm_start(&dcbm_engine, job), 0);
	KUNIT_EXPECT_EQ(test, fake_nr, 1);
	while (fake_nr)
		fake_end(--fake_nr, &fake_good);
	dcbm_finish(&dcbm_engine, job);
	KUNIT_EXPECT_TRUE(test, test_bit(0, job->copied));
}

/* A device is of any that there could be. */
static void need_nodes(struct kunit *test, unsigned int nr)
{
	if (nr > MAX_NUMNODES)
		kunit_skip(test, "no NUMA");
}

static void nodes_give_channels_in_turn(struct kunit *test)
{
	static const unsigned int want[] = { 0, 1, 2, 0, 1, 2 };
	struct fake *f[3];
	unsigned int n;

	need_nodes(test, 3);
	f[0] = fake_add(test, "idxd", 0);
	f[1] = fake_add(test, "memsim-dma", 1);
	f[2] = fake_add(test, "plx_dma", 2);
	KUNIT_ASSERT_EQ(test, fake_set(3), 0);
	for (n = 0; n < 3; n++)
		KUNIT_EXPECT_PTR_EQ(test, dcbm_device(n), f[n]->dev);
	KUNIT_ASSERT_EQ(test, fake_set(DCBM_CHANNELS_MAX), 0);
	KUNIT_ASSERT_EQ(test, dcbm_nr_channels, ARRAY_SIZE(want));
	for (n = 0; n < dcbm_nr_channels; n++)
		KUNIT_EXPECT_PTR_EQ(test, dcbm_device(n), f[want[n]]->dev);
}

/* Where one node has more than the others all are found. */
static void devices_of_a_node_all_give_channels(struct kunit *test)
{
	fake_add(test, "idxd", 0);
	fake_add(test, "idxd2", 0);
	fake_add(test, "memsim-dma", 0);
	fake_add(test, "plx_dma", NUMA_NO_NODE);
	KUNIT_ASSERT_EQ(test, fake_set(DCBM_CHANNELS_MAX), 0);
	KUNIT_EXPECT_EQ(test, dcbm_nr_channels, 3 * FAKE_CHANNELS);
}

/* By name: where a job's folios go, where they are, and which channels it gets in turn. */
static const struct fake_way {
	const char *name;
	int to, from;
	unsigned int want[8];
} fake_ways[] = {
	/* Channels 0 and 2 are of node 0, the others of node 1. Node 2 has none. */
	{ "near the target", 1, 0, { 1, 3, 0, 2, 1, 3, 0, 2 } },
	{ "within a node", 1, 1, { 1, 3, 0, 2, 1, 3, 0, 2 } },
	{ "near the source", 2, 1, { 1, 3, 0, 2, 1, 3, 0, 2 } },
	{ "near neither", 2, 2, { 0, 1, 2, 3, 0, 1, 2, 3 } },
};

KUNIT_ARRAY_PARAM_DESC(fake_ways, fake_ways, name);

static void idle_channels_are_taken_first(struct kunit *test)
{
	const struct fake_way *way = test->param_value;
	unsigned int taken[DCBM_CHANNELS_MAX], n;

	need_nodes(test, 2);
	fake_add(test, "idxd", 0);
	fake_add(test, "memsim-dma", 1);
	KUNIT_ASSERT_EQ(test, fake_set(DCBM_CHANNELS_MAX), 0);
	for (n = 0; n < ARRAY_SIZE(way->want); n++) {
		KUNIT_ASSERT_EQ(test, dcbm_take(taken, 1, way->to, way->from), 1);
		KUNIT_EXPECT_EQ(test, taken[0], way->want[n]);
	}
	KUNIT_EXPECT_EQ(test, dcbm_take(taken, 1, way->to, way->from), 0);
	/* No channel twice for one job, however many are wanted. */
	for (n = 0; n < dcbm_nr_channels; n++)
		atomic_set(&dcbm_channels[n].jobs, 0);
	KUNIT_EXPECT_EQ(test, dcbm_take(taken, DCBM_CHANNELS_MAX, way->to, way->from),
			dcbm_nr_channels);
	for (n = 0; n < dcbm_nr_channels; n++)
		KUNIT_EXPECT_EQ(test, atomic_read(&dcbm_channels[n].jobs), 1);
}

static void fake_restore(void *data)
{
	const struct migrate_copy_engine *was = data;

	dcbm_engine.use = was->use;
	dcbm_engine.kept = was->kept;
}

/* The engine goes for that and comes back. */
static void settings_stay_when_channels_change(struct kunit *test)
{
	static struct migrate_copy_engine was;
	static const unsigned int channels[] = { 2, 0, 1 };
	unsigned int n;

	was = dcbm_engine;
	/* After the channels, with which it goes for good, are gone. */
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fake_restore, &was), 0);
	fake_add(test, "idxd", 0);
	KUNIT_ASSERT_EQ(test, fake_set(1), 0);
	KUNIT_EXPECT_EQ(test, dcbm_engine.state->use, was.use);
	mutex_lock(&migrate_copy_lock);
	migrate_copy_switch(dcbm_engine.state, MIGRATE_COPY_OFF);
	mutex_unlock(&migrate_copy_lock);
	WRITE_ONCE(dcbm_engine.state->reasons, BIT(MR_DEMOTION));
	for (n = 0; n < ARRAY_SIZE(channels); n++) {
		KUNIT_ASSERT_EQ(test, fake_set(channels[n]), 0);
		if (!channels[n])
			continue;
		KUNIT_EXPECT_EQ(test, dcbm_engine.state->use, MIGRATE_COPY_OFF);
		KUNIT_EXPECT_EQ(test, dcbm_engine.state->reasons, BIT(MR_DEMOTION));
	}
}

/* Whoever sets the parameter does not wait for a channel that hangs. */
static void a_channel_that_hangs_stays(struct kunit *test)
{
	struct migrate_copy_job *job = fake_job(test, 1), *other = fake_job(test, 1);
	u64 began;

	fake_add(test, "idxd", 0);
	KUNIT_ASSERT_EQ(test, fake_set(2), 0);
	KUNIT_ASSERT_EQ(test, dcbm_start(&dcbm_engine, job), 0);
	KUNIT_ASSERT_EQ(test, fake_nr, 1);
	retired = true;
	began = ktime_get_ns();
	KUNIT_EXPECT_EQ(test, fake_set(0), -EBUSY);
	KUNIT_EXPECT_EQ(test, fake_set(1), -EBUSY);
	KUNIT_EXPECT_LT(test, ktime_get_ns() - began, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, dcbm_nr_channels, 2);
	KUNIT_EXPECT_EQ(test, dcbm_start(&dcbm_engine, other), -EIO);

	/* Once it is there after all they can go, and come back as new. */
	fake_end(0, &fake_good);
	dcbm_finish(&dcbm_engine, job);
	KUNIT_EXPECT_TRUE(test, test_bit(0, job->copied));
	KUNIT_EXPECT_EQ(test, fake_set(1), 0);
	KUNIT_EXPECT_EQ(test, dcbm_nr_channels, 1);
	fake_nr = 0;
	KUNIT_ASSERT_EQ(test, dcbm_start(&dcbm_engine, other), 0);
	fake_end(0, &fake_good);
	dcbm_finish(&dcbm_engine, other);
}

/* Will the late job be gone? Its work item has to run. */
static bool fake_goes(void)
{
	unsigned int tries;

	for (tries = 0; tries < 1000 && atomic_read(&jobs_begun); tries++)
		fsleep(1000);
	return !atomic_read(&jobs_begun);
}

/* As idxd does when its device halts. Nobody waits for ever, and nothing is written to. */
static void who_is_not_called_back_goes_on(struct kunit *test)
{
	struct migrate_copy_job *job;
	unsigned int n;

	job = fake_start_apart(test, "idxd", fake_submit);
	/* One of two pieces is there. It does not count: what for? */
	fake_end(0, &fake_good);
	late_jiffies = 2;
	/* The log is silent then. */
	retired = true;
	dcbm_finish(&dcbm_engine, job);
	late_jiffies = LATE_S * HZ;
	KUNIT_EXPECT_TRUE(test, bitmap_empty(job->copied, job->nr));
	for (n = 0; n < 2; n++) {
		KUNIT_EXPECT_EQ(test, folio_ref_count(job->pair[n].src), 2);
		KUNIT_EXPECT_EQ(test, folio_ref_count(job->pair[n].dst), 2);
	}
	KUNIT_EXPECT_EQ(test, dcbm_start(&dcbm_engine, job), -EIO);
	KUNIT_EXPECT_EQ(test, fake_set(0), -EBUSY);

	/* It was late, and no more than that: all comes back. The job is not touched. */
	job->private = NULL;
	fake_end(1, &fake_good);
	KUNIT_EXPECT_TRUE(test, fake_goes());
	for (n = 0; n < 2; n++) {
		KUNIT_EXPECT_EQ(test, folio_ref_count(job->pair[n].src), 1);
		KUNIT_EXPECT_EQ(test, folio_ref_count(job->pair[n].dst), 1);
	}
	KUNIT_EXPECT_EQ(test, fake_set(1), 0);
}

/* A batch has one job waited for and one behind it. */
static void jobs_that_hang_are_late_together(struct kunit *test)
{
	struct migrate_copy_job *first, *second = fake_job(test, 1);
	unsigned long began;

	first = fake_start_apart(test, "idxd", fake_submit);
	KUNIT_ASSERT_EQ(test, dcbm_start(&dcbm_engine, second), 0);
	KUNIT_ASSERT_EQ(test, fake_nr, 3);
	late_jiffies = HZ / 2;
	retired = true;
	began = jiffies;
	dcbm_finish(&dcbm_engine, first);
	dcbm_finish(&dcbm_engine, second);
	KUNIT_EXPECT_LT(test, jiffies - began, 2 * late_jiffies);
	late_jiffies = LATE_S * HZ;
	KUNIT_EXPECT_TRUE(test, bitmap_empty(second->copied, second->nr));
	while (fake_nr)
		fake_end(--fake_nr, &fake_good);
	KUNIT_EXPECT_TRUE(test, fake_goes());
	KUNIT_EXPECT_EQ(test, folio_ref_count(second->pair[0].dst), 1);
}

/* Of a driver that calls back for these only when it is asked. */
static void what_is_left_is_asked_for(struct kunit *test)
{
	struct migrate_copy_job *job;

	job = fake_start_apart(test, "plx_dma", fake_submit_takes_one);
	late_jiffies = LATE_S;
	retired = true;
	dcbm_finish(&dcbm_engine, job);
	KUNIT_EXPECT_TRUE(test, bitmap_empty(job->copied, job->nr));
	KUNIT_EXPECT_EQ(test, fake_set(0), -EBUSY);
	job->private = NULL;
	fake_end_asked = 1;
	KUNIT_EXPECT_TRUE(test, fake_goes());
	late_jiffies = LATE_S * HZ;
	KUNIT_EXPECT_EQ(test, folio_ref_count(job->pair[0].dst), 1);
}

static struct kunit_case dcbm_cases[] = {
	KUNIT_CASE(only_drivers_that_report),
	KUNIT_CASE(failed_transfers_are_no_copies),
	KUNIT_CASE(what_is_aborted_when_given_counts_once),
	KUNIT_CASE(what_is_aborted_later_is_waited_for),
	KUNIT_CASE(what_is_not_taken_is_not_waited_for),
	KUNIT_CASE_PARAM(only_the_last_piece_interrupts, fake_pieces_gen_params),
	KUNIT_CASE(what_does_not_interrupt_is_asked_for),
	KUNIT_CASE(pieces_are_as_large_as_at_first),
	KUNIT_CASE(nodes_give_channels_in_turn),
	KUNIT_CASE(devices_of_a_node_all_give_channels),
	KUNIT_CASE_PARAM(idle_channels_are_taken_first, fake_ways_gen_params),
	KUNIT_CASE(settings_stay_when_channels_change),
	KUNIT_CASE(a_channel_that_hangs_stays),
	KUNIT_CASE(who_is_not_called_back_goes_on),
	KUNIT_CASE(jobs_that_hang_are_late_together),
	KUNIT_CASE(what_is_left_is_asked_for),
	{}
};

static struct kunit_suite dcbm_suite = {
	.name = "dcbm",
	.init = fake_init,
	.test_cases = dcbm_cases,
};

kunit_test_suite(dcbm_suite);
