// SPDX-License-Identifier: GPL-2.0
/*
 * A copy engine of DMA channels: those of a DMA engine that can copy memory, that says
 * when it failed to, and that nobody else uses. It is there while its parameter channels
 * is not 0.
 *
 * A channel is never stopped while it may still write. Where one takes much too long
 * nothing more is given to any, and whoever waits for it goes on waiting.
 */
#define pr_fmt(fmt) "dcbm: " fmt

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/dmaengine.h>
#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/migrate_copy.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/pfn.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#define CHANNELS_MAX	16U
/* Jobs that a channel may have parts of, so that it has work when one ends. */
#define CHANNEL_JOBS	2
#define LATE_S		10
/* A channel is asked for no less: what it takes to tell it, and to hear of it. */
#define SHARE_MIN	(128UL << 10)

/**
 * struct dcbm_channel - a channel that is ours
 * @chan: the channel
 * @jobs: that it has parts of
 */
struct dcbm_channel {
	struct dma_chan *chan;
	atomic_t jobs;
};

struct dcbm_job;

/**
 * struct dcbm_copy - a piece of a job on its way: contiguous at both ends
 * @own: of which job
 * @from: where the device finds it
 * @to: and where it goes
 * @bytes: how many
 * @first: folio that it begins in
 * @last: folio that it ends in
 * @channel: whose it is
 * @ok: it is there
 */
struct dcbm_copy {
	struct dcbm_job *own;
	dma_addr_t from, to;
	u32 bytes;
	u16 first, last;
	u8 channel;
	bool ok;
};

/**
 * struct dcbm_job - a job, in pieces
 * @job: the job
 * @left: pieces that channels have, and one for whoever gives them
 * @done: they have none any more
 * @channel: those that have pieces, by bit
 * @bad: folios of which a piece was not even given, by bit
 * @nr: pieces that were given
 * @copy: these
 */
struct dcbm_job {
	struct migrate_copy_job *job;
	atomic_t left;
	struct completion done;
	unsigned long channel;
	DECLARE_BITMAP(bad, MIGRATE_COPY_FOLIOS_MAX);
	unsigned int nr;
	struct dcbm_copy copy[];
};

/* Serialises changes of these, which are none while the engine is registered. */
static DEFINE_MUTEX(channels_lock);
static struct dcbm_channel channels[CHANNELS_MAX];
static unsigned int nr_channels;
/* What each of them takes in one piece. */
static size_t piece_least;
/* A channel is so late that nothing more is to be given to any. */
static bool retired;

/*
 * Drivers that say of each transfer whether it failed. Others may end one that failed like
 * one that did not, as ptdma and ae4dma do, or with what came of another one, as
 * switchtec_dma where they end out of order: pages would be lost.
 */
static const char * const drivers[] = {
	"idxd", "ioatdma", "plx_dma", "memsim-dma",
};

static struct device *device_of(unsigned int channel)
{
	return channels[channel].chan->device->dev;
}

static void copy_ended(void *data, const struct dmaengine_result *result)
{
	struct dcbm_copy *copy = data;
	struct dcbm_job *own = copy->own;

	copy->ok = result && result->result == DMA_TRANS_NOERROR;
	if (!atomic_sub_return(1, &own->left)) {
		own->job->done_ns = ktime_get_ns();
		complete(&own->done);
	}
}

static void copy_unmap(const struct dcbm_copy *copy)
{
	struct device *dev = device_of(copy->channel);

	dma_unmap_phys(dev, copy->from, copy->bytes, DMA_TO_DEVICE, 0);
	dma_unmap_phys(dev, copy->to, copy->bytes, DMA_FROM_DEVICE, 0);
}

static bool copy_map(struct dcbm_copy *copy, phys_addr_t from, phys_addr_t to)
{
	struct device *dev = device_of(copy->channel);

	copy->from = dma_map_phys(dev, from, copy->bytes, DMA_TO_DEVICE, 0);
	if (dma_mapping_error(dev, copy->from))
		return false;
	copy->to = dma_map_phys(dev, to, copy->bytes, DMA_FROM_DEVICE, 0);
	if (!dma_mapping_error(dev, copy->to))
		return true;
	dma_unmap_phys(dev, copy->from, copy->bytes, DMA_TO_DEVICE, 0);
	return false;
}

