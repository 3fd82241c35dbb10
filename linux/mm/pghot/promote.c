// SPDX-License-Identifier: GPL-2.0
/*
 * Promotion: a pass walks the hot blocks of a node in PFN order, decides about
 * each ready record, gathers folios for each target node and hands them to
 * migration as soon as they make a batch. What cannot move yet keeps its
 * record; what will not move is counted under its reason.
 */
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/memory_hotplug.h>
#include <linux/memory-tiers.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/pghot.h>
#include <linux/sched.h>
#include <linux/sched/cputime.h>
#include <linux/slab.h>
#include <linux/swap.h>

#include <trace/events/pghot.h>

#include "../internal.h"
#include "internal.h"

/*
 * A pass ends after this many refusals. It takes a few milliseconds to be
 * refused so often; the next pass goes on from there.
 */
#define REFUSALS_MAX	65536

/* enum pghot_stat that is no reason for anything. */
#define NOT_CLOSED	NR_PGHOT_STATS

/**
 * struct batch - folios isolated for one target
 * @folios: linked by folio->lru, in PFN order
 * @nr_folios: their number
 * @nr_records: records that were taken for them
 * @nr_pages: their size
 * @nr_paid: pages of these that tokens were taken for
 * @order: of each: a target without free large folios fails a whole batch
 * @bill: whose they are
 * @closed: why the target takes nothing more in this pass, or NOT_CLOSED
 */
struct batch {
	struct list_head folios;
	unsigned long nr_folios;
	unsigned long nr_records;
	unsigned long nr_pages;
	unsigned long nr_paid;
	unsigned int order;
	struct pghot_bill bill;
	enum pghot_stat closed;
};

/**
 * struct pghot_pass - working memory of a node's thread
 * @node: the node
 * @cursor: where the next pass begins
 * @refused: folios that rate limit or want of room held back in this pass
 * @hold_ms: how long it is no use to ask again, where there were such
 * @left: the last pass knowingly left ready records behind
 * @folio_pages: mean size of the folios in the last batch
 * @allowed: nodes that a folio's owners allow
 * @entries: the ready records of one block
 * @batch: by target node
 */
struct pghot_pass {
	struct pghot_node *node;
	struct pghot_cursor cursor;
	unsigned long refused;
	u32 hold_ms;
	bool left;
	unsigned long folio_pages;
	nodemask_t allowed;
	struct pghot_entry entries[PGHOT_BLOCK_PAGES];
	struct batch batch[];
};

/**
 * pghot_pass_alloc - working memory for a node's thread
 * @node: the node
 *
 * Return: the memory, or NULL.
 */
struct pghot_pass *pghot_pass_alloc(struct pghot_node *node)
{
	struct pghot_pass *p = kvzalloc_flex(*p, batch, nr_node_ids);
	unsigned int nid;

	if (!p)
		return NULL;
	p->node = node;
	p->folio_pages = 1;
	/* There may be records from before the thread. */
	p->left = true;
	for (nid = 0; nid < nr_node_ids; nid++)
		INIT_LIST_HEAD(&p->batch[nid].folios);
	return p;
}

/**
 * pghot_pass_free - free what pghot_pass_alloc() gave
 * @p: the memory; may be NULL
 */
void pghot_pass_free(struct pghot_pass *p)
{
	kvfree(p);
}

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

static bool skip_stale(struct pghot_entry *e)
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

static void refuse(struct pghot_pass *p, struct pghot_entry *e,
		   enum pghot_stat reason)
{
	delay(e, reason);
	p->refused++;
}

/* Nothing more to @b's node in this pass; room and tokens take time to come. */
static void close_target(struct pghot_pass *p, struct batch *b,
			 enum pghot_stat reason, u32 wait_ms)
{
	b->closed = reason;
	p->hold_ms = min(p->hold_ms, max(wait_ms, PGHOT_BURST_MS / 2U));
}

/*
 * How many records the pages that stayed make up. A folio may have been split
 * on its way and part of it moved, but it had one record.
 */
