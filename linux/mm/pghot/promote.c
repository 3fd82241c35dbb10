// SPDX-License-Identifier: GPL-2.0
/*
 * Promotion: what becomes of each ready record that a pass meets. Folios are
 * gathered for each target node, in PFN order, and handed to migration as soon
 * as they make a batch. What cannot move yet keeps its record; what will not
 * move is counted under its reason.
 */
#include <linux/memory_hotplug.h>
#include <linux/memory-tiers.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/pghot.h>
#include <linux/sched/cputime.h>
#include <linux/swap.h>

#include <trace/events/pghot.h>

#include "../internal.h"
#include "pass.h"

static void count_skip(struct pghot_entry *e, enum pghot_stat reason)
{
	pghot_stat_add(reason, 1);
	trace_pghot_skip(e->pfn, e->nid, pghot_stat_names[reason]);
}

static void skip(struct pghot_entry *e, enum pghot_stat reason)
{
	if (pghot_map_take(&pghot_map, e->pfn))
		count_skip(e, reason);
}

/**
 * pghot_pass_drop_stale - take a record that went cold
 * @e: the record, as pghot_map_collect() saw it
 *
 * Return: false if it has changed meanwhile, and is to be looked at again.
 */
bool pghot_pass_drop_stale(struct pghot_entry *e)
{
	if (!pghot_map_take_seen(&pghot_map, e))
		return false;
	count_skip(e, PGHOT_STAT_skip_stale);
	return true;
}

static void delay(struct pghot_entry *e, enum pghot_stat reason)
{
	pghot_stat_add(reason, 1);
	trace_pghot_delay(e->pfn, e->nid, pghot_stat_names[reason]);
}

static void delay_busy(struct pghot_pass *p, struct pghot_entry *e)
{
	delay(e, PGHOT_STAT_delay_busy);
	p->again = true;
}

/**
 * pghot_pass_sum_up - sum up over all targets what they take
 * @p: the pass
 *
 * For after a target was opened or closed, or its @min_class changed.
 */
void pghot_pass_sum_up(struct pghot_pass *p)
{
	u32 min_class = PGHOT_CLASSES;
	u8 open = 0, closed = 0;
	int nid;

	for_each_node_state(nid, N_MEMORY) {
		struct pghot_batch *b = &p->batch[nid];

		if (!pghot_may_promote_to(nid))
			continue;
		if (b->closed != PGHOT_NOT_CLOSED) {
			closed |= PGHOT_WAIT_BIT(nid);
			continue;
		}
		open |= PGHOT_WAIT_BIT(nid);
		min_class = min(min_class, b->min_class);
	}
	p->all_closed = closed && !open;
	WRITE_ONCE(p->node->all_closed, p->all_closed);
	p->wanted = open | (u8)~closed;
	p->min_class = open ? min_class : 0;
}

/*
 * Nothing more to @nid from this node for some time: room and tokens take time
 * to come. @claims: other nodes are to leave it its share.
 */
static void close_target(struct pghot_pass *p, struct pghot_entry *e, int nid,
			 enum pghot_stat reason, u32 wait_ms, bool claims)
{
	struct pghot_batch *b = &p->batch[nid];

	b->closed = reason;
	b->until_ms = pghot_now_ms() + min(max(wait_ms, PGHOT_BURST_MS / 2U),
					   READ_ONCE(pghot_period_ms));
	if (nid == p->turn || !b->from)
		b->from = e->pfn;
	if (claims)
		pghot_target_claim(nid, p->node->map.nid, true);
	node_set(nid, p->node->closed);
	pghot_pass_sum_up(p);
}

/* @e waits for @nid, which is closed. */
static void refuse(struct pghot_pass *p, struct pghot_entry *e, int nid)
{
	delay(e, p->batch[nid].closed);
	p->waits |= PGHOT_WAIT_BIT(nid);
}

/* May @e go to @nid in this round? If not, it is left for later. */
static bool has_turn(struct pghot_pass *p, struct pghot_entry *e, int nid)
{
	struct pghot_batch *b = &p->batch[nid];

	if (b->closed != PGHOT_NOT_CLOSED) {
		refuse(p, e, nid);
		return false;
	}
	if (e->class < b->min_class) {
		p->left_out = true;
		p->again = true;
		return false;
	}
	return true;
}

/*
 * How many records the pages that stayed make up. A folio may have been split
 * on its way and part of it moved, but it had one record.
 */
