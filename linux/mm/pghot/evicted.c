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
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/vmstat.h>

#include "evicted.h"

/* One in so many that comes back is too many. */
#define EVICTED_BACK	16U
/* Who takes less than such a part of what comes does it for others. */
#define EVICTED_PART	4U

/**
 * pghot_evicted_begin - count from now on
 * @e: what is counted
 * @nid: the target
 *
 * Nobody counts from where was evicted what comes back.
 *
 * Context: any.
 */
void pghot_evicted_begin(struct pghot_evicted *e, int nid)
{
	pg_data_t *pgdat = NODE_DATA(nid);
	int any;

	*e = (struct pghot_evicted) {
		.taken = node_page_state(pgdat, PGSTEAL_ANON) +
			 node_page_state(pgdat, PGSTEAL_FILE),
		.demoted = node_page_state(pgdat, PGDEMOTE_KSWAPD) +
			   node_page_state(pgdat, PGDEMOTE_DIRECT) +
			   node_page_state(pgdat, PGDEMOTE_KHUGEPAGED) +
			   node_page_state(pgdat, PGDEMOTE_PROACTIVE),
	};
	for_each_node_state(any, N_MEMORY)
		e->back += node_page_state(NODE_DATA(any), WORKINGSET_REFAULT_ANON) +
			   node_page_state(NODE_DATA(any), WORKINGSET_REFAULT_FILE);
}

/**
 * pghot_evicted_wanted - is what is evicted for what is promoted wanted again
 * @e: counts of when that began
 * @nid: the target
 * @promoted: pages promoted to it since then
 * @least: fewer that were evicted say nothing; at least 1
 *
 * Not where reclaim takes far less than comes, or demotes most of it.
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
	if (taken <= 2 * demoted)
		return false;
	evicted = taken - demoted;
	return evicted >= least && evicted >= promoted / EVICTED_PART &&
	       (now.back - e->back) * EVICTED_BACK >= evicted;
}
