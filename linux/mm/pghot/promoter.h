/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The promoter: hot pages are offered to it, and it moves them to the top tier
 * within limits. It knows nothing of records: a node's thread feeds it from the
 * hot map (ready.c), others feed it ranges (range.c).
 *
 * A promoter is used by one thread at a time.
 */
#ifndef _MM_PGHOT_PROMOTER_H
#define _MM_PGHOT_PROMOTER_H

#include <linux/list.h>
#include <linux/nodemask.h>

#include "internal.h"

/* Of a target that takes pages. */
#define PGHOT_OPEN	PGHOT_PROMOTED

/**
 * struct pghot_batch - folios isolated for a target
 * @folios: linked by folio->lru, in the order in which they were offered
 * @nr_folios: their number
 * @nr_counted: of these, how many whoever offered them wants counted
 * @nr_pages: their size
 * @nr_paid: pages of these that tokens were taken for
 * @order: of each: a target without free large folios fails a whole batch
 * @bill: whose they are
 */
struct pghot_batch {
	struct list_head folios;
	unsigned long nr_folios;
	unsigned long nr_counted;
	unsigned long nr_pages;
	unsigned long nr_paid;
	unsigned int order;
	struct pghot_bill bill;
};

/**
 * struct pghot_route - where pages go just now
 * @nid: the target, or NUMA_NO_NODE
 * @first: the first choice, or NUMA_NO_NODE
 * @verdict: PGHOT_PROMOTED, or why there is none
 * @waits: PGHOT_WAIT_BIT() of each target that such pages may go to later
 */
struct pghot_route {
	int nid;
	int first;
	enum pghot_verdict verdict;
	u8 waits;
};

/* So many memory cgroups are told apart at a target. */
#define PGHOT_TENANTS	16

/**
 * struct pghot_tenant - a memory cgroup that has pages for a target
 * @id: of the memory cgroup
 * @taken: its pages that went in their turn since the last pass began
 * @sought: those that went before, in this pass
 * @seen_ms: when the last of its pages was met
 * @stays: in how many periods of this round some went before
 * @stayed_ms: when that was counted last
 * @had_part: the last pass that moved any moved as many of its pages as it may
 *	      expect
 */
struct pghot_tenant {
	u64 id;
	unsigned long taken;
	unsigned long sought;
	u32 seen_ms;
	unsigned int stays;
	u32 stayed_ms;
	bool had_part;
};

/**
 * struct pghot_tenants - those of a target
 * @nr: their number
 * @sought: pages of all that went before their turn in this pass
 * @more: there were more that would have gone, had their part been larger
 * @tenant: they
 */
struct pghot_tenants {
	unsigned int nr;
	unsigned long sought;
	bool more;
	struct pghot_tenant tenant[PGHOT_TENANTS];
};

/**
 * struct pghot_closing - when something was closed, and for how long
 * @since_ms: when
 * @wait_ms: for how long
 *
 * Not till when: who does not look for some weeks would find a time that is over to
 * be one that is still to come.
 */
struct pghot_closing {
	u32 since_ms;
	u32 wait_ms;
};

/* So late who cannot know is asked again: tokens for a batch, memory in one piece. */
#define PGHOT_CLOSED_MS	(PGHOT_BURST_MS / 2U)

/**
 * struct pghot_dest - a node, as a target and as one that accesses pages
 * @batch: folios that are to go there
 * @closed: why it takes nothing more for now, or PGHOT_OPEN
 * @claims: it was refused, and others are to leave the promoter's node its share
 * @closing: since when, and for how long
 * @room_ms: for how long it was closed when it last had no room
 * @room_since: that is over when room was made since then: see pghot_room_made()
 * @room_told: so it was the last time
 * @passed: why what should go there may go elsewhere, by bit
 * @own_only: it has no room for pages that should go elsewhere
 * @own_closing: the same for that
 * @large_order: folios of this order and above wait for free memory in one piece
 * @large_closing, @large_since: the same for that
 * @large_least: the smallest order that is known to wait for that; 0 for none
 * @large_met: the smallest that was met since all that wait for it were looked at
 * @min_class: heat below which pages wait for a later round
 * @share: what it takes from the promoter's node
 * @taken: pages that it took of that
 * @came: pages that it took since it was opened
 * @asked: of those it took in this pass, pages that come later: they were asked about
 * @asked_paid: of these, pages that tokens were taken for
 * @route: where pages go that this node accesses
 * @tenants: whose pages went there, while it was short
 */
