// SPDX-License-Identifier: GPL-2.0
/*
 * What reclaim takes from a target and does not demote, for what is promoted to it: where
 * demotion is off, or lower tiers are full, pages of files are dropped and others go to
 * swap. That is no exchange between tiers, and nothing of it can be watched: see watch.c.
 *
 * Most of what is dropped is not missed, and promotion may have its place. But to bring
 * one page back from a disk takes as long as a thousand accesses to slow memory and more.
 * So it is no gain where some of it comes back, whatever is promoted.
 */
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/mmzone.h>
#include <linux/vmstat.h>

#include "evicted.h"

/* One in so many that comes back is too many. */
#define EVICTED_BACK	16U
/* Who takes less than such a part of what comes, or so many times as much, does it for others. */
#define EVICTED_PART	4U

/* Of a node, or of all of them. */
static unsigned long evicted_count(pg_data_t *pgdat, enum node_stat_item item)
{
	return pgdat ? node_page_state_monotonic(pgdat, item) :
		       global_node_page_state_monotonic(item);
}

static unsigned long evicted_taken(pg_data_t *pgdat)
{
	return evicted_count(pgdat, PGSTEAL_ANON) + evicted_count(pgdat, PGSTEAL_FILE);
}

static unsigned long evicted_demoted(pg_data_t *pgdat)
{
	return evicted_count(pgdat, PGDEMOTE_KSWAPD) + evicted_count(pgdat, PGDEMOTE_DIRECT) +
	       evicted_count(pgdat, PGDEMOTE_KHUGEPAGED) +
	       evicted_count(pgdat, PGDEMOTE_PROACTIVE);
}

/**
 * pghot_evicted_begin - count from now on
 * @e: what is counted
 * @nid: the target
 *
 * The multi-gen LRU counts what comes back to where it was evicted from, and nothing else.
 * Without it that counts where it comes to: then it is compared with what all nodes evict.
 *
 * Context: any.
 */
void pghot_evicted_begin(struct pghot_evicted *e, int nid)
{
	pg_data_t *target = NODE_DATA(nid), *known = lru_gen_enabled() ? target : NULL;

	*e = (struct pghot_evicted) {
		.by_gen = known,
		.taken = evicted_taken(target),
		.demoted = evicted_demoted(target),
		.kswapd = evicted_count(target, PGSTEAL_KSWAPD) -
			  evicted_count(target, PGDEMOTE_KSWAPD),
		.all = evicted_taken(known) - evicted_demoted(known),
		.back = evicted_count(known, WORKINGSET_REFAULT_ANON) +
			evicted_count(known, WORKINGSET_REFAULT_FILE),
	};
}

/**
 * pghot_evicted_wanted - is what is evicted for what is promoted wanted again
 * @e: counts of when that began
 * @nid: the target
 * @promoted: pages promoted to it since then
 * @least: fewer say nothing, of either; at least 1
 *
 * Not where reclaim takes far less than comes, or far more, or demotes most of it, or where
 * kswapd has no part in it, as the node has room.
 *
 * Context: any.
 *
 * Return: true if so.
 */
bool pghot_evicted_wanted(const struct pghot_evicted *e, int nid, unsigned long promoted,
			  unsigned int least)
{
	unsigned long taken, demoted, evicted;
	struct pghot_evicted now;

	pghot_evicted_begin(&now, nid);
	taken = now.taken - e->taken;
	demoted = now.demoted - e->demoted;
	/* Reclaim counts what it demoted first, and counts wait in lists of CPUs. */
	if (now.by_gen != e->by_gen || taken <= 2 * demoted)
		return false;
	/* A memory cgroup at its limit evicts where there is room, too. */
	if ((long)(now.kswapd - e->kswapd) < (long)least)
		return false;
	evicted = taken - demoted;
	return promoted >= least && evicted >= least && evicted >= promoted / EVICTED_PART &&
	       evicted / EVICTED_PART <= promoted &&
	       (now.back - e->back) * EVICTED_BACK >= now.all - e->all;
}
