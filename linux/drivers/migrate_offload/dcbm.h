/* SPDX-License-Identifier: GPL-2.0 */
/* The copy engine of DMA channels: which it has, and jobs on their way. */
#ifndef _MIGRATE_OFFLOAD_DCBM_H
#define _MIGRATE_OFFLOAD_DCBM_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/dmaengine.h>
#include <linux/migrate_copy.h>
#include <linux/mm.h>
#include <linux/pfn.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#define DCBM_CHANNELS_MAX	16U

/**
 * struct dcbm_channel - a channel that is ours
 * @chan: the channel
 * @jobs: that it has parts of
 * @piece_max: bytes that it takes in one piece, in whole pages, when it was requested
 * @ordered: its driver calls back for all that ended before what interrupts, and when it
 *	     is asked
 */
struct dcbm_channel {
	struct dma_chan *chan;
	atomic_t jobs;
	size_t piece_max;
	bool ordered;
};

struct dcbm_job;

/**
 * struct dcbm_copy - a piece of a job on its way: contiguous at both ends
 * @own: of which job
 * @from: where the device finds it
 * @to: and where it goes
 * @bytes: how many
 * @cookie: what the channel calls it
 * @first: folio that it begins in
 * @last: folio that it ends in
 * @channel: whose it is
 * @ok: it is there
 */
struct dcbm_copy {
	struct dcbm_job *own;
	dma_addr_t from, to;
	u32 bytes;
	dma_cookie_t cookie;
	u16 first, last;
	u8 channel;
	bool ok;
};

/* Who sees to a job. */
enum {
	DCBM_AWAITED,	/* whoever waits for it, */
	DCBM_ENDED,	/* and need not any more */
	DCBM_LEFT,	/* nobody waits any more: what is left of it is for a work item */
};

/**
 * struct dcbm_job - a job, in pieces
 * @job: the job; gone if it was left
 * @state: who sees to it
 * @began: when it was given, in jiffies
 * @kept: folios that the channels may read and write, if it was left
 * @nr_kept: how many of both sides these are
 * @ask: asks channels that do not call back by themselves for what was left
 * @late: puts away what was left
 * @left: pieces that channels have, and one for whoever gives them
 * @done: they have none any more
 * @channel: those that have pieces, by bit
 * @silent: those of them whose last piece does not interrupt, by bit
 * @bad: folios of which a piece was not even given, by bit
 * @nr: pieces that were given
 * @copy: these
 */
struct dcbm_job {
	struct migrate_copy_job *job;
	atomic_t state;
	unsigned long began;
	struct migrate_copy_pair *kept;
	unsigned int nr_kept;
	struct delayed_work ask;
	struct work_struct late;
	atomic_t left;
	struct completion done;
	unsigned long channel, silent;
	DECLARE_BITMAP(bad, MIGRATE_COPY_FOLIOS_MAX);
	unsigned int nr;
	struct dcbm_copy copy[];
};

extern struct dcbm_channel dcbm_channels[DCBM_CHANNELS_MAX];
extern unsigned int dcbm_nr_channels;
extern size_t dcbm_piece_least;

static inline struct device *dcbm_device(unsigned int channel)
{
	return dcbm_channels[channel].chan->device->dev;
}

static inline phys_addr_t dcbm_phys_of(struct folio *folio)
{
	return PFN_PHYS(folio_pfn(folio));
}

/* dcbm.c */
void dcbm_copy_ended(void *data, const struct dmaengine_result *result);

/* dcbm_give.c */
void dcbm_give(struct dcbm_job *own, unsigned int channel, size_t at, size_t end);
void dcbm_unmap(const struct dcbm_copy *copy);

/* dcbm_channels.c */
unsigned int dcbm_take(unsigned int *taken, unsigned int most, int to, int from);
void dcbm_release(void);
int dcbm_request(unsigned int wanted);

#endif