struct pghot_dest {
	struct pghot_batch batch;
	enum pghot_verdict closed;
	bool claims;
	struct pghot_closing closing;
	u32 room_ms;
	unsigned long room_since;
	bool room_told;
	u8 passed;
	bool own_only;
	struct pghot_closing own_closing;
	unsigned int large_order;
	struct pghot_closing large_closing;
	unsigned long large_since;
	unsigned int large_least;
	unsigned int large_met;
	u32 min_class;
	struct pghot_share share;
	unsigned long taken;
	unsigned long came;
	unsigned long asked;
	unsigned long asked_paid;
	struct pghot_route route;
	struct pghot_tenants tenants;
};

/* So many that somebody holds keep their records. */
#define PGHOT_HELD_MAX	32U

/* TLBs are flushed once for so many pages that are asked about. */
#define PGHOT_ASK_PAGES	32U

/**
 * struct pghot_ask_page - a place that a folio is mapped to
 * @mm: whose, with a reference to the structure alone
 * @start: first address
 * @end: address behind it
 */
struct pghot_ask_page {
	struct mm_struct *mm;
	unsigned long start;
	unsigned long end;
};

/**
 * struct pghot_ask - pages whose next access is to say where it comes from
 * @nr: their number
 * @page: they
 */
struct pghot_ask {
	unsigned int nr;
	struct pghot_ask_page page[PGHOT_ASK_PAGES];
};

/**
 * struct pghot_promoter - what moves pages from a node to the top tier
 * @src: the node; of one for all nodes, that of the page offered last
 * @any: it is for all nodes
 * @headroom: kswapd keeps memory free for it
 * @seeking: only pages are wanted of those whom others keep waiting
 * @large: only large folios are wanted, and of these such as room is kept for
 * @told: its thread is woken when a target that was full has room
 * @all_closed: there are targets, and each is closed
 * @past: PGHOT_WAIT_BIT() of each target that pages wait for which may not have to, as
 *	  they may go elsewhere now
 * @past_ms: when all of these were looked at last
 * @looked: what was wanted all the time since the round began
 * @wanted: PGHOT_WAIT_BIT() of each node but targets that are closed; of these too, if
 *	    in @past. And %PGHOT_WAIT_LARGE, unless a target would refuse all that is large
 * @min_class: the lowest heat that any target takes in this round
 * @changes: counts each time that a target was opened or closed
 * @folio_pages: mean size of the folios in the last batch
 * @nr_moved: folios that were to be counted and have moved
 * @nr_failed: those that have not
 * @pages_moved: pages of all folios that have moved
 * @pages_failed: those of folios that have not
 * @nr_held: folios that were met and left as somebody held them
 * @drain: a folio was met that a CPU's list may hold, on its way to an LRU list
 * @allowed: nodes that a folio's owners allow
 * @route: where pages go of which nobody knows who accesses them
 * @ask: pages of which that is asked
 * @dest: by node
 */
struct pghot_promoter {
	int src;
	bool any;
	bool headroom;
	bool seeking;
	bool large;
	bool told;
	bool all_closed;
	u8 past;
	u32 past_ms;
	u8 looked;
	u8 wanted;
	u32 min_class;
	unsigned int changes;
	unsigned long folio_pages;
	unsigned long nr_moved;
	unsigned long nr_failed;
	unsigned long pages_moved;
	unsigned long pages_failed;
	unsigned int nr_held;
	bool drain;
	nodemask_t allowed;
	struct pghot_route route;
	struct pghot_ask ask;
	struct pghot_dest dest[];
};

/**
 * struct pghot_offer - a page that is hot
 * @nid: node that it is accessed from, or NUMA_NO_NODE
 * @class: how hot: a higher class goes first
 * @asks: if nobody knows the node, that is to be asked
 * @target: set to where it is to go, if there is such a place
 * @waits: set to the PGHOT_WAIT_BIT() of each target that it waits for, or to
 *	   %PGHOT_WAIT_LARGE
 */
