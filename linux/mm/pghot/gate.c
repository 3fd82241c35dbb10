// SPDX-License-Identifier: GPL-2.0
/*
 * Which targets take pages from a promoter just now, and so where pages go that
 * each node accesses.
 *
 * A target that has no room or no tokens, or gave the promoter's node its share
 * of them, is closed for some time. Routes are found anew when a target opens or
 * closes, not for each page. That takes a look at each pair of nodes, and at
 * most at each three, where all targets that an accessing node is near to have
 * no room.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "promoter.h"

/*
 * So soon a target is asked again that had room and has no more, whoever may have made
 * some: see room.c. What kswapd keeps free for promotion is a thousandth of a node, which
 * it has free again in some milliseconds: whoever comes by ten times a second gets
 * 160 MiB/s into 16 GiB.
 */
#define ROOM_MS		4U
/* In ms: so late all that waits for a closed target is looked at once more. See gate_past(). */
#define PAST_RESTS	(8U * PGHOT_CLOSED_MS)

/**
 * pghot_promoter_alloc - make a promoter
 * @src: node that it moves pages from
 *
 * Return: the promoter, or NULL.
 */
struct pghot_promoter *pghot_promoter_alloc(int src)
{
	struct pghot_promoter *p = kvzalloc_flex(*p, dest, nr_node_ids);
	unsigned int nid;

	if (!p)
		return NULL;
	p->src = src;
	p->folio_pages = 1;
	p->past_ms = pghot_now_ms() - PAST_RESTS;
	for (nid = 0; nid < nr_node_ids; nid++)
		INIT_LIST_HEAD(&p->dest[nid].batch.folios);
	return p;
}

/* Others of the same node may claim it beside this one. */
static void gate_claim(struct pghot_promoter *p, int nid, bool claims)
{
	struct pghot_dest *d = &p->dest[nid];

	if (d->claims == claims || !pghot_target(nid))
		return;
	d->claims = claims;
	pghot_target_claim(nid, p->src, claims);
}

/**
 * pghot_promoter_unclaim - nothing more is known to wait for a target
 * @p: the promoter
 * @nid: the target
 */
void pghot_promoter_unclaim(struct pghot_promoter *p, int nid)
{
	gate_claim(p, nid, false);
}

/**
 * pghot_promoter_leave - promote no more from the promoter's node for now
 * @p: the promoter
 *
 * Others need not leave it a share of anything.
 */
void pghot_promoter_leave(struct pghot_promoter *p)
{
	unsigned int nid;

	if (p->src == NUMA_NO_NODE)
		return;
	for (nid = 0; nid < nr_node_ids; nid++)
		gate_claim(p, nid, false);
}

/**
 * pghot_promoter_from - go on with pages of another node
 * @p: the promoter, with nothing gathered
 * @src: the node
 */
void pghot_promoter_from(struct pghot_promoter *p, int src)
{
	unsigned int nid;

	pghot_promoter_leave(p);
	p->src = src;
	for (nid = 0; nid < nr_node_ids; nid++)
		p->dest[nid].closed = PGHOT_OPEN;
}

/* Until a target that is closed may open. */
static u32 gate_dest_left_ms(const struct pghot_promoter *p, int nid, u32 now)
{
	const struct pghot_dest *d = &p->dest[nid];

	if (d->closed == PGHOT_WAITS_ROOM && pghot_room_made(pghot_target(nid), d->room_since))
		return 0;
	return pghot_closing_left_ms(&d->closing, now);
}

/**
 * pghot_promoter_open - open a target, if its time has come
 * @p: the promoter
 * @nid: the target, or a node that is none
 * @anew: a round begins; else only what is closed may open
 *
 * pghot_promoter_sum_up() is to follow.
 *
 * Return: true if anything was done about it.
 */
bool pghot_promoter_open(struct pghot_promoter *p, int nid, bool anew)
{
	struct pghot_dest *d = &p->dest[nid];
	bool target = pghot_may_promote_to(nid);
	u32 now = pghot_now_ms();
	bool opens = d->closed != PGHOT_OPEN &&
		     !(target && gate_dest_left_ms(p, nid, now));

	if (!target)
		pghot_promoter_forget_large(p, nid);
	if (!anew && !opens)
		return false;
	d->min_class = 0;
	d->taken = 0;
	if (!pghot_closing_left_ms(&d->own_closing, now))
		d->own_only = false;
	if (opens) {
		d->room_told = pghot_closing_left_ms(&d->closing, now);
		d->closed = PGHOT_OPEN;
		d->came = 0;
	}
	if (d->closed == PGHOT_OPEN && target)
		pghot_target_share(nid, p->src, &d->share);
	return true;
}

/**
 * pghot_promoter_opens - has the time of a target come that is closed
 * @p: the promoter
 *
 * Or is it only to large folios?
 *
 * Return: true if so.
 */
bool pghot_promoter_opens(struct pghot_promoter *p)
{
	u32 now = pghot_now_ms();
	unsigned int nid;

	for (nid = 0; nid < nr_node_ids; nid++)
		if (p->dest[nid].closed != PGHOT_OPEN &&
		    !gate_dest_left_ms(p, nid, now))
			return true;
	return !(p->wanted & PGHOT_WAIT_LARGE) && pghot_promoter_wants_large(p);
}

