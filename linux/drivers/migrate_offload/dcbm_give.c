// SPDX-License-Identifier: GPL-2.0
/* Jobs in pieces, as channels take them. */
#include <linux/bitmap.h>
#include <linux/dma-mapping.h>
#include <linux/dmaengine.h>
#include <linux/migrate_copy.h>
#include <linux/mm.h>

#include "dcbm.h"

/**
 * dcbm_unmap - a channel is done with a piece
 * @copy: the piece
 */
void dcbm_unmap(const struct dcbm_copy *copy)
{
	struct device *dev = dcbm_device(copy->channel);

	dma_unmap_phys(dev, copy->from, copy->bytes, DMA_TO_DEVICE, 0);
	dma_unmap_phys(dev, copy->to, copy->bytes, DMA_FROM_DEVICE, 0);
}

static bool give_map(struct dcbm_copy *copy, phys_addr_t from, phys_addr_t to)
{
	struct device *dev = dcbm_device(copy->channel);

	copy->from = dma_map_phys(dev, from, copy->bytes, DMA_TO_DEVICE, 0);
	if (dma_mapping_error(dev, copy->from))
		return false;
	copy->to = dma_map_phys(dev, to, copy->bytes, DMA_FROM_DEVICE, 0);
	if (!dma_mapping_error(dev, copy->to))
		return true;
	dma_unmap_phys(dev, copy->from, copy->bytes, DMA_TO_DEVICE, 0);
	return false;
}

/* Give a channel a piece, the last one of its share or not; false: it does not take it. */
static bool give_piece(struct dcbm_copy *copy, phys_addr_t from, phys_addr_t to, bool last)
{
	bool silent = dcbm_channels[copy->channel].ordered && !last;
	struct dma_chan *chan = dcbm_channels[copy->channel].chan;
	struct dcbm_job *own = copy->own;
	struct dma_async_tx_descriptor *tx;

	if (!give_map(copy, from, to))
		return false;
	tx = dmaengine_prep_dma_memcpy(chan, copy->to, copy->from, copy->bytes,
				       silent ? 0 : DMA_PREP_INTERRUPT);
	if (!tx)
		goto out_unmap;
	tx->callback_result = dcbm_copy_ended;
	tx->callback_param = copy;
	atomic_inc(&own->left);
	copy->cookie = dmaengine_submit(tx);
	/*
	 * idxd calls back for one that a shared queue has no room for, now or later, and
	 * returns this. It is the only driver of ours that does: given, and soon aborted.
	 */
	if (dma_submit_error(copy->cookie) && copy->cookie != -EAGAIN) {
		atomic_dec(&own->left);
		goto out_unmap;
	}
	__set_bit(copy->channel, &own->channel);
	__assign_bit(copy->channel, &own->silent, silent);
	return true;

out_unmap:
	dcbm_unmap(copy);
	return false;
}

/* A folio and the one behind it are neighbours at both ends. */
static bool give_goes_on(const struct migrate_copy_job *job, unsigned int nth, size_t bytes)
{
	const struct migrate_copy_pair *this = &job->pair[nth];
	const struct migrate_copy_pair *next = &job->pair[nth + 1];

	return dcbm_phys_of(next->src) == dcbm_phys_of(this->src) + bytes &&
	       dcbm_phys_of(next->dst) == dcbm_phys_of(this->dst) + bytes;
}

/**
 * dcbm_give - give a channel a share of a job, in as few pieces as can be
 * @own: the job
 * @channel: the channel
 * @at: from which byte of the job on
 * @end: up to which
 *
 * What it does not take is bad.
 */
void dcbm_give(struct dcbm_job *own, unsigned int channel, size_t at, size_t end)
{
	const struct migrate_copy_job *job = own->job;
	size_t bytes = PAGE_SIZE << job->order, most = dcbm_channels[channel].piece_max;

	while (at < end) {
		struct dcbm_copy *copy = &own->copy[own->nr];
		unsigned int first = at / bytes, last = first;
		size_t within = at - first * bytes, stop = min(at + most, end);

		while ((last + 1) * bytes < stop) {
			if (!give_goes_on(job, last, bytes))
				stop = (last + 1) * bytes;
			else
				last++;
		}
		*copy = (struct dcbm_copy) {
			.own = own, .bytes = stop - at, .first = first,
			.last = last, .channel = channel,
		};
		if (give_piece(copy, dcbm_phys_of(job->pair[first].src) + within,
			       dcbm_phys_of(job->pair[first].dst) + within, stop == end))
			own->nr++;
		else
			bitmap_set(own->bad, first, last - first + 1);
		at = stop;
	}
}