struct pghot_offer {
	int nid;
	u32 class;
	bool asks;
	int target;
	u8 waits;
};

/* gate.c */
struct pghot_promoter *pghot_promoter_alloc(int src);
void pghot_promoter_leave(struct pghot_promoter *p);
void pghot_promoter_from(struct pghot_promoter *p, int src);
bool pghot_promoter_open(struct pghot_promoter *p, int nid, bool anew);
bool pghot_promoter_opens(struct pghot_promoter *p);
void pghot_promoter_close(struct pghot_promoter *p, int nid,
			  enum pghot_verdict why, u32 wait_ms, bool claims);
void pghot_promoter_close_to_others(struct pghot_promoter *p, int nid, int first);
void pghot_promoter_sum_up(struct pghot_promoter *p);
void pghot_promoter_satisfied(struct pghot_promoter *p);
void pghot_promoter_unclaim(struct pghot_promoter *p, int nid);
u32 pghot_promoter_due_ms(struct pghot_promoter *p);
void pghot_find_route(struct pghot_promoter *p, int nid,
		      const nodemask_t *allowed, struct pghot_route *route);

/* large.c */
void pghot_promoter_met_large(struct pghot_promoter *p, int nid,
			      unsigned int order);
void pghot_promoter_forget_large(struct pghot_promoter *p, int nid);
bool pghot_promoter_wants_large(struct pghot_promoter *p);
bool pghot_promoter_large_first(struct pghot_promoter *p);
void pghot_promoter_close_to_large(struct pghot_promoter *p, int nid,
				   unsigned int order);
bool pghot_promoter_takes(struct pghot_promoter *p, int nid,
			  unsigned int order);

/* ask.c; more in internal.h */
enum pghot_verdict pghot_ask(struct pghot_ask *ask, struct folio *folio);
void pghot_ask_flush(struct pghot_ask *ask);

/* batch.c */
void pghot_batch_add(struct pghot_batch *b, struct folio *folio,
		     unsigned long paid);
void pghot_batch_flush(struct pghot_promoter *p, int nid);
void pghot_batch_flush_all(struct pghot_promoter *p);

/* tenant.c */
void pghot_tenants_begin(struct pghot_tenants *t, u32 window_ms);
void pghot_tenants_anew(struct pghot_tenants *t);
bool pghot_tenant_due(struct pghot_tenants *t, struct folio *folio,
		      unsigned long budget);
void pghot_tenant_took(struct pghot_tenants *t, struct folio *folio,
		       bool sought);

/* promote.c */
struct folio *pghot_folio_get(unsigned long pfn, enum pghot_verdict *verdict);
enum pghot_verdict pghot_offer_folio(struct pghot_promoter *p,
				     struct folio *folio,
				     struct pghot_offer *offer);
void pghot_offers_end(struct pghot_promoter *p);
void pghot_offer_taken(struct pghot_promoter *p,
		       const struct pghot_offer *offer, bool counts);

/*
 * Where pages go that @nid accesses. A number that no node has says as much as
 * none.
 */
static inline const struct pghot_route *
pghot_route(const struct pghot_promoter *p, int nid)
{
	return nid >= 0 && nid < nr_node_ids ? &p->dest[nid].route : &p->route;
}

static inline u32 pghot_closing_left_ms(const struct pghot_closing *c, u32 now)
{
	u32 gone = now - c->since_ms;

	return gone < c->wait_ms ? c->wait_ms - gone : 0;
}

static inline struct pghot_closing pghot_closing_begin(u32 wait_ms)
{
	return (struct pghot_closing) {
		.since_ms = pghot_now_ms(),
		.wait_ms = min(wait_ms, READ_ONCE(pghot_period_ms)),
	};
}

/* Whose thread is to be woken when there is room. Who promotes ranges has none. */
static inline int pghot_room_for(const struct pghot_promoter *p)
{
	return p->told ? p->src : NUMA_NO_NODE;
}

/* Do hotter pages go to @nid before those of @class? */
static inline bool pghot_too_cold(const struct pghot_promoter *p, int nid,
				  u32 class)
{
	return class < p->dest[nid].min_class && !p->seeking;
}

#endif /* _MM_PGHOT_PROMOTER_H */