/*
 * None came: is it for want of room? Not if this node has had its share, or others have
 * taken what it was told of, or a large folio is to have what there is.
 */
static bool gate_lacks_room(const struct pghot_dest *d, int nid)
{
	if (d->room_told || pghot_keep_pages(nid, 0))
		return false;
	return !d->share.others || d->taken < d->share.pages || !pghot_has_room(nid, 1);
}

/* Soon, as long as there is room for something each time; less and less often, where not. */
static u32 gate_room_wait_ms(struct pghot_dest *d, int nid)
{
	if (!d->room_ms || d->came >= PGHOT_BATCH_PAGES)
		d->room_ms = ROOM_MS;
	else if (d->came)
		d->room_ms = max(d->room_ms / 2, ROOM_MS);
	else if (gate_lacks_room(d, nid))
		d->room_ms = min(2 * d->room_ms, PGHOT_CLOSED_MS);
	return d->room_ms;
}

/**
 * pghot_promoter_close - nothing more to a target for some time
 * @p: the promoter
 * @nid: the target
 * @why: PGHOT_WAITS_ROOM or PGHOT_WAITS_RATE
 * @wait_ms: for how long, if that is known; tokens take time to come
 * @claims: other nodes are to leave this one its share
 */
void pghot_promoter_close(struct pghot_promoter *p, int nid,
			  enum pghot_verdict why, u32 wait_ms, bool claims)
{
	struct pghot_dest *d = &p->dest[nid];

	d->closed = why;
	if (why == PGHOT_WAITS_ROOM) {
		wait_ms = gate_room_wait_ms(d, nid);
		d->room_since = pghot_room_await(pghot_target(nid), pghot_room_for(p), 1);
	} else {
		wait_ms = max(wait_ms, PGHOT_CLOSED_MS);
	}
	d->closing = pghot_closing_begin(wait_ms);
	if (claims)
		gate_claim(p, nid, true);
	pghot_promoter_sum_up(p);
}

/**
 * pghot_promoter_close_to_others - a target has no room for more than its own
 * @p: the promoter
 * @nid: the target
 * @first: where the pages should go
 *
 * It was asked for want of room there. Pages that should go to the target are still
 * to ask for themselves, and to have room made for them.
 */
void pghot_promoter_close_to_others(struct pghot_promoter *p, int nid, int first)
{
	struct pghot_dest *d = &p->dest[nid];

	d->own_only = true;
	p->past |= PGHOT_WAIT_BIT(first);
	d->own_closing = pghot_closing_begin(PGHOT_CLOSED_MS);
	pghot_promoter_sum_up(p);
}

/*
 * Is what is there used as much as what would come? It stays choosy for long after that
 * was so, and gains by it.
 */
static bool gate_gains_nothing(const struct pghot_target *target)
{
	if (!READ_ONCE(pghot_backoff))
		return false;
	return READ_ONCE(target->speed.rate) ||
	       (READ_ONCE(target->speed.choosy) &&
		READ_ONCE(target->gain_percent) < PGHOT_GAIN_PERCENT);
}

/*
 * Does a node make room that is worth waiting for? What went to another socket stays there.
 * Not if none came for some time, or what is there is used as much as what would come.
 */
static bool gate_room_comes(const struct pghot_promoter *p, int nid)
{
	const struct pghot_target *target = pghot_target(nid);

	return target && p->dest[nid].room_ms < PGHOT_CLOSED_MS && !gate_gains_nothing(target);
}

/* What is held for a target may go elsewhere, for either reason. */
#define PASSED_NO_ROOM	BIT(0)	/* see gate_room_comes() */
#define PASSED_SLOWED	BIT(1)	/* see pghot_target_slowed() */

/*
 * Blocks are held for closed targets by what was known when they were looked at. If that
 * target has become one that pages go past since then, or another one has room again, they
 * are to be looked at once more, while pages can go somewhere. But not all the time: of
 * those that may go nowhere else each has its owners asked.
 */
static u8 gate_past(struct pghot_promoter *p)
{
	bool rests = pghot_now_ms() - p->past_ms < PAST_RESTS;
	u8 past = 0;
	int nid;

	for_each_node_state(nid, N_MEMORY) {
		struct pghot_dest *d = &p->dest[nid];
		u8 passed = 0;

		if (!pghot_may_promote_to(nid))
			continue;
		if (!gate_room_comes(p, nid))
			passed |= PASSED_NO_ROOM;
		if (pghot_target_slowed(nid))
			passed |= PASSED_SLOWED;
		if (passed & ~d->passed)
			p->past |= PGHOT_WAIT_BIT(nid);
		d->passed = passed;
		if (d->closed != PGHOT_OPEN && d->route.nid != NUMA_NO_NODE && !rests)
			past |= p->past & PGHOT_WAIT_BIT(nid);
	}
	return past;
}

/**
 * pghot_promoter_sum_up - what all targets take together, and by which route
 * @p: the promoter
 *
 * For after a target was opened or closed, or its @min_class changed.
 */
