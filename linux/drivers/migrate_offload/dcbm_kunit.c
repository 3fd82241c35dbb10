// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the copy engine of DMA channels, which dcbm.c includes: which channels it
 * takes, and what it makes of transfers that fail or hang. Channels are made up, and a
 * transfer of theirs ends when the test says so.
 */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/gfp.h>

#define FAKE_CHANNELS	2
#define FAKE_COPIES	8

/**
 * struct fake - a DMA engine
 * @dma: as its users have it
 * @dev: its device
 * @driver: and that one's driver
 * @chan: its channels
 */
struct fake {
	struct dma_device dma;
	struct device *dev;
	struct device_driver driver;
	struct dma_chan chan[FAKE_CHANNELS];
};

/* Who may use the channels: whoever migrates meanwhile is refused, and the CPU copies. */
static struct task_struct *fake_user;
static struct dma_async_tx_descriptor fake_copies[FAKE_COPIES];
static unsigned int fake_nr;

static dma_cookie_t fake_submit(struct dma_async_tx_descriptor *tx)
{
	return DMA_MIN_COOKIE;
}

static struct dma_async_tx_descriptor *
fake_prep_memcpy(struct dma_chan *chan, dma_addr_t to, dma_addr_t from, size_t bytes,
		 unsigned long flags)
{
	struct dma_async_tx_descriptor *tx = &fake_copies[fake_nr];

	if (current != fake_user || fake_nr == FAKE_COPIES)
		return NULL;
	fake_nr++;
	*tx = (struct dma_async_tx_descriptor) { };
	dma_async_tx_descriptor_init(tx, chan);
	tx->tx_submit = fake_submit;
	return tx;
}

static enum dma_status fake_tx_status(struct dma_chan *chan, dma_cookie_t cookie,
				      struct dma_tx_state *state)
{
	return DMA_IN_PROGRESS;
}

static void fake_issue_pending(struct dma_chan *chan)
{
}

/* The nth transfer ends. */
static void fake_end(unsigned int nth, const struct dmaengine_result *result)
{
	fake_copies[nth].callback_result(fake_copies[nth].callback_param, result);
}

static int fake_set(unsigned int wanted)
{
	int err;

	mutex_lock(&channels_lock);
	err = set_channels(wanted);
	mutex_unlock(&channels_lock);
	return err;
}

static void fake_remove(void *data)
{
	struct fake *f = data;

	fake_set(0);
	dma_async_device_unregister(&f->dma);
	f->dev->driver = NULL;
	root_device_unregister(f->dev);
}

/* A device with FAKE_CHANNELS channels, by its driver and node. */
static struct fake *fake_add(struct kunit *test, const char *driver, int node)
{
	struct fake *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	unsigned int n;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->dev = root_device_register(driver);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, f->dev);
	f->driver.name = driver;
	f->dev->driver = &f->driver;
	f->dev->coherent_dma_mask = DMA_BIT_MASK(64);
	f->dev->dma_mask = &f->dev->coherent_dma_mask;
	set_dev_node(f->dev, node);
	f->dma.dev = f->dev;
	dma_cap_set(DMA_MEMCPY, f->dma.cap_mask);
	dma_cap_set(DMA_PRIVATE, f->dma.cap_mask);
	f->dma.device_prep_dma_memcpy = fake_prep_memcpy;
	f->dma.device_tx_status = fake_tx_status;
	f->dma.device_issue_pending = fake_issue_pending;
	INIT_LIST_HEAD(&f->dma.channels);
	for (n = 0; n < FAKE_CHANNELS; n++) {
		f->chan[n].device = &f->dma;
		list_add_tail(&f->chan[n].device_node, &f->dma.channels);
	}
	err = dma_async_device_register(&f->dma);
	if (err) {
		f->dev->driver = NULL;
		root_device_unregister(f->dev);
	}
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fake_remove, f), 0);
	return f;
}

static void fake_put(void *folio)
{
	folio_put(folio);
}

static struct folio *fake_folio(struct kunit *test)
{
	struct folio *folio = folio_alloc(GFP_KERNEL, 0);

	KUNIT_ASSERT_NOT_NULL(test, folio);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fake_put, folio), 0);
	return folio;
}

/* A job of so many pages. */
static struct migrate_copy_job *fake_job(struct kunit *test, unsigned int nr)
{
	struct migrate_copy_job *job;
	unsigned int n;

	job = kunit_kzalloc(test, struct_size(job, pair, nr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, job);
	job->nr = nr;
	for (n = 0; n < nr; n++) {
		job->pair[n].src = fake_folio(test);
		job->pair[n].dst = fake_folio(test);
	}
	return job;
}

static int fake_init(struct kunit *test)
{
	fake_nr = 0;
	fake_user = current;
	if (nr_channels)
		kunit_skip(test, "channels are in use");
	if (!fake_set(1)) {
		fake_set(0);
		kunit_skip(test, "there are channels");
	}
	return 0;
}

/* Not one of a driver that ends a failed transfer like a good one, beside others or alone. */
static void only_drivers_that_report(struct kunit *test)
{
	static const char * const silent[] = {
		"ptdma", "ae4dma", "switchtec_dma", "idxd2", "idx",
	};
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(silent); n++) {
		fake_add(test, silent[n], 0);
		KUNIT_EXPECT_EQ(test, fake_set(1), -ENODEV);
		KUNIT_EXPECT_EQ(test, nr_channels, 0);
	}
	for (n = 0; n < ARRAY_SIZE(drivers); n++) {
		struct fake *good = fake_add(test, drivers[n], 0);

		KUNIT_EXPECT_EQ(test, fake_set(CHANNELS_MAX), 0);
		KUNIT_EXPECT_EQ(test, nr_channels, (n + 1) * FAKE_CHANNELS);
		KUNIT_EXPECT_PTR_EQ(test, device_of(nr_channels - 1), good->dev);
	}
}

/* What failed, or ended without a word, is not taken for copied. */
static void failed_transfers_are_no_copies(struct kunit *test)
{
	const struct dmaengine_result good = { .result = DMA_TRANS_NOERROR };
	const struct dmaengine_result *results[] = {
		&good,
		&(struct dmaengine_result) { .result = DMA_TRANS_READ_FAILED },
		&(struct dmaengine_result) { .result = DMA_TRANS_WRITE_FAILED },
		&(struct dmaengine_result) { .result = DMA_TRANS_ABORTED },
		NULL,
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
		KUNIT_EXPECT_EQ(test, test_bit(0, job->copied), results[n] == &good);
	}
}

static struct kunit_case dcbm_cases[] = {
	KUNIT_CASE(only_drivers_that_report),
	KUNIT_CASE(failed_transfers_are_no_copies),
	{}
};

static struct kunit_suite dcbm_suite = {
	.name = "dcbm",
	.init = fake_init,
	.test_cases = dcbm_cases,
};

kunit_test_suite(dcbm_suite);
