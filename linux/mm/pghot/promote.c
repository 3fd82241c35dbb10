// SPDX-License-Identifier: GPL-2.0
/*
 * Promotion: whether a page that is hot goes to the top tier, and where. Folios
 * are gathered for each target in the order in which they are offered, and
 * handed to migration as soon as they make a batch.
 */
#include <linux/memory_hotplug.h>
#include <linux/memory-tiers.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/pghot.h>

#include "hotmap.h"
#include "promoter.h"

/**
 * pghot_folio_get - the folio that a page belongs to
 * @pfn: the page
 * @verdict: set to why there is none: PGHOT_GONE, PGHOT_UNMOVABLE, or PGHOT_BUSY
 *	     if it is only out of reach just now
 *
 * Context: The caller makes sure that memory does not go away with its struct
 * page. The folio, with its reference, stays also after that.
 *
 * Return: the folio with a reference, or NULL.
 */
struct folio *pghot_folio_get(unsigned long pfn, enum pghot_verdict *verdict)
{
	struct page *page = pfn_to_online_page(pfn);
	struct folio *folio;

	*verdict = PGHOT_GONE;
	if (!page)
		return NULL;
	folio = page_folio(page);
	if (!folio_try_get(folio)) {
		/*
		 * Free, or frozen while it is moved or split. A slab is always,
		 * and has something else in the place of the mapping.
		 */
		if (READ_ONCE(folio->mapping))
			*verdict = page_has_type(&folio->page) ? PGHOT_UNMOVABLE :
								 PGHOT_BUSY;
		return NULL;
	}
	if (unlikely(page_folio(page) != folio)) {
		folio_put(folio);
		*verdict = PGHOT_BUSY;
		return NULL;
	}
	return folio;
}

/* What a target says to a folio. */
enum admit {
	ADMIT_NOW,
	ADMIT_NEXT,	/* it is closed: ask the next choice */
	ADMIT_LATER,	/* it is open, but not to folios of that size */
};

/* The target has given away what is this node's, or has no more. */
static enum admit promote_refuse_all(struct pghot_promoter *p,
				     const struct pghot_route *route, unsigned int order)
{
	struct pghot_dest *d = &p->dest[route->nid];

	if (route->nid != route->first) {
		pghot_promoter_close_to_others(p, route->nid, route->first);
		return ADMIT_NEXT;
	}
	/* A folio that is too large for what room there is claims none of it. */
	pghot_promoter_close(p, route->nid, PGHOT_WAITS_ROOM, 0,
			     d->share.others || !pghot_has_room(route->nid, 1));
	/* Who makes it is to know that it is waited for. */
	pghot_make_room(route->nid, order);
	return ADMIT_NEXT;
}

/* It is to be found again, and who is smaller to leave it some of the room that is made. */
static void promote_large_waits(struct pghot_promoter *p, int nid, int first,
				unsigned int order)
{
	pghot_promoter_met_large(p, nid, order);
	if (nid == first)
		pghot_keep_ask(nid, order);
}

/*
 * Migration would not find the folio a place. What is free may be less than the
 * folio has, or in pieces that are too small: then that one waits, for the target
 * to compact or to demote, and smaller ones go on.
 */
static enum admit promote_refuse_size(struct pghot_promoter *p,
				      const struct pghot_route *route, unsigned int order)
{
	if (order)
		promote_large_waits(p, route->nid, route->first, order);
	if (!order || !pghot_has_room(route->nid, 1))
		return promote_refuse_all(p, route, order);
	pghot_promoter_close_to_large(p, route->nid, order);
	if (route->nid == route->first)
		pghot_make_room(route->nid, order);
	return ADMIT_LATER;
}

static bool promote_has_place(int nid, unsigned long nr_pages, unsigned int order)
{
	return pghot_has_room(nid, nr_pages) && pghot_has_block(nid, order);
}

/*
 * May @folio go where its route says? If not, that is closed. Sets how many pages
 * tokens were taken for.
 */