static unsigned long failed_records(const struct pghot_batch *b,
				    unsigned int moved_pages)
{
	unsigned long stayed = b->nr_pages - min_t(unsigned long, b->nr_pages,
						     moved_pages);

	return min(DIV_ROUND_CLOSEST(stayed, b->nr_pages / b->nr_folios),
		   b->nr_records);
}

/**
 * pghot_pass_flush - move what is gathered for a target
 * @p: the pass
 * @nid: the target
 */
void pghot_pass_flush(struct pghot_pass *p, int nid)
{
	struct pghot_target *target = pghot_target(nid);
	struct pghot_batch *b = &p->batch[nid];
	unsigned int moved_pages;
	unsigned long failed;
	u64 start;

	if (!b->nr_folios)
		return;
	start = task_sched_runtime(current);
	failed = migrate_misplaced_folios(&b->folios, nid, true, &moved_pages);
	/*
	 * What stayed went to this CPU's list of folios to be put on the LRU.
	 * As long as it is there it cannot be isolated again, and hardly
	 * anything else than this thread fills the list.
	 */
	if (failed)
		lru_add_drain();
	pghot_bill_settle(&b->bill, task_sched_runtime(current) - start);
	failed = failed_records(b, moved_pages);

	pghot_stat_add(PGHOT_STAT_batches, 1);
	pghot_stat_add(PGHOT_STAT_moved, b->nr_records - failed);
	pghot_stat_add(PGHOT_STAT_skip_migrate, failed);
	pghot_stat_add(PGHOT_STAT_promoted_pages, moved_pages);
	atomic_long_add(moved_pages, &p->node->promoted);
	if (target)
		atomic_long_add(moved_pages, &target->promoted);
	/* What moved for nothing, while there was plenty, owes nothing. */
	if (b->nr_paid > moved_pages)
		pghot_return_tokens(nid, p->node->map.nid,
				    b->nr_paid - moved_pages);
	trace_pghot_batch(p->node->map.nid, nid, b->nr_folios, failed,
			  moved_pages);

	p->folio_pages = b->nr_pages / b->nr_folios;
	b->nr_folios = 0;
	b->nr_records = 0;
	b->nr_pages = 0;
	b->nr_paid = 0;
}

/*
 * The folio of a ready record, with a reference, or NULL. @gone tells whether
 * there is none any more or it is only out of reach just now.
 *
 * Inside the RCU read-side critical section a tracked page has a struct page:
 * pghot_map_remove() waits before memory goes away. What has a reference stays.
 */
static struct folio *get_folio(struct pghot_pass *p, unsigned long pfn,
			       bool *gone)
{
	struct folio *folio = NULL;
	struct page *page = NULL;

	rcu_read_lock();
	if (pghot_map_owner(&pghot_map, pfn) == &p->node->map)
		page = pfn_to_online_page(pfn);
	*gone = !page;
	if (page) {
		folio = page_folio(page);
		if (!folio_try_get(folio)) {
			/* Free, or frozen while it is moved or split. */
			*gone = !READ_ONCE(folio->mapping);
			folio = NULL;
		}
	}
	rcu_read_unlock();

	if (folio && unlikely(page_folio(page) != folio)) {
		folio_put(folio);
		folio = NULL;
	}
	return folio;
}

/*
 * Where @folio goes, of the nodes that its owners allow. NUMA_NO_NODE if there
 * is no node for it.
 */
static int target_of(struct pghot_pass *p, struct pghot_entry *e,
		     struct folio *folio)
{
	if (pghot_may_promote_to(e->nid) && node_isset(e->nid, p->allowed))
		return e->nid;
	return pghot_pick_target(NUMA_NO_NODE, p->node->map.nid, &p->allowed,
				 folio_nr_pages(folio));
}

/*
 * May @folio go to @nid now? If not, @nid is closed. Sets how many pages tokens
 * were taken for.
 */
static bool admit(struct pghot_pass *p, struct pghot_entry *e,
		  struct folio *folio, int nid, unsigned long *paid)
{
	unsigned long nr = folio_nr_pages(folio);
	struct pghot_batch *b = &p->batch[nid];
	u32 wait_ms;

