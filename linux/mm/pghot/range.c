// SPDX-License-Identifier: GPL-2.0
/*
 * Ranges: promotion of pages that somebody else knows to be hot, DAMON or a
 * driver, without records.
 *
 * Memory may go offline at any time but while memory hotplug is held off here.
 * That begins and ends with nothing isolated: offlining, which holds the lock
 * that is waited for, would itself wait for the folios of somebody who waits.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/memory_hotplug.h>
#include <linux/memory-tiers.h>
#include <linux/mm.h>
#include <linux/pghot.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "promoter.h"

/* Folios that are looked at and moved while memory hotplug is held off. */
#define HELD_LOOKS	512U

/**
 * pghot_promoter_create - make a promoter for pages that are known to be hot
 * @nid: node whose pages it promotes, or NUMA_NO_NODE for all nodes
 *
 * The node may have no memory yet, or none any more. While there is a promoter,
 * kswapd keeps memory free for promotion, also without NUMA balancing.
 *
 * Context: Process context. May sleep.
 *
 * Return: the promoter, or ERR_PTR() of -EINVAL or -ENOMEM.
 */
struct pghot_promoter *pghot_promoter_create(int nid)
{
	struct pghot_promoter *p;

	if (nid != NUMA_NO_NODE && (nid < 0 || nid >= nr_node_ids))
		return ERR_PTR(-EINVAL);
	p = pghot_promoter_alloc(nid);
	if (!p)
		return ERR_PTR(-ENOMEM);
	p->any = nid == NUMA_NO_NODE;
	p->headroom = pghot_booted;
	if (p->headroom)
		static_branch_inc(&pghot_headroom_key);
	return p;
}
EXPORT_SYMBOL_GPL(pghot_promoter_create);

/**
 * pghot_promoter_free - free what pghot_promoter_create() made
 * @p: the promoter, or NULL
 *
 * Context: Process context. May sleep.
 */
void pghot_promoter_free(struct pghot_promoter *p)
{
	if (!p)
		return;
	if (p->headroom)
		static_branch_dec(&pghot_headroom_key);
	kvfree(p);
}
EXPORT_SYMBOL_GPL(pghot_promoter_free);

static int range_hotter(const void *a, const void *b)
{
	const struct pghot_range *ra = a, *rb = b;

	return ra->heat < rb->heat ? 1 : ra->heat > rb->heat ? -1 : 0;
}

static void range_go_on(struct pghot_promoter *p)
{
	unsigned int nid;

	for (nid = 0; nid < nr_node_ids; nid++)
		pghot_promoter_open(p, nid, true);
	pghot_promoter_sum_up(p);
}

/* Each node has its own share of what a target takes. */
static void range_go_on_from(struct pghot_promoter *p, int nid)
{
	pghot_batch_flush_all(p);
	pghot_promoter_from(p, nid);
	range_go_on(p);
}

static enum pghot_verdict range_offer_folio(struct pghot_promoter *p,
					    struct folio *folio, int nid)
{
	struct pghot_offer offer = { .nid = nid };
	int src = folio_nid(folio);
	enum pghot_verdict verdict;

	if (src != p->src && !node_is_toptier(src)) {
		if (!p->any) {
			folio_put(folio);
			return PGHOT_GONE;
		}
		range_go_on_from(p, src);
	}
	/* Its node may become one of a lower tier any time: then it goes from none yet. */
	if (p->src == NUMA_NO_NODE) {
		folio_put(folio);
		return PGHOT_TOPTIER;
	}
	verdict = pghot_offer_folio(p, folio, &offer);
	if (verdict == PGHOT_PROMOTED)
		pghot_offer_taken(p, &offer, false);
	return verdict;
}

/*
 * The range's first folio. Return false if it has to wait, and what comes after it
 * too.
 */
static bool range_first_folio(struct pghot_promoter *p, struct pghot_range *r,
			      unsigned long max_pages, unsigned long *pages)
{
	unsigned long size = 1, n = 1;
	enum pghot_verdict verdict;
	struct folio *folio;

	folio = pghot_folio_get(r->pfn, &verdict);
	if (folio) {
		size = folio_nr_pages(folio);
		n = min(folio_pfn(folio) + size - r->pfn, r->nr);
		if (size > max_pages - pages[PGHOT_PROMOTED]) {
			folio_put(folio);
			return false;
		}
		verdict = range_offer_folio(p, folio, r->nid);
	}
	pages[verdict] += size;
	if (verdict >= PGHOT_NO_TARGET &&
	    pghot_route(p, r->nid)->verdict != PGHOT_PROMOTED)
		return false;
	r->pfn += n;
	r->nr -= n;
	return true;
}

/**
 * pghot_promote_ranges - promote pages that are known to be hot
 * @p: the promoter; no other call may use it meanwhile
 * @ranges: the pages. They are sorted, hottest first; what is dealt with is taken
 *	    off them
 * @nr: number of ranges
 * @max_pages: promote no more than so many pages
 * @pages: set to how many pages have each verdict
 *
 * Pages that the caller knows to be hot are promoted as those that records tell
 * of: where their owners allow it, and within the rate limit and the free memory
 * of each target, which the lower-tier nodes share. If one of these ends, or
 * @max_pages, a range is left as it is from there on, and may be offered again
 * later. In @pages, large folios count with all their pages.
 *
 * Pages are freed, moved and used again at any time. Memory may go offline, also
 * that of the promoter's node, while the ranges and the promoter are kept. What
 * is not there any more is PGHOT_GONE.
 *
 * Context: Process context. May sleep. Not from a memory notifier, with memory
 * hotplug held off, or with folios isolated.
 *
 * Return: 0; -EOPNOTSUPP if pghot is off; -EINTR if the caller is to be killed.
 */
int pghot_promote_ranges(struct pghot_promoter *p, struct pghot_range *ranges,
			 unsigned int nr, unsigned long max_pages,
			 unsigned long pages[NR_PGHOT_VERDICTS])
{
	struct pghot_range *r = ranges, *end = ranges + nr;
	int err = 0;

	memset(pages, 0, NR_PGHOT_VERDICTS * sizeof(*pages));
	if (!pghot_is_enabled())
		return -EOPNOTSUPP;
	sort(ranges, nr, sizeof(*ranges), range_hotter, NULL);
	p->pages_failed = 0;
	p->nr_held = 0;
	if (p->src != NUMA_NO_NODE)
		range_go_on(p);
	while (r < end && !err) {
		unsigned int looks;

		get_online_mems();
		for (looks = 0; r < end && looks < HELD_LOOKS; looks++)
			if (!r->nr || !range_first_folio(p, r, max_pages, pages))
				r++;
		pghot_batch_flush_all(p);
		put_online_mems();
		if (fatal_signal_pending(current))
			err = -EINTR;
		cond_resched();
	}
	/* Who does not go on asking must not keep others waiting. */
	pghot_promoter_leave(p);
	pages[PGHOT_PROMOTED] -= p->pages_failed;
	pages[PGHOT_FAILED] = p->pages_failed;
	return err;
}
EXPORT_SYMBOL_GPL(pghot_promote_ranges);