static enum admit promote_admit(struct pghot_promoter *p, struct folio *folio,
				const struct pghot_route *route,
				unsigned long *paid)
{
	unsigned int order = folio_order(folio);
	unsigned long nr = folio_nr_pages(folio), kept;
	int nid = route->nid;
	struct pghot_dest *d = &p->dest[nid];
	u32 wait_ms;

	if (d->batch.nr_folios && d->batch.order != order)
		pghot_batch_flush(p, nid);
	if (d->share.others && d->taken >= d->share.pages) {
		if (d->share.full)
			return promote_refuse_all(p, route, order);
		pghot_promoter_close(p, nid, PGHOT_WAITS_RATE, 0, true);
		return ADMIT_NEXT;
	}
	kept = pghot_keep_pages(nid, order);
	if (kept && p->large)
		return ADMIT_LATER;
	if (!promote_has_place(nid, d->batch.nr_pages + d->asked + nr + kept, order)) {
		/* What is gathered already may be what took the room. */
		pghot_batch_flush(p, nid);
		if (!promote_has_place(nid, d->asked + nr + kept, order))
			return promote_refuse_size(p, route, order);
	}
	if (!pghot_take_tokens(nid, p->src, nr, paid, &wait_ms)) {
		pghot_promoter_close(p, nid, PGHOT_WAITS_RATE, wait_ms, true);
		return ADMIT_NEXT;
	}
	d->taken += nr;
	d->came += nr;
	return ADMIT_NOW;
}

static enum pghot_verdict promote_too_large(struct pghot_promoter *p,
					    const struct folio *folio, int nid,
					    struct pghot_offer *offer)
{
	promote_large_waits(p, nid, pghot_route(p, offer->nid)->first,
			    folio_order(folio));
	offer->waits = PGHOT_WAIT_LARGE;
	return PGHOT_WAITS_ROOM;
}

/*
 * Where @folio goes, of the nodes that its owners allow, and that it may go now.
 * A target that refuses it closes, and the next choice is asked.
 */
static enum pghot_verdict promote_choose(struct pghot_promoter *p,
					 struct folio *folio,
					 struct pghot_offer *offer,
					 unsigned long *paid)
{
	struct pghot_route route;
	enum admit admit;

	do {
		route = *pghot_route(p, offer->nid);
		if (route.nid == NUMA_NO_NODE || !node_isset(route.nid, p->allowed))
			pghot_find_route(p, offer->nid, &p->allowed, &route);
		offer->target = route.nid;
		offer->waits = route.waits;
		if (route.verdict == PGHOT_WAITS_ROOM && folio_test_large(folio)) {
			/* To be met first when room is kept for it. */
			pghot_promoter_met_large(p, route.first, folio_order(folio));
			offer->waits |= PGHOT_WAIT_LARGE;
		}
		if (route.verdict != PGHOT_PROMOTED)
			return route.verdict;
		if (pghot_too_cold(p, route.nid, offer->class))
			return PGHOT_WAITS_TURN;
		if (!pghot_promoter_takes(p, route.nid, folio_order(folio)))
			return promote_too_large(p, folio, route.nid, offer);
		admit = promote_admit(p, folio, &route, paid);
		if (admit == ADMIT_LATER)
			return promote_too_large(p, folio, route.nid, offer);
	} while (admit == ADMIT_NEXT);
	return PGHOT_PROMOTED;
}

/*
 * Migration keeps what reclaim knows of a folio, which in a lower tier is mostly
 * that it is old: nobody looked whether it is used. A clean file folio would so
 * join the oldest generation of its new node and be demoted first. That it is
 * used is known here.
 */
static void promote_mark_young(struct folio *folio)
{
	if (!folio_test_unevictable(folio))
		folio_set_active(folio);
}

