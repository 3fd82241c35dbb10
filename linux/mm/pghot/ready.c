// SPDX-License-Identifier: GPL-2.0
/*
 * Ready records: each that a pass meets is offered to the promoter, and what
 * becomes of the page becomes of the record. What cannot move yet keeps its
 * record; what will not move is counted under its reason.
 */
#include <linux/mm.h>
#include <linux/pghot.h>

#include "pass.h"

/* What the record of a page is counted under that does not move. */
static const enum pghot_stat reason[NR_PGHOT_VERDICTS] = {
	[PGHOT_GONE] = PGHOT_STAT_skip_gone,
	[PGHOT_TOPTIER] = PGHOT_STAT_skip_toptier,
	[PGHOT_DIRTY] = PGHOT_STAT_skip_dirty,
	[PGHOT_PINNED] = PGHOT_STAT_skip_pinned,
	[PGHOT_UNMOVABLE] = PGHOT_STAT_skip_unmovable,
	[PGHOT_POLICY] = PGHOT_STAT_skip_policy,
	[PGHOT_FARTHER] = PGHOT_STAT_skip_policy,
	[PGHOT_ASKED] = PGHOT_STAT_skip_asked,
	[PGHOT_BUSY] = PGHOT_STAT_delay_busy,
	[PGHOT_NO_TARGET] = PGHOT_STAT_delay_no_target,
	[PGHOT_WAITS_ROOM] = PGHOT_STAT_delay_target_full,
	[PGHOT_WAITS_RATE] = PGHOT_STAT_delay_rate_limit,
};

/**
 * pghot_ready_settle - count the records whose pages have moved, or have not
 * @p: the pass
 */
void pghot_ready_settle(struct pghot_pass *p)
{
	struct pghot_promoter *pr = p->promoter;

	pghot_stat_add(PGHOT_STAT_moved, pr->nr_moved);
	pghot_stat_add(PGHOT_STAT_skip_migrate, pr->nr_failed);
	pghot_sweep_moved(&p->sweep, pr->nr_moved);
	pr->nr_moved = 0;
	pr->nr_failed = 0;
}

/* Do pages wait that @nid accesses? */
static bool ready_closed_to(struct pghot_pass *p, int nid)
{
	enum pghot_verdict verdict = pghot_route(p->promoter, nid)->verdict;

	return verdict == PGHOT_WAITS_ROOM || verdict == PGHOT_WAITS_RATE;
}

/* For those who report: whom the thread need not be woken for. */
static void ready_tell(struct pghot_pass *p)
{
	struct pghot_node *node = p->node;
	unsigned int nid;

	for (nid = 0; nid < nr_node_ids; nid++) {
		bool closed = ready_closed_to(p, nid);

		if (closed == !!node_isset(nid, node->closed))
			continue;
		if (closed)
			node_set(nid, node->closed);
		else
			node_clear(nid, node->closed);
	}
	WRITE_ONCE(node->strays_closed, ready_closed_to(p, NUMA_NO_NODE));
	WRITE_ONCE(node->all_closed, p->promoter->all_closed);
}

/**
 * pghot_ready_see - see which targets were opened and closed
 * @p: the pass
 * @pfn: page that those refused which are closed now
 */
void pghot_ready_see(struct pghot_pass *p, unsigned long pfn)
{
	struct pghot_promoter *pr = p->promoter;
	unsigned int nid;

	if (p->changes == pr->changes)
		return;
	p->changes = pr->changes;
	for (nid = 0; nid < nr_node_ids; nid++) {
		struct pghot_place *place = &p->place[nid];
		bool open = pr->dest[nid].closed == PGHOT_OPEN;

		/* Looking for large folios moves nobody's place. */
		if (place->open && !open && !pr->large &&
		    (!place->from || (nid == p->turn && !pr->seeking)))
			place->from = pfn;
		place->open = open;
	}
	ready_tell(p);
}

/* The record waits, and its block is to be marked or held. */
static void ready_stays(struct pghot_pass *p, struct pghot_entry *e,
			enum pghot_verdict verdict, u8 waits)
{
	enum pghot_stat why;

	if (verdict == PGHOT_WAITS_TURN) {
		p->left_out = true;
		p->again = true;
		return;
	}
	why = reason[verdict];
	if (verdict == PGHOT_WAITS_RATE &&
	    pghot_target_slowed(pghot_route(p->promoter, e->nid)->first))
		why = PGHOT_STAT_delay_no_gain;
	pghot_stat_add(why, 1);
	trace_pghot_delay(e->pfn, e->nid, why);
	p->no_target |= verdict == PGHOT_NO_TARGET;
	if (waits)
		p->waits |= waits;
	else
		p->again = true;
}

