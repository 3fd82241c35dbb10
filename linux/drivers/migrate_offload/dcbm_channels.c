// SPDX-License-Identifier: GPL-2.0
/* Channels of the copy engine dcbm: whose it takes, and which of them a job gets. */
#define pr_fmt(fmt) "dcbm: " fmt

#include <linux/array_size.h>
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/dmaengine.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "dcbm.h"

/* Jobs that a channel may have parts of, so that it has work when one ends. */
#define CHANNEL_JOBS	2

/* What may be read while the engine is registered, and changes only while it is not. */
struct dcbm_channel dcbm_channels[DCBM_CHANNELS_MAX];
unsigned int dcbm_nr_channels;
/* What each of them takes in one piece: jobs are made for no more pieces than that makes. */
size_t dcbm_piece_least;

/*
 * Drivers that say of each transfer whether it failed, and not too early. Others may end
 * one that failed like one that did not, as ptdma and ae4dma do, or with what came of
 * another one, as switchtec_dma where they end out of order: pages would be lost. ioatdma,
 * when a channel is stuck, calls transfers aborted before it resets the channel, which may
 * still write to what the CPU has copied by then, and never ends the one that was first.
 *
 * idxd drops what a queue still has when it is disabled or its device is reset, and calls
 * nobody back. Nothing says then that it will not be written: dcbm waits for some time, and
 * keeps that memory from all others for good. Worse, it frees the channel, whoever has it,
 * and whoever prepares a transfer waits until a queue has a descriptor, which one that halted
 * never has. So it is taken only where the kernel's configuration says so.
 *
 * Channels of those that are ordered are rings. When one transfer interrupts, or when
 * somebody asks for the state of one, the driver goes through all that have ended and calls
 * back for each. idxd looks at those alone that interrupt.
 */
static const struct {
	const char *name;
	bool ordered;
} drivers[] = {
#ifdef CONFIG_MIGRATE_OFFLOAD_DCBM_IDXD
	{ "idxd", false },
#endif
	{ "plx_dma", true },
	{ "memsim-dma", true },
};

/*
 * What a device takes in one piece, in whole pages. It may become less, as where memory is added
 * that it does not reach but by a bounce buffer: a piece that is too large then is not mapped.
 */
static size_t piece_max_of(struct device *dev)
{
	size_t most = min(dma_get_max_seg_size(dev), dma_max_mapping_size(dev));

	return max(round_down(min(most, SZ_1G), PAGE_SIZE), PAGE_SIZE);
}

/* Take a share in a channel that has fewer jobs; those near a node alone, or any. */
static bool channel_take(unsigned int nth, int node, int fewer)
{
	struct dcbm_channel *c = &dcbm_channels[nth];
	int jobs = atomic_read(&c->jobs);

	if (node != NUMA_NO_NODE && dev_to_node(dcbm_device(nth)) != node)
		return false;
	while (jobs < fewer)
		if (atomic_try_cmpxchg(&c->jobs, &jobs, jobs + 1))
			return true;
	return false;
}

/**
 * dcbm_take - have a job take channels
 * @taken: set to their numbers
 * @most: how many it may have
 * @to: where the job's folios go
 * @from: where they are
 *
 * Idle ones first, and of these those near the target, then those near the source: memory
 * that has no CPUs mostly has no device either. One that is given back has one job less.
 *
 * Return: how many it gets.
 */
unsigned int dcbm_take(unsigned int *taken, unsigned int most, int to, int from)
{
	const int nodes[] = { to, from, NUMA_NO_NODE };
	unsigned int nr = 0, n, i;
	unsigned long have = 0;

	for (i = 0; i < CHANNEL_JOBS * ARRAY_SIZE(nodes); i++)
		for (n = 0; n < dcbm_nr_channels && nr < most; n++) {
			if (test_bit(n, &have) ||
			    !channel_take(n, nodes[i % ARRAY_SIZE(nodes)],
					  i / ARRAY_SIZE(nodes) + 1))
				continue;
			__set_bit(n, &have);
			taken[nr++] = n;
		}
	return nr;
}

/**
 * dcbm_release - give all channels back
 */
void dcbm_release(void)
{
	while (dcbm_nr_channels)
		dma_release_channel(dcbm_channels[--dcbm_nr_channels].chan);
}

/**
 * struct dcbm_search - for channels
 * @had: nodes of which there was one in this round
 * @refused: a driver that was met and is none of ours
 */
struct dcbm_search {
	nodemask_t had;
	char refused[32];
};

/* The place of a channel's driver among the drivers, or a negative number. */
static int search_driver(const struct dma_chan *chan)
{
	const char *name = dev_driver_string(chan->device->dev);
	int n = ARRAY_SIZE(drivers);

	while (n-- && strcmp(drivers[n].name, name))
		;
	return n;
}

static int search_node(const struct dma_chan *chan)
{
	int node = dev_to_node(chan->device->dev);

	return node == NUMA_NO_NODE ? first_online_node : node;
}

/* Does a channel's driver say what failed, and is it its node's turn? */
static bool search_takes(struct dma_chan *chan, void *data)
{
	struct dcbm_search *search = data;

	if (search_driver(chan) < 0) {
		strscpy(search->refused, dev_driver_string(chan->device->dev));
		return false;
	}
	return !node_isset(search_node(chan), search->had);
}

/**
 * dcbm_request - have channels
 * @wanted: how many, up to DCBM_CHANNELS_MAX
 *
 * They are of all nodes in turn, for each target is to have some near.
 *
 * Return: 0 if there is any, or -ENODEV.
 */
int dcbm_request(unsigned int wanted)
{
	struct dcbm_search search = { };
	dma_cap_mask_t mask;

	dcbm_piece_least = SIZE_MAX;
	dma_cap_zero(mask);
	dma_cap_set(DMA_MEMCPY, mask);
	while (dcbm_nr_channels < wanted) {
		struct dma_chan *chan = dma_request_channel(mask, search_takes, &search);
		struct dcbm_channel *c = &dcbm_channels[dcbm_nr_channels];

		if (!chan && nodes_empty(search.had))
			break;
		if (!chan) {
			nodes_clear(search.had);
			continue;
		}
		node_set(search_node(chan), search.had);
		c->chan = chan;
		c->ordered = drivers[search_driver(chan)].ordered;
		atomic_set(&c->jobs, 0);
		c->piece_max = piece_max_of(chan->device->dev);
		dcbm_piece_least = min(dcbm_piece_least, c->piece_max);
		dcbm_nr_channels++;
	}
	if (dcbm_nr_channels)
		return 0;
	if (*search.refused)
		pr_notice("no channel of %s is taken: it is not known to say what failed\n",
			  search.refused);
	return -ENODEV;
}