/* Are others looked for just now? Who has no limit to share waits for nobody. */
static bool promote_for_others(struct pghot_promoter *p, struct folio *folio, int nid)
{
	struct pghot_dest *d = &p->dest[nid];

	return p->seeking &&
	       (d->share.pages == ULONG_MAX ||
		!pghot_tenant_due(&d->tenants, folio, d->share.pages));
}

/* It matters who accesses the page only where there is a choice. */
static bool promote_has_choice(const nodemask_t *allowed)
{
	int nid, targets = 0;

	for_each_node_mask(nid, *allowed)
		targets += pghot_may_promote_to(nid);
	return targets > 1;
}

/*
 * A folio that could go now is asked about where that matters. No more are than could
 * go, so it keeps its place in the target until the pass is over. Return
 * PGHOT_PROMOTED if the folio is to go by what is known.
 */
static enum pghot_verdict promote_ask(struct pghot_promoter *p,
				      struct folio *folio,
				      const struct pghot_offer *offer)
{
	if (!offer->asks || offer->nid != NUMA_NO_NODE || !promote_has_choice(&p->allowed))
		return PGHOT_PROMOTED;
	return pghot_ask(&p->ask, folio);
}

/* Is there another target for a folio that this one does not take, if its owners say so? */
static bool promote_elsewhere(struct pghot_promoter *p, struct folio *folio, int nid)
{
	int other;

	for_each_node_state(other, N_MEMORY)
		if (other != nid && pghot_may_promote_to(other) &&
		    p->dest[other].closed == PGHOT_OPEN &&
		    pghot_promoter_takes(p, other, folio_order(folio)))
			return true;
	return false;
}

/*
 * Who reads a file holds what is read, and it does not move before that is over. The use is
 * told of first: the thread that it wakes comes while the page is being read, or others of
 * the same read are. A pipe holds what is in it.
 */
static bool promote_is_held(const struct folio *folio)
{
	return !folio_test_anon(folio) && !folio_mapped(folio) && READ_ONCE(folio->mapping) &&
	       folio_ref_count(folio) > folio_expected_ref_count(folio) + 1;
}

/*
 * By a CPU's list of folios to be activated, into which those go that are read again. It may be
 * in lists of several CPUs, and active by one of them.
 */
static bool promote_may_be_in_list(const struct folio *folio)
{
	return !lru_gen_enabled() && !folio_test_large(folio) && !folio_test_unevictable(folio);
}

/*
 * It has its turn again in each pass. Where there are many of them, others are taken for those
 * that will be held for long: migration finds that out, and their records are gone.
 */
static bool promote_waits_held(struct pghot_promoter *p, const struct folio *folio)
{
	if (!promote_is_held(folio) || p->nr_held == PGHOT_HELD_MAX)
		return false;
	p->nr_held++;
	p->drain |= promote_may_be_in_list(folio);
	return true;
}

static enum pghot_verdict promote_isolate(struct pghot_promoter *p,
					  struct folio *folio,
					  struct pghot_offer *offer)
{
	enum pghot_verdict verdict;
	unsigned long paid;
	int nid = pghot_route(p, offer->nid)->nid;

	if (nid != NUMA_NO_NODE && promote_for_others(p, folio, nid))
		return PGHOT_WAITS_TURN;
	/* Asked before its owners are, for that is all that most of those cost. */
	if (nid != NUMA_NO_NODE && !pghot_promoter_takes(p, nid, folio_order(folio)) &&
	    !promote_elsewhere(p, folio, nid))
		return promote_too_large(p, folio, nid, offer);
	if (promote_waits_held(p, folio) || !pghot_owners_allow(folio, &p->allowed))
		return PGHOT_BUSY;
	verdict = promote_choose(p, folio, offer, &paid);
	if (verdict != PGHOT_PROMOTED)
		return verdict;
	nid = offer->target;
	verdict = promote_ask(p, folio, offer);
	if (verdict == PGHOT_ASKED) {
		p->dest[nid].asked += folio_nr_pages(folio);
		p->dest[nid].asked_paid += paid;
		return verdict;
	}
	if (verdict != PGHOT_PROMOTED ||
	    migrate_misplaced_folio_prepare(folio, NULL, nid)) {
		pghot_return_tokens(nid, p->src, paid);
		p->dest[nid].taken -= folio_nr_pages(folio);
		p->dest[nid].came -= folio_nr_pages(folio);
		return PGHOT_BUSY;
	}
	promote_mark_young(folio);
	pghot_keep_took(nid, folio_order(folio));
	pghot_batch_add(&p->dest[nid].batch, folio, paid);
	if (p->dest[nid].share.pages != ULONG_MAX)
		pghot_tenant_took(&p->dest[nid].tenants, folio, p->seeking);
	return PGHOT_PROMOTED;
}