static void ready_judge(struct pghot_pass *p, struct pghot_entry *e,
			enum pghot_verdict verdict,
			const struct pghot_offer *offer)
{
	switch (verdict) {
	case PGHOT_PROMOTED:
		pghot_offer_taken(p->promoter, offer,
				  pghot_map_take(&pghot_map, e->pfn));
		break;
	case PGHOT_GONE:
	case PGHOT_TOPTIER:
	case PGHOT_DIRTY:
	case PGHOT_PINNED:
	case PGHOT_UNMOVABLE:
	case PGHOT_POLICY:
	case PGHOT_FARTHER:
		if (pghot_map_take(&pghot_map, e->pfn))
			pghot_count_skip(e, reason[verdict]);
		break;
	case PGHOT_ASKED:
		/* Unless the answer is there already. */
		if (pghot_map_take_seen(&pghot_map, e))
			pghot_count_skip(e, reason[verdict]);
		else
			p->again = true;
		break;
	default:
		ready_stays(p, e, verdict, offer->waits);
	}
}

/*
 * What can be said without a look at the page. That is all that most of what
 * waits costs.
 */
static enum pghot_verdict ready_foresee(struct pghot_pass *p,
					struct pghot_entry *e,
					struct pghot_offer *offer)
{
	const struct pghot_route *route = pghot_route(p->promoter, e->nid);

	offer->waits = route->waits;
	if (route->verdict != PGHOT_PROMOTED)
		return route->verdict;
	if (pghot_too_cold(p->promoter, route->nid, e->class))
		return PGHOT_WAITS_TURN;
	return PGHOT_PROMOTED;
}

/*
 * A large folio that waits for a closed target is to be met first when room is kept for it.
 * Where none was met it is not worth a look at each page to know.
 */
static bool ready_may_be_large(struct pghot_pass *p, const struct pghot_entry *e,
			       enum pghot_verdict verdict)
{
	int first = pghot_route(p->promoter, e->nid)->first;

	return verdict == PGHOT_WAITS_ROOM && p->promoter->dest[first].large_least;
}

/* Drops the reference. */
static enum pghot_verdict ready_offer(struct pghot_pass *p, struct folio *folio,
				      struct pghot_offer *offer, enum pghot_verdict foreseen)
{
	struct pghot_promoter *pr = p->promoter;
	unsigned int order = folio_order(folio);

	if (foreseen == PGHOT_PROMOTED && (order || !pr->large))
		return pghot_offer_folio(pr, folio, offer);
	folio_put(folio);
	if (foreseen == PGHOT_PROMOTED)
		return PGHOT_WAITS_TURN;
	if (order) {
		pghot_promoter_met_large(pr, pghot_route(pr, offer->nid)->first, order);
		offer->waits |= PGHOT_WAIT_LARGE;
	}
	return foreseen;
}

/**
 * pghot_ready_consider - decide about one ready record
 * @p: the pass; @again or @waits say so where the record stays
 * @e: the record
 *
 * Return: what became of its page. That of a record that went cold is as good
 *	   as gone.
 */
enum pghot_verdict pghot_ready_consider(struct pghot_pass *p,
					struct pghot_entry *e)
{
	struct pghot_offer offer = {
		.nid = e->nid, .class = e->class,
		.asks = READ_ONCE(pghot_tunables.ask),
	};
	enum pghot_verdict verdict, foreseen;
	struct folio *folio;

	if (!e->hot && pghot_sweep_ask(p, e))
		return PGHOT_GONE;
	/* It was accessed just now: the next pass sees a new age. */
	if (!e->hot) {
		p->again = true;
		return PGHOT_GONE;
	}
	foreseen = ready_foresee(p, e, &offer);
	verdict = foreseen;
	if (verdict == PGHOT_PROMOTED || ready_may_be_large(p, e, verdict)) {
		folio = pghot_tracked_folio(e->pfn, &p->node->map, &verdict);
		if (folio)
			verdict = ready_offer(p, folio, &offer, foreseen);
		pghot_ready_see(p, e->pfn);
	}
	ready_judge(p, e, verdict, &offer);
	return verdict;
}