static unsigned long failed_records(const struct batch *b,
				    unsigned int moved_pages)
{
	unsigned long stayed = b->nr_pages - min_t(unsigned long, b->nr_pages,
						     moved_pages);

	return min(DIV_ROUND_CLOSEST(stayed, b->nr_pages / b->nr_folios),
		   b->nr_records);
}

static void flush(struct pghot_pass *p, int nid)
{
	struct pghot_target *target = pghot_target(nid);
	struct batch *b = &p->batch[nid];
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
		pghot_return_tokens(nid, b->nr_paid - moved_pages);
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
 * May @folio go to @nid now? If not, @nid is closed for this pass. Sets how many
 * pages tokens were taken for.
 */
static bool admit(struct pghot_pass *p, struct folio *folio, int nid,
		  unsigned long *paid)
{
	unsigned long nr = folio_nr_pages(folio);
	struct batch *b = &p->batch[nid];
	u32 wait_ms;

	if (b->closed != NOT_CLOSED)
		return false;
	if (b->nr_folios && b->order != folio_order(folio))
		flush(p, nid);
	if (!pghot_has_room(nid, b->nr_pages + nr)) {
		/* What is gathered already may be what took the room. */
		flush(p, nid);
		if (!pghot_has_room(nid, nr)) {
			pghot_make_room(nid, folio_order(folio));
			close_target(p, b, PGHOT_STAT_delay_target_full, 0);
			return false;
		}
	}
	if (!pghot_take_tokens(nid, nr, paid, &wait_ms)) {
		close_target(p, b, PGHOT_STAT_delay_rate_limit, wait_ms);
		return false;
	}
	return true;
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

/*
 * Isolate @folio for its target. Return the target, or NUMA_NO_NODE and whether
 * the record must stay.
 */
static int isolate(struct pghot_pass *p, struct pghot_entry *e,
		   struct folio *folio, bool *keep)
{
	unsigned long paid;
	struct batch *b;
	int nid;

	*keep = true;
	if (!pghot_owners_allow(folio, &p->allowed)) {
		delay(e, PGHOT_STAT_delay_busy);
		return NUMA_NO_NODE;
	}
	nid = target_of(p, e, folio);
	if (nid == NUMA_NO_NODE) {
		if (pghot_pick_target(NUMA_NO_NODE, p->node->map.nid, NULL, 0) ==
		    NUMA_NO_NODE) {
			refuse(p, e, PGHOT_STAT_delay_no_target);
		} else {
			skip(e, PGHOT_STAT_skip_policy);
			*keep = false;
		}
		return NUMA_NO_NODE;
	}

	b = &p->batch[nid];
	if (!admit(p, folio, nid, &paid)) {
		refuse(p, e, b->closed);
		return NUMA_NO_NODE;
	}
	if (migrate_misplaced_folio_prepare(folio, NULL, nid)) {
		pghot_return_tokens(nid, paid);
		delay(e, PGHOT_STAT_delay_busy);
		return NUMA_NO_NODE;
	}

	*keep = false;
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

/* Decide about one ready record. Return true if it must stay. */
static bool consider(struct pghot_pass *p, struct pghot_entry *e)
{
	int nid = NUMA_NO_NODE;
	struct folio *folio;
	bool keep = false;
	bool gone;

	/* Unless it was accessed just now: then the next pass sees a new age. */
	if (!e->hot)
		return !skip_stale(e);
	if (e->nid >= 0 && e->nid < nr_node_ids &&
	    p->batch[e->nid].closed != NOT_CLOSED) {
		refuse(p, e, p->batch[e->nid].closed);
		return true;
	}
	folio = get_folio(p, e->pfn, &gone);
	if (!folio) {
		if (gone)
			skip(e, PGHOT_STAT_skip_gone);
		else
			delay(e, PGHOT_STAT_delay_busy);
		return !gone;
	}
	if (node_is_toptier(folio_nid(folio))) {
		skip(e, PGHOT_STAT_skip_toptier);
	} else if (!folio_test_lru(folio)) {
		/* On its way to or from the LRU lists, or not that kind. */
		delay(e, PGHOT_STAT_delay_busy);
		keep = true;
	} else if (folio_is_file_lru(folio) && folio_test_dirty(folio)) {
		skip(e, PGHOT_STAT_skip_dirty);
	} else {
		nid = isolate(p, e, folio, &keep);
	}
	folio_put(folio);
	/* Not earlier: what has a reference of ours cannot be moved. */
	if (nid != NUMA_NO_NODE &&
	    p->batch[nid].nr_pages >= READ_ONCE(pghot_batch_pages))
		flush(p, nid);
	return keep;
}

static bool called_off(void)
{
	return kthread_should_stop() || kthread_should_park() ||
	       freezing(current);
}

/*
 * Which classes go in this pass: all, unless more is ready than the top tier
 * takes just now. A record stands for a folio: reckon with those of late.
 */
static u32 lowest_class(struct pghot_pass *p)
{
	unsigned long budget = pghot_promotable_pages();
	unsigned long hist[PGHOT_CLASSES];

	if (budget == ULONG_MAX)
		return 0;
	budget = max(budget / max(p->folio_pages, 1UL), 1UL);
	if (pghot_map_ready(&p->node->map, hist) <= budget)
		return 0;
	return pghot_min_class(hist, budget);
}

/* There are ready records in @pfn's block for another pass. */
static void leave(struct pghot_pass *p, unsigned long pfn)
{
	pghot_map_mark(&pghot_map, pfn);
	p->left = true;
}

/*
 * Walk hot blocks from the cursor on, up to section @last. Return false if the
 * walk was broken off; the cursor stays there.
 */
static bool walk(struct pghot_pass *p, u32 min_class, unsigned long last)
{
	unsigned long pfn;

	while (pghot_map_next_block(&pghot_map, &p->node->map, &p->cursor,
				    &pfn)) {
		bool keep = false;
		unsigned int i, n;

		if (pfn_to_section_nr(pfn) > last) {
			pghot_map_mark(&pghot_map, pfn);
			pghot_map_stop(&pghot_map, &p->cursor);
			break;
		}
		/* The time of each block: a pass may be longer than a bucket. */
		n = pghot_map_collect(&pghot_map, pfn, min_class,
				      pghot_now_ms(), &pghot_tunables,
				      p->entries, &keep);
		for (i = 0; i < n; i++)
			keep |= consider(p, &p->entries[i]);
		if (keep)
			leave(p, pfn);
		if (called_off() || p->refused >= REFUSALS_MAX) {
			pghot_map_stop(&pghot_map, &p->cursor);
			p->left = true;
			return false;
		}
		cond_resched();
	}
	p->cursor = (struct pghot_cursor) {};
	return true;
}

/**
 * pghot_pass_run - promote what is ready on a node
 * @p: the node's thread's working memory
 *
 * Goes round once from where the last pass broke off, so that no part of the
 * node waits for another.
 *
 * Return: 0, or if rate limit or want of room held something back, for how many
 *	   milliseconds it is no use to try again.
 */
u32 pghot_pass_run(struct pghot_pass *p)
{
	unsigned long first = p->cursor.section;
	u32 min_class = lowest_class(p);
	unsigned int nid;

	p->refused = 0;
	p->left = false;
	p->hold_ms = U32_MAX;
	for (nid = 0; nid < nr_node_ids; nid++)
		p->batch[nid].closed = NOT_CLOSED;

	if (walk(p, min_class, ULONG_MAX) && first)
		walk(p, min_class, first);

	/* All of them: a target may have lost its memory meanwhile. */
	for (nid = 0; nid < nr_node_ids; nid++)
		flush(p, nid);
	return p->refused ? p->hold_ms : 0;
}

/**
 * pghot_pass_left - did the last pass leave anything for the next
 * @p: the node's thread's working memory
 *
 * Not asked of the map's counts: a record that changes its class while they
 * are summed can be missed.
 *
 * Return: true if another pass is due though nothing more becomes ready.
 */
bool pghot_pass_left(const struct pghot_pass *p)
{
	return p->left;
}
