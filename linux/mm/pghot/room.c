// SPDX-License-Identifier: GPL-2.0
/*
 * Room in a target: whether there is some, having it made, and telling those who wait.
 *
 * Where DRAM is full, what is promoted takes the place of what kswapd demotes, and kswapd
 * keeps little free for that: a thousandth of a node. So who waits for room is told as soon
 * as some has been made, by those who demote, and takes it while they make more. Who came
 * by from time to time instead would have them both wait for each other.
 */
#include <linux/atomic.h>
#include <linux/compaction.h>
#include <linux/migrate.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>

#include "../internal.h"
#include "internal.h"

/*
 * It is worth waking up for that much, or for a larger folio that waits. Half of what
 * kswapd makes at a time is, if that is less: it stops when there is all of it.
 */
#define ROOM_PAGES	64UL

/* Of so many pages that leave one looks whether there is room. */
#define ROOM_LOOK	16UL

/**
 * pghot_has_room - can a node take pages without reclaiming
 * @nid: the node
 * @nr_pages: how many
 *
 * Return: true if it can.
 */
bool pghot_has_room(int nid, unsigned long nr_pages)
{
	return migrate_balanced_pgdat(NODE_DATA(nid), nr_pages);
}

/*
 * Is so much free in a zone in pieces of that size? Without what is kept for CMA: pieces
 * of that are not made for others.
 */
static bool room_in_pieces(int nid, unsigned long nr_pages, unsigned int order)
{
	pg_data_t *pgdat = NODE_DATA(nid);
	int z;

	for (z = 0; z < pgdat->nr_zones; z++) {
		struct zone *zone = pgdat->node_zones + z;

		if (managed_zone(zone) &&
		    zone_watermark_ok(zone, order, high_wmark_pages(zone) + nr_pages,
				      ZONE_MOVABLE, 0))
			return true;
	}
	return false;
}

/**
 * pghot_has_block - can a node take a folio in one piece without compaction
 * @nid: the node
 * @order: order of the folio
 *
 * That is asked beside pghot_has_room(), which a node with free memory in small
 * pieces has too.
 *
 * Return: true if it can.
 */
bool pghot_has_block(int nid, unsigned int order)
{
	return !order || room_in_pieces(nid, 0, order);
}

/* For compaction to make a folio of, which then has its place: kswapd need not make more. */
static bool room_to_compact(int nid, unsigned int order)
{
	return IS_ENABLED(CONFIG_COMPACTION) && order &&
	       room_in_pieces(nid, (1UL << order) + compact_gap(order), 0);
}

/**
 * pghot_make_room - have cold pages of a node demoted, or what is free compacted
 * @nid: the node
 * @order: order of the folio that found no room
 *
 * Where enough is free in small pieces nothing has to go. For one large folio kswapd
 * would demote as much as all high watermarks together, each time that it is asked.
 */
void pghot_make_room(int nid, unsigned int order)
{
	pg_data_t *pgdat = NODE_DATA(nid);
	int z;

	if (room_to_compact(nid, order)) {
		wakeup_kcompactd(pgdat, order, ZONE_MOVABLE);
		return;
	}
	for (z = pgdat->nr_zones - 1; z >= 0; z--) {
		if (managed_zone(pgdat->node_zones + z)) {
			wakeup_kswapd(pgdat->node_zones + z, 0, order,
				      ZONE_MOVABLE);
			return;
		}
	}
}

/**
 * pghot_room_pages - free pages of a node that migration may use without waking reclaim
 * @nid: the node
 *
 * Return: how many.
 */
unsigned long pghot_room_pages(int nid)
{
	pg_data_t *pgdat = NODE_DATA(nid);
	unsigned long sum = 0;
	int z;

	for (z = 0; z < pgdat->nr_zones; z++) {
		struct zone *zone = pgdat->node_zones + z;
		unsigned long free, keep;

		if (!managed_zone(zone))
			continue;
		free = zone_page_state(zone, NR_FREE_PAGES);
		keep = high_wmark_pages(zone) +
		       READ_ONCE(zone->nr_free_highatomic) +
		       zone->lowmem_reserve[ZONE_MOVABLE];
		if (free > keep)
			sum += free - keep;
	}
	return sum;
}

/* Is so much free that it is worth waking up those who wait? */
static bool room_is_worth(const struct pghot_target *target)
{
	unsigned long made = 0, most = READ_ONCE(target->room_most);
	pg_data_t *pgdat = NODE_DATA(target->nid);
	int z;

	for (z = 0; z < pgdat->nr_zones; z++) {
		struct zone *zone = pgdat->node_zones + z;

		if (managed_zone(zone))
			made += promo_wmark_pages(zone) - high_wmark_pages(zone);
	}
	return pghot_room_pages(target->nid) >= min(made / 2 + 1, max(most, ROOM_PAGES)) &&
	       pghot_has_room(target->nid, 1);
}

/**
 * pghot_room_await - have a node's thread woken when a target has room
 * @target: the target; NULL for none
 * @src: the node; NUMA_NO_NODE for one who only asks pghot_room_made()
 * @nr_pages: size of the folio that found none
 *
 * Room that was made just before is not told. So nobody is to wait for this alone.
 *
 * Return: for pghot_room_made().
 */
unsigned long pghot_room_await(struct pghot_target *target, int src,
			       unsigned long nr_pages)
{
	unsigned long since;

	if (!target)
		return 0;
	since = atomic_long_read(&target->room_made);
	if (src < 0)
		return since;
	node_set(src, target->room_for);
	if (nr_pages > READ_ONCE(target->room_most))
		WRITE_ONCE(target->room_most, nr_pages);
	/* Pairs with the barrier in pghot_room_left(): it looks for the node, or this stays. */
	smp_mb();
	WRITE_ONCE(target->room_awaited, true);
	return since;
}

/**
 * pghot_room_made - has room been made for those who waited
 * @target: the target; NULL for none
 * @since: what pghot_room_await() returned
 *
 * Return: true if it has.
 */
bool pghot_room_made(const struct pghot_target *target, unsigned long since)
{
	return target && (unsigned long)atomic_long_read(&target->room_made) != since;
}

/**
 * pghot_room_left - pages have left a target
 * @target: the target
 * @nr_pages: how many; they are freed in a moment
 *
 * Context: any but NMI, with spinlocks held and interrupts off as well.
 */
void pghot_room_left(struct pghot_target *target, unsigned long nr_pages)
{
	int src;

	if (!READ_ONCE(target->room_awaited))
		return;
	/* Several may be at it; what one does not count the next one does. */
	nr_pages += READ_ONCE(target->room_left);
	WRITE_ONCE(target->room_left, nr_pages < ROOM_LOOK ? nr_pages : 0);
	if (nr_pages < ROOM_LOOK || !room_is_worth(target))
		return;
	WRITE_ONCE(target->room_awaited, false);
	WRITE_ONCE(target->room_most, 0);
	atomic_long_inc(&target->room_made);
	/*
	 * Pairs with the barriers in pghot_wake_seen(): who is woken, or sees the kick,
	 * finds it made. And with that in pghot_room_await().
	 */
	smp_mb__after_atomic();
	for_each_node_mask(src, target->room_for) {
		node_clear(src, target->room_for);
		pghot_wake_for_room(src);
	}
}