/* Give a channel a piece; false: it does not take it. */
static bool give(struct dcbm_copy *copy, phys_addr_t from, phys_addr_t to)
{
	struct dma_chan *chan = channels[copy->channel].chan;
	struct dcbm_job *own = copy->own;
	struct dma_async_tx_descriptor *tx;

	if (!copy_map(copy, from, to))
		return false;
	/* Only of those that interrupt all drivers say what came of them. */
	tx = dmaengine_prep_dma_memcpy(chan, copy->to, copy->from, copy->bytes,
				       DMA_PREP_INTERRUPT);
	if (!tx)
		goto out_unmap;
	tx->callback_result = copy_ended;
	tx->callback_param = copy;
	atomic_inc(&own->left);
	if (dma_submit_error(dmaengine_submit(tx))) {
		atomic_dec(&own->left);
		goto out_unmap;
	}
	__set_bit(copy->channel, &own->channel);
	return true;

out_unmap:
	copy_unmap(copy);
	return false;
}

/* What a channel takes in one piece, in whole pages. */
static size_t piece_max(unsigned int channel)
{
	struct device *dev = device_of(channel);
	size_t most = min(dma_get_max_seg_size(dev), dma_max_mapping_size(dev));

	return max(round_down(min(most, SZ_1G), PAGE_SIZE), PAGE_SIZE);
}

static phys_addr_t phys_of(struct folio *folio)
{
	return PFN_PHYS(folio_pfn(folio));
}

/* A folio and the one behind it are neighbours at both ends. */
static bool go_on(const struct migrate_copy_job *job, unsigned int nth, size_t bytes)
{
	const struct migrate_copy_pair *this = &job->pair[nth];
	const struct migrate_copy_pair *next = &job->pair[nth + 1];

	return phys_of(next->src) == phys_of(this->src) + bytes &&
	       phys_of(next->dst) == phys_of(this->dst) + bytes;
}

/* Give a channel a share, in as few pieces as can be. */
static void give_share(struct dcbm_job *own, unsigned int channel, size_t at,
		       size_t end)
{
	const struct migrate_copy_job *job = own->job;
	size_t bytes = PAGE_SIZE << job->order, most = piece_max(channel);

	while (at < end) {
		struct dcbm_copy *copy = &own->copy[own->nr];
		unsigned int first = at / bytes, last = first;
		size_t within = at - first * bytes, stop = min(at + most, end);

		while ((last + 1) * bytes < stop) {
			if (!go_on(job, last, bytes))
				stop = (last + 1) * bytes;
			else
				last++;
		}
		*copy = (struct dcbm_copy) {
			.own = own, .bytes = stop - at, .first = first,
			.last = last, .channel = channel,
		};
		if (give(copy, phys_of(job->pair[first].src) + within,
			 phys_of(job->pair[first].dst) + within))
			own->nr++;
		else
			bitmap_set(own->bad, first, last - first + 1);
		at = stop;
	}
}

/* Take a share in a channel; those near a node alone, or any. */
static bool take(unsigned int nth, int node)
{
	struct dcbm_channel *c = &channels[nth];

	if (node != NUMA_NO_NODE && dev_to_node(c->chan->device->dev) != node)
		return false;
	return atomic_add_unless(&c->jobs, 1, CHANNEL_JOBS);
}

/* Up to so many channels, those near the target first; return how many there are. */
static unsigned int take_channels(unsigned int *taken, unsigned int most, int node)
{
	int near[] = { node, NUMA_NO_NODE };
	unsigned long have = 0;
	unsigned int nr = 0, n, i;

	for (i = 0; i < ARRAY_SIZE(near); i++)
		for (n = 0; n < nr_channels && nr < most; n++) {
			if (test_bit(n, &have) || !take(n, near[i]))
				continue;
			__set_bit(n, &have);
			taken[nr++] = n;
		}
	return nr;
}

static int dcbm_start(struct migrate_copy_engine *engine,
		      struct migrate_copy_job *job)
{
	size_t total = job->nr * (PAGE_SIZE << job->order), share;
	unsigned int taken[CHANNELS_MAX], nr, n, pieces;
	struct dcbm_job *own;

	if (READ_ONCE(retired))
		return -EIO;
	/* None is smaller than a folio but where a share or what a channel takes ends. */
	pieces = job->nr + CHANNELS_MAX + total / piece_least;
	own = kmalloc_flex(*own, copy, pieces, MIGRATE_COPY_GFP);
	if (!own)
		return -EBUSY;
	nr = take_channels(taken, clamp(total / SHARE_MIN, 1, CHANNELS_MAX), job->to);
	if (!nr) {
		kfree(own);
		return -EBUSY;
	}
	memset(own, 0, offsetof(struct dcbm_job, copy));
	own->job = job;
	atomic_set(&own->left, 1);
	init_completion(&own->done);
	job->private = own;
	share = PAGE_ALIGN(DIV_ROUND_UP(total, nr));
	for (n = 0; n < nr; n++) {
		give_share(own, taken[n], min(n * share, total),
			   min((n + 1) * share, total));
		if (test_bit(taken[n], &own->channel))
			dma_async_issue_pending(channels[taken[n]].chan);
		else
			atomic_dec(&channels[taken[n]].jobs);
	}
	if (!atomic_sub_return(1, &own->left))
		complete(&own->done);
	return 0;
}