/*
 * Why a folio is on no LRU list. One on its way to or from there belongs to a
 * file, to anonymous memory or to the swap cache; what shmem swaps has no
 * mapping. All else never is on any: the kernel's own pages, page tables, slabs,
 * hugetlb. What was just allocated, or has just moved away, is not the page that
 * the record is about.
 */
static enum pghot_verdict promote_off_lru(struct pghot_promoter *p, struct folio *folio)
{
	if (page_has_type(&folio->page) ||
	    (!READ_ONCE(folio->mapping) && !folio_test_swapcache(folio)))
		return PGHOT_UNMOVABLE;
	p->drain = true;
	return PGHOT_BUSY;
}

/**
 * pghot_offer_folio - decide about a page that is hot
 * @p: the promoter
 * @folio: its folio; the reference is dropped
 * @offer: what is known of it
 *
 * PGHOT_PROMOTED means that it is isolated; pghot_offer_taken() is to follow.
 *
 * Return: what became of it.
 */
enum pghot_verdict pghot_offer_folio(struct pghot_promoter *p,
				     struct folio *folio,
				     struct pghot_offer *offer)
{
	enum pghot_verdict verdict;

	offer->target = NUMA_NO_NODE;
	offer->waits = 0;
	if (node_is_toptier(folio_nid(folio)))
		verdict = PGHOT_TOPTIER;
	else if (!folio_test_lru(folio))
		verdict = promote_off_lru(p, folio);
	else if (folio_is_file_lru(folio) && folio_test_dirty(folio))
		verdict = PGHOT_DIRTY;
	else if (folio_test_writeback(folio))
		/* Migration does not wait for that, and it is over soon. */
		verdict = PGHOT_BUSY;
	else if (folio_maybe_dma_pinned(folio))
		/* That it cannot move migration finds out after it is unmapped. */
		verdict = PGHOT_PINNED;
	else
		verdict = promote_isolate(p, folio, offer);
	folio_put(folio);
	return verdict;
}

/**
 * pghot_offer_taken - a page was isolated, and who offered it knows
 * @p: the promoter
 * @offer: the offer
 * @counts: it is to be counted in @nr_moved or @nr_failed
 *
 * Moves the batch that the page made full.
 */
void pghot_offer_taken(struct pghot_promoter *p,
		       const struct pghot_offer *offer, bool counts)
{
	struct pghot_batch *b = &p->dest[offer->target].batch;

	b->nr_counted += counts;
	if (b->nr_pages >= READ_ONCE(pghot_batch_pages))
		pghot_batch_flush(p, offer->target);
}

/**
 * pghot_offers_end - nothing more is offered in this pass
 * @p: the promoter
 *
 * What was asked about has a place no longer: its turn comes with the answer.
 */
void pghot_offers_end(struct pghot_promoter *p)
{
	unsigned int nid;

	for (nid = 0; nid < nr_node_ids; nid++) {
		struct pghot_dest *d = &p->dest[nid];

		if (d->asked_paid)
			pghot_return_tokens(nid, p->src, d->asked_paid);
		d->asked = 0;
		d->asked_paid = 0;
	}
}
