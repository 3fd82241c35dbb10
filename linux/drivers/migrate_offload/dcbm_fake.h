/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A made-up DMA engine, for tests of the copy engine of DMA channels: see dcbm_kunit.c. It
 * uses what dcbm.c has for itself.
 */
#ifndef _MIGRATE_OFFLOAD_DCBM_FAKE_H
#define _MIGRATE_OFFLOAD_DCBM_FAKE_H

#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
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

static const struct dmaengine_result fake_good = { .result = DMA_TRANS_NOERROR };
/* Who may use the channels: whoever migrates meanwhile is refused, and the CPU copies. */
static struct task_struct *fake_user;
/* What tx_submit() of the channels does. */
static dma_cookie_t (*fake_submits)(struct dma_async_tx_descriptor *tx);
static struct dma_async_tx_descriptor fake_copies[FAKE_COPIES];
static unsigned int fake_nr;

static dma_cookie_t fake_submit(struct dma_async_tx_descriptor *tx)
{
	return DMA_MIN_COOKIE;
}

/* As idxd does where a shared queue is full: it calls back, here before it returns ... */
static dma_cookie_t fake_submit_aborts(struct dma_async_tx_descriptor *tx)
{
	const struct dmaengine_result aborted = { .result = DMA_TRANS_ABORTED };

	/* The second one finds room. */
	if (tx != fake_copies)
		return DMA_MIN_COOKIE;
	tx->callback_result(tx->callback_param, &aborted);
	return -EAGAIN;
}

/* ... and here when the test says so. */
static dma_cookie_t fake_submit_will_abort(struct dma_async_tx_descriptor *tx)
{
	return -EAGAIN;
}

/* Others call nobody back. */
static dma_cookie_t fake_submit_fails(struct dma_async_tx_descriptor *tx)
{
	return -EIO;
}

static dma_cookie_t fake_submit_takes_one(struct dma_async_tx_descriptor *tx)
{
	return tx == fake_copies ? DMA_MIN_COOKIE : -EIO;
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
	tx->tx_submit = fake_submits;
	tx->flags = flags;
	return tx;
}

/* The nth transfer ends. */
static void fake_end(unsigned int nth, const struct dmaengine_result *result)
{
	fake_copies[nth].callback_result(fake_copies[nth].callback_param, result);
}

/* How many of the first transfers end when somebody asks. */
static unsigned int fake_end_asked;

static enum dma_status fake_tx_status(struct dma_chan *chan, dma_cookie_t cookie,
				      struct dma_tx_state *state)
{
	while (fake_end_asked)
		fake_end(--fake_end_asked, &fake_good);
	return DMA_IN_PROGRESS;
}

static void fake_issue_pending(struct dma_chan *chan)
{
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

static struct folio *fake_folio(struct kunit *test, unsigned int order)
{
	struct folio *folio = folio_alloc(GFP_KERNEL, order);

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
		job->pair[n].src = fake_folio(test, 0);
		job->pair[n].dst = fake_folio(test, 0);
	}
	return job;
}

#endif
