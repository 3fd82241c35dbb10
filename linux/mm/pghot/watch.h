/* SPDX-License-Identifier: GPL-2.0 */
/* Pages that are watched after they have moved from one tier to another. */
#ifndef _MM_PGHOT_WATCH_H
#define _MM_PGHOT_WATCH_H

#include <linux/bitmap.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "gain.h"

/* So many pages of one kind are watched at a time. */
#define PGHOT_WATCH_PAGES	256U
/* By so many bits of a hash it is known which are certainly not. */
#define PGHOT_WATCH_HASH_BITS	10U

/* Who may say of a folio that it is accessed. */
#define PGHOT_WATCH_MAPPED	BIT(0)	/* who has it mapped */
#define PGHOT_WATCH_CACHE	BIT(1)	/* who reads the file that nobody has mapped */

/**
 * struct pghot_sample - a page that is watched
 * @pfn: the page
 * @nr_pages: size of its folio
 * @mapping: what its folio belonged to, to find out whether it still is that one
 * @since_ms: when its accessed bits were cleared
 * @next_ms: when they are to be looked at
 * @again_ms: after how long they are tried again that could not be cleared
 * @moved_ms: for how long the page counts as watched, as it has gone back, or 0
 * @cleared: they were
 * @cached: it is of a file, and nobody had it mapped then
 */
struct pghot_sample {
	unsigned long pfn;
	unsigned long nr_pages;
	const void *mapping;
	u32 since_ms;
	u32 next_ms;
	u32 again_ms;
	u32 moved_ms;
	bool cleared;
	bool cached;
};

/**
 * struct pghot_watch - pages of one kind
 * @by: by whom it is known whether they are accessed; others are not watched
 * @nr: how many are watched; those who add and the work item write it under the lock
 * @tick_ms: when the last one was added
 * @in_tick: how many were added then
 * @added: how many were added in this round
 * @lost: of how many of these nothing could be known
 * @use: what is known of those that were watched
 * @may_be: of whose PFNs
 * @sample: they
 */
struct pghot_watch {
	unsigned int by;
	unsigned int nr;
	u32 tick_ms;
	unsigned int in_tick;
	unsigned int added;
	unsigned int lost;
	struct pghot_use use;
	DECLARE_BITMAP(may_be, 1U << PGHOT_WATCH_HASH_BITS);
	struct pghot_sample sample[PGHOT_WATCH_PAGES];
};

/* Could nothing be known of most pages of this round? */
static inline bool pghot_watch_is_mute(const struct pghot_watch *w)
{
	return 2 * READ_ONCE(w->lost) > READ_ONCE(w->added);
}

bool pghot_watch_add(struct pghot_watch *w, const struct folio *folio);
void pghot_watch_left(struct pghot_watch *w, const struct folio *dst,
		      const struct folio *src, u32 ms);
u32 pghot_watch_look(struct pghot_watch *w, spinlock_t *lock, u32 length);
struct pghot_use pghot_watch_least(const struct pghot_watch *w, u32 length);
void pghot_watch_end(struct pghot_watch *w);

#endif /* _MM_PGHOT_WATCH_H */
