// SPDX-License-Identifier: GPL-2.0
/*
 * Sites of hits: samples, or hint faults. Those of a process are next to each other, so
 * that who looks at them does so process by process.
 */
#include <linux/compiler.h>
#include <linux/numa.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "pt_site.h"
#include "vote.h"

/* Fewer hits say nothing of how many page tables there are. */
#define SITES_FEW	16U

static bool pt_site_before(const struct pghot_site *a, const struct pghot_site *b)
{
	return a->tgid != b->tgid ? a->tgid < b->tgid : a->table < b->table;
}

/* The place of the first one that is not before @site. */
static unsigned int pt_site_find(const struct pghot_sites *sites,
				 const struct pghot_site *site)
{
	unsigned int from = 0, to = sites->nr;

	while (from < to) {
		unsigned int mid = (from + to) / 2;

		if (pt_site_before(&sites->site[mid], site))
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/**
 * pghot_site_add - there was a hit
 * @sites: where it is noted
 * @site: where it was
 *
 * A page table that there is no more room for is left out.
 */
void pghot_site_add(struct pghot_sites *sites, const struct pghot_site *site)
{
	unsigned int i = pt_site_find(sites, site);
	struct pghot_site *at = &sites->site[i];

	sites->hits++;
	if (i < sites->nr && !pt_site_before(site, at)) {
		pghot_vote(&at->nid, &at->lead, site->nid);
		sites->again++;
		return;
	}
	if (sites->nr == PGHOT_SITES)
		return;
	memmove(at + 1, at, (sites->nr - i) * sizeof(*at));
	*at = *site;
	at->lead = 1;
	sites->nr++;
}

/**
 * pghot_sites_enough - is it time to look at them
 * @sites: the page tables
 *
 * Whoever looks too soon looks at a few at a time, and each time costs. That hardly any
 * of the last hits was at a new place says that hardly any place is not known.
 *
 * Return: true if so, or if there is no more room.
 */
bool pghot_sites_enough(struct pghot_sites *sites)
{
	unsigned int fresh = sites->hits - sites->again;
	bool enough = sites->hits >= SITES_FEW && fresh * SITES_FEW <= sites->hits;

	if (sites->hits >= SITES_FEW) {
		sites->hits = 0;
		sites->again = 0;
	}
	return enough || sites->nr == PGHOT_SITES;
}

/**
 * pghot_site_put - there was a hit, says the CPU
 * @ring: the CPU's
 * @site: where it was
 *
 * Context: any, NMI included; on the ring's CPU alone.
 *
 * Return: false if the ring is full, and it is left out.
 */
bool pghot_site_put(struct pghot_site_ring *ring, const struct pghot_site *site)
{
	u32 head = ring->head;

	/* Pairs with the release in pghot_site_take(): what was there is read. */
	if (head - smp_load_acquire(&ring->tail) == PGHOT_SITE_RING)
		return false;
	ring->site[head % PGHOT_SITE_RING] = *site;
	/* Pairs with the acquire in pghot_site_take(): it is there. */
	smp_store_release(&ring->head, head + 1);
	return true;
}

/**
 * pghot_site_any - is there something to take
 * @ring: a CPU's
 *
 * Return: true if so.
 */
bool pghot_site_any(const struct pghot_site_ring *ring)
{
	return READ_ONCE(ring->head) != READ_ONCE(ring->tail);
}

/**
 * pghot_site_drop - forget all that is in a ring
 * @ring: a CPU's
 *
 * Context: as pghot_site_take().
 */
void pghot_site_drop(struct pghot_site_ring *ring)
{
	/* Nothing of it was read: with whoever puts in there is nothing to order. */
	WRITE_ONCE(ring->tail, READ_ONCE(ring->head));
}

/**
 * pghot_site_take - note all that is in a ring
 * @ring: a CPU's
 * @sites: where it is noted
 *
 * Context: one at a time.
 */
void pghot_site_take(struct pghot_site_ring *ring, struct pghot_sites *sites)
{
	u32 tail = ring->tail, head;

	/* Pairs with the release in pghot_site_put(): the places are there. */
	head = smp_load_acquire(&ring->head);
	for (; tail != head; tail++)
		pghot_site_add(sites, &ring->site[tail % PGHOT_SITE_RING]);
	/* Only now may the CPU use these again. */
	smp_store_release(&ring->tail, tail);
}