static void dcbm_finish(struct migrate_copy_engine *engine,
			struct migrate_copy_job *job)
{
	struct dcbm_job *own = job->private;
	unsigned int n;

	if (!wait_for_completion_timeout(&own->done, LATE_S * HZ)) {
		if (!xchg(&retired, true))
			pr_err("a channel is late by %d s: no more is given to any\n",
			       LATE_S);
		wait_for_completion(&own->done);
	}
	for (n = 0; n < own->nr; n++) {
		const struct dcbm_copy *copy = &own->copy[n];

		copy_unmap(copy);
		if (!copy->ok)
			bitmap_set(own->bad, copy->first,
				   copy->last - copy->first + 1);
	}
	bitmap_complement(job->copied, own->bad, job->nr);
	for_each_set_bit(n, &own->channel, CHANNELS_MAX)
		atomic_dec(&channels[n].jobs);
	kfree(own);
}

static const struct migrate_copy_ops dcbm_ops = {
	.start = dcbm_start,
	.finish = dcbm_finish,
};

static struct migrate_copy_engine dcbm_engine = {
	.name = "dcbm",
	.ops = &dcbm_ops,
	.reasons = MIGRATE_COPY_ANY,
	.max_order = MAX_PAGE_ORDER,
	.use = MIGRATE_COPY_ON,
};

static void release_channels(void)
{
	while (nr_channels)
		dma_release_channel(channels[--nr_channels].chan);
}

/* A driver that was met and is none of ours. */
struct dcbm_refused {
	char driver[32];
};

/* Is a channel's driver one that says what failed? */
static bool is_ours(struct dma_chan *chan, void *data)
{
	const char *driver = dev_driver_string(chan->device->dev);
	struct dcbm_refused *refused = data;

	if (match_string(drivers, ARRAY_SIZE(drivers), driver) >= 0)
		return true;
	strscpy(refused->driver, driver);
	return false;
}

static int request_channels(unsigned int wanted)
{
	struct dcbm_refused refused = { };
	dma_cap_mask_t mask;

	piece_least = SIZE_MAX;
	dma_cap_zero(mask);
	dma_cap_set(DMA_MEMCPY, mask);
	while (nr_channels < wanted) {
		struct dma_chan *chan = dma_request_channel(mask, is_ours, &refused);

		if (!chan)
			break;
		channels[nr_channels].chan = chan;
		atomic_set(&channels[nr_channels].jobs, 0);
		piece_least = min(piece_least, piece_max(nr_channels++));
	}
	if (nr_channels)
		return 0;
	if (*refused.driver)
		pr_notice("no channel of %s is taken: it is not known to say what failed\n",
			  refused.driver);
	return -ENODEV;
}

static int set_channels(unsigned int wanted)
{
	int err;

	lockdep_assert_held(&channels_lock);
	if (nr_channels) {
		migrate_copy_unregister(&dcbm_engine);
		release_channels();
	}
	retired = false;
	if (!wanted)
		return 0;
	err = request_channels(wanted);
	if (!err)
		err = migrate_copy_register(&dcbm_engine);
	if (err)
		release_channels();
	else if (nr_channels < wanted)
		pr_notice("%u of %u channels\n", nr_channels, wanted);
	return err;
}

static int channels_set(const char *text, const struct kernel_param *kp)
{
	unsigned int wanted;
	int err = kstrtouint(text, 0, &wanted);

	if (err || wanted > CHANNELS_MAX)
		return -EINVAL;
	/* On the command line it comes before there are any: see dcbm_init(). */
	if (system_state < SYSTEM_RUNNING)
		return param_set_uint(text, kp);
	mutex_lock(&channels_lock);
	err = set_channels(wanted);
	mutex_unlock(&channels_lock);
	return err;
}

static unsigned int at_boot;

static int channels_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%u\n", READ_ONCE(nr_channels));
}

static const struct kernel_param_ops channels_ops = {
	.set = channels_set,
	.get = channels_get,
};

/* DMA channels to use, up to CHANNELS_MAX; 0: the engine is not there. */
module_param_cb(channels, &channels_ops, &at_boot, 0644);

/* After drivers of DMA engines. */
static int __init dcbm_init(void)
{
	int err = 0;

	mutex_lock(&channels_lock);
	if (at_boot)
		err = set_channels(at_boot);
	mutex_unlock(&channels_lock);
	return err;
}
late_initcall(dcbm_init);

#ifdef CONFIG_MIGRATE_OFFLOAD_KUNIT_TEST
#include "dcbm_kunit.c"
#endif
