// SPDX-License-Identifier: GPL-2.0
/*
 * Room that a full target keeps for a large folio.
 *
 * What takes the place of what kswapd demotes comes as soon as there is room for it: small
 * pages take each page that is made, and a large folio behind them would never find as many
 * as it has. So once small ones have had as many pages as it has, they leave it that many,
 * and have what is free beyond. Where both wait for ever each gets half.
 *
 * What is free may stay in pieces, or be made too slowly. So nothing is kept for long, and
 * after each time in vain small ones have twice as much first.
 */
#include <linux/mm.h>

#include "internal.h"

/* In ms: so long is kept what small ones leave. kswapd makes a huge page at 5 MiB/s in that. */
#define KEEP_TAKES	(4U * PGHOT_BURST_MS)
/* By which power of two small ones have more at most. */
#define KEEP_VAIN_MAX	6U

static void keep_begin(struct pghot_keep *k, u32 now)
{
	k->on = true;
	k->asked = false;
	k->since_ms = now;
}

/* It did not come in time. Who has not asked since has gone, or is no longer hot. */
static void keep_end(struct pghot_keep *k)
{
	if (!k->asked)
		k->order = 0;
	k->vain = min(k->vain + 1, KEEP_VAIN_MAX);
	k->on = false;
	k->others = 0;
}

/**
 * pghot_keep_ask - a large folio found no room
 * @nid: the target that it waits for
 * @order: its order
 *
 * To be asked again as long as it waits. Of several it is the one that asked first.
 */
void pghot_keep_ask(int nid, unsigned int order)
{
	struct pghot_target *target = pghot_target(nid);
	struct pghot_keep *k;

	if (!target)
		return;
	k = &target->keep;
	spin_lock(&target->lock);
	if (!k->order)
		*k = (struct pghot_keep) { .order = order };
	k->asked = true;
	spin_unlock(&target->lock);
}

/**
 * pghot_keep_pages - how much room is kept from a folio
 * @nid: the target
 * @order: the folio's order
 *
 * Return: so many pages are to stay free.
 */
unsigned long pghot_keep_pages(int nid, unsigned int order)
{
	struct pghot_target *target = pghot_target(nid);
	unsigned long pages = 0;
	struct pghot_keep *k;

	/* Of most targets nobody asks for any. */
	if (!target || order >= READ_ONCE(target->keep.order))
		return 0;
	k = &target->keep;
	spin_lock(&target->lock);
	if (k->on && pghot_now_ms() - k->since_ms >= KEEP_TAKES)
		keep_end(k);
	if (k->on && order < k->order)
		pages = 1UL << k->order;
	spin_unlock(&target->lock);
	return pages;
}

/**
 * pghot_keep_took - a target takes a folio
 * @nid: the target
 * @order: the folio's order
 */
void pghot_keep_took(int nid, unsigned int order)
{
	struct pghot_target *target = pghot_target(nid);
	struct pghot_keep *k;

	if (!target || !READ_ONCE(target->keep.order))
		return;
	k = &target->keep;
	spin_lock(&target->lock);
	if (order >= k->order) {
		/* There may be more of them. */
		k->on = false;
		k->vain = 0;
		k->others = 0;
	} else if (!k->on) {
		k->others += 1UL << order;
		if (k->others >= 1UL << k->order << k->vain)
			keep_begin(k, pghot_now_ms());
	}
	spin_unlock(&target->lock);
}