void pghot_promoter_sum_up(struct pghot_promoter *p)
{
	u32 min_class = PGHOT_CLASSES;
	u8 open = 0, closed = 0;
	int nid;

	for_each_node_state(nid, N_MEMORY) {
		struct pghot_dest *d = &p->dest[nid];

		if (!pghot_may_promote_to(nid))
			continue;
		if (d->closed != PGHOT_OPEN) {
			closed |= PGHOT_WAIT_BIT(nid);
			continue;
		}
		open |= PGHOT_WAIT_BIT(nid);
		min_class = min(min_class, d->min_class);
	}
	p->all_closed = closed && !open;
	p->wanted = open | (u8)~closed;
	p->min_class = open ? min_class : 0;
	p->changes++;

	pghot_find_route(p, NUMA_NO_NODE, NULL, &p->route);
	for (nid = 0; nid < nr_node_ids; nid++)
		pghot_find_route(p, nid, NULL, &p->dest[nid].route);
	p->wanted |= gate_past(p);
	/* By routes too. */
	if (!pghot_promoter_wants_large(p))
		p->wanted &= ~PGHOT_WAIT_LARGE;
	p->looked &= p->wanted;
}

/**
 * pghot_promoter_satisfied - targets that are open took all there was for them
 * @p: the promoter
 */
void pghot_promoter_satisfied(struct pghot_promoter *p)
{
	unsigned int nid;

	for (nid = 0; nid < nr_node_ids; nid++) {
		struct pghot_dest *d = &p->dest[nid];

		if (d->closed == PGHOT_OPEN)
			gate_claim(p, nid, false);
		if (p->looked & PGHOT_WAIT_LARGE) {
			d->large_least = d->large_met;
			d->large_met = 0;
		}
	}
	if (p->past & p->looked) {
		p->past &= ~p->looked;
		p->past_ms = pghot_now_ms();
	}
}

/**
 * pghot_promoter_due_ms - when a target may open
 * @p: the promoter
 *
 * Return: in how many milliseconds, at least 1; U32_MAX if none is closed.
 */
u32 pghot_promoter_due_ms(struct pghot_promoter *p)
{
	u32 now = pghot_now_ms(), due = U32_MAX;
	unsigned int nid;

	for (nid = 0; nid < nr_node_ids; nid++) {
		const struct pghot_dest *d = &p->dest[nid];

		if (d->closed != PGHOT_OPEN)
			due = min(due, max(gate_dest_left_ms(p, nid, now), 1U));
		else if (d->large_least)
			due = min(due, max(pghot_closing_left_ms(&d->large_closing, now), 1U));
	}
	return due;
}

/* A node that has neither CPUs nor top-tier memory says nothing of distances. */
static bool gate_may_access(int nid)
{
	return nid >= 0 && nid < nr_node_ids &&
	       (node_state(nid, N_CPU) || pghot_may_promote_to(nid));
}

/**
 * pghot_find_route - where pages go just now
 * @p: the promoter
 * @nid: node that they are accessed from, or NUMA_NO_NODE
 * @allowed: nodes that their owners allow, or NULL for all
 * @route: filled
 *
 * The first choice is the accessing node, or the one nearest to it that may take them. Where
 * that has no room, and makes none, the next one is as good as waiting; where it has no
 * tokens, it has enough to take, and pages wait, unless it takes few because these gain
 * nothing there.
 */
void pghot_find_route(struct pghot_promoter *p, int nid,
		      const nodemask_t *allowed, struct pghot_route *route)
{
	int n = NUMA_NO_NODE;

	if (!gate_may_access(nid))
		nid = NUMA_NO_NODE;
	*route = (struct pghot_route) {
		.nid = NUMA_NO_NODE, .first = NUMA_NO_NODE,
		.verdict = PGHOT_NO_TARGET,
	};
	for (;;) {
		enum pghot_verdict closed;

		n = pghot_next_target(nid, p->src, allowed, n);
		if (n == NUMA_NO_NODE)
			break;
		closed = p->dest[n].closed;
		if (route->first == NUMA_NO_NODE) {
			route->first = n;
			route->verdict = closed;
		}
		if (closed == PGHOT_OPEN && n != route->first && p->dest[n].own_only)
			continue;
		if (closed == PGHOT_OPEN) {
			route->nid = n;
			route->verdict = PGHOT_PROMOTED;
			route->waits = 0;
			return;
		}
		route->waits |= PGHOT_WAIT_BIT(n);
		if (closed == PGHOT_WAITS_RATE ? !pghot_target_slowed(n) :
						 nid != NUMA_NO_NODE && n == route->first &&
						 gate_room_comes(p, n))
			break;
	}
	if (route->first != NUMA_NO_NODE)
		return;
	if (allowed && pghot_next_target(nid, p->src, NULL, n) != NUMA_NO_NODE)
		route->verdict = PGHOT_POLICY;
	else if (pghot_next_target(NUMA_NO_NODE, p->src, NULL, n) != NUMA_NO_NODE)
		route->verdict = PGHOT_FARTHER;
}
