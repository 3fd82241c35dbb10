/* SPDX-License-Identifier: GPL-2.0 */
/* What is kept of pages that a target exchanges with a lower tier; for exchange.c alone. */
#ifndef _MM_PGHOT_EXCHANGE_H
#define _MM_PGHOT_EXCHANGE_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "evicted.h"
#include "internal.h"
#include "watch.h"

/**
 * struct pghot_exchange - pages that a target got, and gave away
 * @target: the target
 * @cache: it is for page cache that came
 * @held: by which power of two less of that is to come
 * @lock: protects the lists of pages, when this round began and what was counted then
 * @came: those that it got
 * @went: those that it gave away
 * @began_ms: when this round began
 * @promoted: pages promoted by then
 * @came_pages: pages that came since some are watched, whoever brought them
 * @brought: pages that we had brought by then
 * @evicted: pages evicted by then
 * @rest_ms: for how long none is watched
 * @steady_ms: since when it comes as fast as it does
 * @quiet_ms: after how long with nothing to go it comes faster
 * @choice_ms: since when it is as choosy as it is
 * @chosen: pages promoted by then
 * @due: when it is looked at them again, in jiffies
 * @work: looks at them
 */
struct pghot_exchange {
	struct pghot_target *target;
	bool cache;
	u32 held;
	spinlock_t lock;	/* innermost; who moves folios only tries it */
	struct pghot_watch came;
	struct pghot_watch went;
	u32 began_ms;
	unsigned long promoted;
	unsigned long came_pages;
	unsigned long brought;
	struct pghot_evicted evicted;
	u32 rest_ms;
	u32 steady_ms;
	u32 quiet_ms;
	u32 choice_ms;
	unsigned long chosen;
	unsigned long due;
	struct delayed_work work;
};

/*
 * Page cache is worth it that is read once or twice in a window, and a file that is read
 * in turn takes long to come round.
 */
static inline u32 exchange_watch_ms(const struct pghot_exchange *x)
{
	return READ_ONCE(pghot_tunables.window_ms) / (x->cache ? 1 : 4);
}

#endif /* _MM_PGHOT_EXCHANGE_H */
