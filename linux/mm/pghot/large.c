// SPDX-License-Identifier: GPL-2.0
/*
 * Large folios that wait for memory in one piece.
 *
 * One that was refused stands for all that are as large, for some time. Blocks with such
 * are held under a bit that says nothing of their size, nor of the target: they are looked
 * at as long as a target may take the smallest of them.
 */
#include <linux/log2.h>
#include <linux/mm.h>

#include "hotmap.h"
#include "promoter.h"

/**
 * pghot_promoter_met_large - a large folio was met that waits for room
 * @p: the promoter
 * @nid: the target
 * @order: its order
 */
void pghot_promoter_met_large(struct pghot_promoter *p, int nid, unsigned int order)
{
	struct pghot_dest *d = &p->dest[nid];

	d->large_least = min_not_zero(d->large_least, order);
	d->large_met = min_not_zero(d->large_met, order);
}

/**
 * pghot_promoter_forget_large - a node is no target any more
 * @p: the promoter
 * @nid: the node
 */
void pghot_promoter_forget_large(struct pghot_promoter *p, int nid)
{
	p->dest[nid].large_least = 0;
	p->dest[nid].large_met = 0;
}

/**
 * pghot_promoter_large_first - is room kept for large folios that wait
 * @p: the promoter
 *
 * Return: true if these are to be looked at first, and would be taken.
 */
bool pghot_promoter_large_first(struct pghot_promoter *p)
{
	unsigned int nid;

	for (nid = 0; nid < nr_node_ids && p->wanted & PGHOT_WAIT_LARGE; nid++) {
		const struct pghot_dest *d = &p->dest[nid];
		unsigned long kept;

		if (!d->large_least || d->closed != PGHOT_OPEN)
			continue;
		kept = pghot_keep_pages(nid, 0);
		if (kept && pghot_promoter_takes(p, nid, ilog2(kept)))
			return true;
	}
	return false;
}

/**
 * pghot_promoter_wants_large - would a target take one of those that wait
 * @p: the promoter
 *
 * The smallest says so: which of them is looked at is not told by its size.
 *
 * Return: true if it might, or if none is known to wait.
 */
bool pghot_promoter_wants_large(struct pghot_promoter *p)
{
	bool waits = false;
	unsigned int nid;

	for (nid = 0; nid < nr_node_ids; nid++) {
		const struct pghot_dest *d = &p->dest[nid];

		if (!d->large_least)
			continue;
		/* Where it is closed they may have somewhere else to go. */
		if (d->route.nid != NUMA_NO_NODE &&
		    pghot_promoter_takes(p, d->route.nid, d->large_least))
			return true;
		waits = true;
	}
	return !waits;
}

/**
 * pghot_promoter_close_to_large - a target has room, but not for large folios
 * @p: the promoter
 * @nid: the target
 * @order: order of the folio that found none
 *
 * Smaller ones may go on. One look at each that is as large is saved for some time.
 */
void pghot_promoter_close_to_large(struct pghot_promoter *p, int nid,
				   unsigned int order)
{
	struct pghot_dest *d = &p->dest[nid];

	if (pghot_promoter_takes(p, nid, order))
		d->large_order = order;
	d->large_closing = pghot_closing_begin(PGHOT_CLOSED_MS);
	d->large_since = pghot_room_await(pghot_target(nid), pghot_room_for(p),
					  1UL << order);
	if (!pghot_promoter_wants_large(p))
		p->wanted &= ~PGHOT_WAIT_LARGE;
	p->looked &= p->wanted;
}

/**
 * pghot_promoter_takes - does a target take folios of that order just now
 * @p: the promoter
 * @nid: the target, which is open
 * @order: their order
 *
 * Return: false if one that was no larger found no room.
 */
bool pghot_promoter_takes(struct pghot_promoter *p, int nid, unsigned int order)
{
	struct pghot_dest *d = &p->dest[nid];

	return !order || order < d->large_order ||
	       !pghot_closing_left_ms(&d->large_closing, pghot_now_ms()) ||
	       (pghot_room_made(pghot_target(nid), d->large_since) &&
		pghot_has_block(nid, order));
}
