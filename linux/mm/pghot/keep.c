// SPDX-License-Identifier: GPL-2.0
/*
 * Room that a full target keeps for a large folio.
 *
 * What takes the place of what kswapd demotes comes as soon as there is room for it: small
 * pages take each page that is made, and a large folio behind them would never find as many
 * as it has. So once smaller ones have had as many pages as it has, they leave it that many,
 * and have what is free beyond. Where both wait for ever each gets half.
 *
 * What is free may stay in pieces, or be made too slowly. So nothing is kept for long, and
 * after each time in vain smaller ones have twice as much first. Where folios of several
 * sizes wait, the sizes take turns.
 */
#include <linux/bitops.h>
#include <linux/mm.h>

#include "internal.h"

/* In ms: so long is kept what smaller ones leave. kswapd makes a huge page at 4 MiB/s in that. */
#define KEEP_TAKES	(2U * PGHOT_BURST_MS)
/* By which power of two smaller ones have more at most. */
#define KEEP_VAIN_MAX	6U

/* The next larger one of those that wait, or the smallest; 0: none does. */
static unsigned int keep_next(const struct pghot_keep *k)
{
	unsigned int next = find_next_bit(&k->asked, PGHOT_KEEP_ORDERS, k->order + 1);

	if (next == PGHOT_KEEP_ORDERS)
		next = find_next_bit(&k->asked, PGHOT_KEEP_ORDERS, 0);
	return next < PGHOT_KEEP_ORDERS ? next : 0;
}

static void keep_off(struct pghot_keep *k, unsigned int order)
{
	WRITE_ONCE(k->order, order);
	k->on = false;
	k->others = 0;
}

static void keep_begin(struct pghot_keep *k)
{
	k->on = true;
	/* Who waits on asks once more. */
	WRITE_ONCE(k->asked, k->asked & ~BIT(k->order));
	k->since_ms = pghot_now_ms();
}

/* It did not come in time. Who has not asked since has gone, or is no longer hot. */
static void keep_end(struct pghot_keep *k)
{
	k->vain[k->order] = min(k->vain[k->order] + 1U, KEEP_VAIN_MAX);
	keep_off(k, keep_next(k));
}

/* One came. There may be more of them, though none has asked yet. */
static void keep_came(struct pghot_keep *k, unsigned int order)
{
	k->vain[k->order] = 0;
	k->vain[min(order, PGHOT_KEEP_ORDERS - 1U)] = 0;
	WRITE_ONCE(k->asked, k->asked & ~BIT(order));
	keep_off(k, keep_next(k) ?: k->order);
}

/**
 * pghot_keep_ask - a large folio found no room
 * @nid: the target that it waits for
 * @order: its order
 *
 * To be asked again as long as it waits.
 */
void pghot_keep_ask(int nid, unsigned int order)
{
	struct pghot_target *target = pghot_target(nid);
	struct pghot_keep *k;

	if (!target || order >= PGHOT_KEEP_ORDERS)
		return;
	k = &target->keep;
	/* Many may ask, for the same. */
	if (READ_ONCE(k->asked) & BIT(order))
		return;
	spin_lock(&target->lock);
	if (!k->order)
		keep_off(k, order);
	WRITE_ONCE(k->asked, k->asked | BIT(order));
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
	if (k->order && order >= k->order) {
		keep_came(k, order);
	} else if (k->order && !k->on) {
		k->others += 1UL << order;
		if (k->others >= 1UL << k->order << k->vain[k->order])
			keep_begin(k);
	}
	spin_unlock(&target->lock);
}