	if (b->nr_folios && b->order != folio_order(folio))
		pghot_pass_flush(p, nid);
	if (b->share.others && b->taken >= b->share.pages) {
		if (b->share.full)
			goto full;
		close_target(p, e, nid, PGHOT_STAT_delay_rate_limit, 0, true);
		return false;
	}
	if (!pghot_has_room(nid, b->nr_pages + nr)) {
		/* What is gathered already may be what took the room. */
		pghot_pass_flush(p, nid);
		if (!pghot_has_room(nid, nr))
			goto full;
	}
	if (!pghot_take_tokens(nid, p->node->map.nid, nr, paid, &wait_ms)) {
		close_target(p, e, nid, PGHOT_STAT_delay_rate_limit, wait_ms,
			     true);
		return false;
	}
	b->taken += nr;
	return true;

full:
	pghot_make_room(nid, folio_order(folio));
	/* A folio that is too large for what room there is claims none of it. */
	close_target(p, e, nid, PGHOT_STAT_delay_target_full, 0,
		     b->share.others || !pghot_has_room(nid, 1));
	return false;
}

/*
 * Migration keeps what reclaim knows of a folio, which in a lower tier is mostly
 * that it is old: nobody looked whether it is used. A clean file folio would so
 * join the oldest generation of its new node and be demoted first. That it is
 * used is known here.
 */
static void mark_young(struct folio *folio)
{
	if (!folio_test_unevictable(folio))
		folio_set_active(folio);
}

/* Isolate @folio for its target. Return the target, or NUMA_NO_NODE. */
static int isolate(struct pghot_pass *p, struct pghot_entry *e,
		   struct folio *folio)
{
	unsigned long paid;
	struct pghot_batch *b;
	int nid;

	if (!pghot_owners_allow(folio, &p->allowed)) {
		delay_busy(p, e);
		return NUMA_NO_NODE;
	}
	nid = target_of(p, e, folio);
	if (nid == NUMA_NO_NODE) {
		if (pghot_pick_target(NUMA_NO_NODE, p->node->map.nid, NULL, 0) ==
		    NUMA_NO_NODE) {
			delay(e, PGHOT_STAT_delay_no_target);
			p->no_target = true;
			p->again = true;
		} else {
			skip(e, PGHOT_STAT_skip_policy);
		}
		return NUMA_NO_NODE;
	}

	if (!has_turn(p, e, nid))
		return NUMA_NO_NODE;
	if (!admit(p, e, folio, nid, &paid)) {
		refuse(p, e, nid);
		return NUMA_NO_NODE;
	}
	b = &p->batch[nid];
	if (migrate_misplaced_folio_prepare(folio, NULL, nid)) {
		pghot_return_tokens(nid, p->node->map.nid, paid);
		b->taken -= folio_nr_pages(folio);
		delay_busy(p, e);
		return NUMA_NO_NODE;
	}

	mark_young(folio);
	list_add_tail(&folio->lru, &b->folios);
	pghot_bill_add(&b->bill, folio);
	b->order = folio_order(folio);
	b->nr_folios++;
	b->nr_pages += folio_nr_pages(folio);
	b->nr_paid += paid;
	b->nr_records += pghot_map_take(&pghot_map, e->pfn);
	return nid;
}

/**
 * pghot_pass_consider - decide about one ready record
 * @p: the pass; @again or @waits say so where the record stays
 * @e: the record
 */
void pghot_pass_consider(struct pghot_pass *p, struct pghot_entry *e)
{
	int nid = NUMA_NO_NODE;
	struct folio *folio;
	bool gone;

	/* Unless it was accessed just now: then the next pass sees a new age. */
	if (!e->hot) {
		if (!pghot_pass_drop_stale(e))
			p->again = true;
		return;
	}
	if (e->nid >= 0 && e->nid < nr_node_ids && !has_turn(p, e, e->nid))
		return;
	folio = get_folio(p, e->pfn, &gone);
	if (!folio) {
		if (gone)
			skip(e, PGHOT_STAT_skip_gone);
		else
			delay_busy(p, e);
		return;
	}
	if (node_is_toptier(folio_nid(folio)))
		skip(e, PGHOT_STAT_skip_toptier);
	else if (!folio_test_lru(folio))
		/* On its way to or from the LRU lists, or not that kind. */
		delay_busy(p, e);
	else if (folio_is_file_lru(folio) && folio_test_dirty(folio))
		skip(e, PGHOT_STAT_skip_dirty);
	else
		nid = isolate(p, e, folio);
	folio_put(folio);
	/* Not earlier: what has a reference of ours cannot be moved. */
	if (nid != NUMA_NO_NODE &&
	    p->batch[nid].nr_pages >= READ_ONCE(pghot_batch_pages))
		pghot_pass_flush(p, nid);
}
