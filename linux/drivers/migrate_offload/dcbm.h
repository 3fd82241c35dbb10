/* SPDX-License-Identifier: GPL-2.0 */
/* The copy engine of DMA channels: which channels it has. */
#ifndef _MIGRATE_OFFLOAD_DCBM_H
#define _MIGRATE_OFFLOAD_DCBM_H

#include <linux/atomic.h>
#include <linux/dmaengine.h>
#include <linux/types.h>

#define DCBM_CHANNELS_MAX	16U

/**
 * struct dcbm_channel - a channel that is ours
 * @chan: the channel
 * @jobs: that it has parts of
 * @ordered: its driver calls back for all that ended before what interrupts, and when it
 *	     is asked
 */
struct dcbm_channel {
	struct dma_chan *chan;
	atomic_t jobs;
	bool ordered;
};

extern struct dcbm_channel dcbm_channels[DCBM_CHANNELS_MAX];
extern unsigned int dcbm_nr_channels;
extern size_t dcbm_piece_least;

static inline struct device *dcbm_device(unsigned int channel)
{
	return dcbm_channels[channel].chan->device->dev;
}

size_t dcbm_piece_max(unsigned int channel);
unsigned int dcbm_take(unsigned int *taken, unsigned int most, int node);
void dcbm_release(void);
int dcbm_request(unsigned int wanted);

#endif
