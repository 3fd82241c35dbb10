// SPDX-License-Identifier: GPL-2.0
/*
 * kmigrated: one thread for each lower-tier node, which promotes what is ready.
 *
 * It sleeps until a record becomes ready. A pass walks the hot blocks in PFN
 * order and gathers folios, one list for each target node, which go to
 * migration as soon as they make a batch. What cannot move yet keeps its
 * record and is looked at again later; what will not move is counted under its
 * reason.
 *
 * The thread takes no lock that anyone holds while stopping or parking it.
 */
#include <linux/cpumask.h>
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/memory_hotplug.h>
#include <linux/memory-tiers.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/pghot.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include <trace/events/pghot.h>

#include "../internal.h"
#include "internal.h"

/* A pass that is refused this often ends; asking on costs time for nothing. */
#define REFUSALS_MAX	512

/**
 * struct batch - folios isolated for one target
 * @folios: linked by folio->lru, in PFN order
 * @nr_folios: their number
 * @nr_pages: their size
 */
struct batch {
	struct list_head folios;
	unsigned long nr_folios;
	unsigned long nr_pages;
};

/**
 * struct pass - one walk over the hot blocks of a node
 * @node: the node
 * @now: its time
 * @refused: folios that rate limit or want of room held back
 * @busy: folios that could not be isolated just now
 * @wait_ms: when it is worth asking again
 * @entries: the ready records of one block
 * @batch: by target node
 */
struct pass {
	struct pghot_node *node;
	u32 now;
	unsigned long refused;
	unsigned long busy;
	u32 wait_ms;
	struct pghot_entry entries[PGHOT_BLOCK_PAGES];
	struct batch batch[];
};

static void skip(struct pghot_entry *e, enum pghot_stat reason)
{
	if (!pghot_map_take(&pghot_map, e->pfn))
		return;
	pghot_stat_add(reason, 1);
	trace_pghot_skip(e->pfn, e->nid, pghot_stat_names[reason]);
}

static void delay(struct pghot_entry *e, enum pghot_stat reason)
{
	pghot_stat_add(reason, 1);
	trace_pghot_delay(e->pfn, e->nid, pghot_stat_names[reason]);
}

static void flush(struct pass *p, int nid)
{
	struct pghot_target *target = pghot_target(nid);
	struct batch *b = &p->batch[nid];
	unsigned int moved_pages;
	unsigned long failed;

	if (!b->nr_folios)
		return;
	failed = migrate_misplaced_folios(&b->folios, nid, true,
					  &moved_pages);

	pghot_stat_add(PGHOT_STAT_batches, 1);
	pghot_stat_add(PGHOT_STAT_moved, b->nr_folios - failed);
	pghot_stat_add(PGHOT_STAT_skip_migrate, failed);
	pghot_stat_add(PGHOT_STAT_promoted_pages, moved_pages);
	atomic_long_add(moved_pages, &p->node->promoted);
	if (target)
		atomic_long_add(moved_pages, &target->promoted);
	if (b->nr_pages > moved_pages)
		pghot_return_tokens(nid, b->nr_pages - moved_pages);
	trace_pghot_batch(p->node->map.nid, nid, b->nr_folios, failed,
			  moved_pages);
	b->nr_folios = 0;
	b->nr_pages = 0;
}

/*
 * The folio of a ready record, with a reference. A page that is tracked is
 * online until the end of the RCU read-side critical section, and what has a
 * reference stays online.
 */
static struct folio *get_folio(struct pass *p, unsigned long pfn)
{
	struct folio *folio = NULL;
	struct page *page;

	rcu_read_lock();
	if (pghot_map_owner(&pghot_map, pfn) == &p->node->map)
		page = pfn_to_online_page(pfn);
	else
		page = NULL;
	if (page) {
		folio = page_folio(page);
		if (!folio_try_get(folio))
			folio = NULL;
	}
	rcu_read_unlock();

	if (folio && unlikely(page_folio(page) != folio)) {
		folio_put(folio);
		folio = NULL;
	}
	return folio;
}

/*
 * Where @folio goes. Who reported the access chose the target by cpuset and
 * memory policy; without that knowledge the nearest node of the top tier is it.
 */
static int target_of(struct pass *p, struct pghot_entry *e,
		     struct folio *folio)
{
	if (pghot_may_promote_to(e->nid))
		return e->nid;
	return pghot_pick_target(NUMA_NO_NODE, p->node->map.nid, NULL,
				 folio_nr_pages(folio));
}

/*
 * Isolate @folio for its target. Return the target, or NUMA_NO_NODE if the
 * record must stay.
 */
static int isolate(struct pass *p, struct pghot_entry *e, struct folio *folio)
{
	unsigned long nr = folio_nr_pages(folio);
	int nid = target_of(p, e, folio);
	struct batch *b;

	if (nid == NUMA_NO_NODE) {
		delay(e, PGHOT_STAT_delay_no_target);
		p->refused++;
		return NUMA_NO_NODE;
	}
	if (!pghot_has_room(nid, p->batch[nid].nr_pages + nr)) {
		/* What is gathered already may be what took the room. */
		flush(p, nid);
		if (!pghot_has_room(nid, nr)) {
			pghot_make_room(nid, folio_order(folio));
			delay(e, PGHOT_STAT_delay_target_full);
			p->refused++;
			return NUMA_NO_NODE;
		}
	}
	if (!pghot_take_tokens(nid, nr, &p->wait_ms)) {
		delay(e, PGHOT_STAT_delay_rate_limit);
		p->refused++;
		return NUMA_NO_NODE;
	}
	if (migrate_misplaced_folio_prepare(folio, NULL, nid)) {
		pghot_return_tokens(nid, nr);
		delay(e, PGHOT_STAT_delay_busy);
		p->busy++;
		return NUMA_NO_NODE;
	}

	b = &p->batch[nid];
	list_add_tail(&folio->lru, &b->folios);
	b->nr_folios++;
	b->nr_pages += nr;
	/*
	 * Nobody else takes records of this node while its thread runs, but
	 * memory going offline takes the whole section: then that counted it.
	 */
	pghot_map_take(&pghot_map, e->pfn);
	return nid;
}

/* Decide about one ready record. Return true if it must stay. */
static bool consider(struct pass *p, struct pghot_entry *e)
{
	int nid = NUMA_NO_NODE;
	struct folio *folio;
	bool keep = false;

	if (!e->hot) {
		skip(e, PGHOT_STAT_skip_stale);
		return false;
	}
	folio = get_folio(p, e->pfn);
	if (!folio) {
		skip(e, PGHOT_STAT_skip_gone);
		return false;
	}
	if (node_is_toptier(folio_nid(folio))) {
		skip(e, PGHOT_STAT_skip_toptier);
	} else if (!folio_test_lru(folio)) {
		/* On its way to or from the LRU lists, or not that kind. */
		delay(e, PGHOT_STAT_delay_busy);
		p->busy++;
		keep = true;
	} else if (folio_is_file_lru(folio) && folio_test_dirty(folio)) {
		skip(e, PGHOT_STAT_skip_dirty);
	} else {
		nid = isolate(p, e, folio);
		keep = nid == NUMA_NO_NODE;
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
	return kthread_should_stop() || kthread_should_park();
}

/* Walk the hot blocks, from where the last walk stopped to the node's end. */
static void walk(struct pass *p)
{
	struct pghot_cursor *c = &p->node->cursor;
	unsigned long hist[PGHOT_CLASSES];
	unsigned long pfn, budget;
	u32 min_class = 0;

	budget = pghot_promotable_pages();
	if (pghot_map_ready(&p->node->map, hist) > budget)
		min_class = pghot_min_class(hist, budget);

	while (pghot_map_next_block(&pghot_map, &p->node->map, c, &pfn)) {
		bool keep = false;
		unsigned int i, n;

		n = pghot_map_collect(&pghot_map, pfn, min_class, p->now,
				      &pghot_tunables, p->entries, &keep);
		for (i = 0; i < n; i++)
			keep |= consider(p, &p->entries[i]);
		if (keep)
			pghot_map_mark(&pghot_map, pfn);
		if (called_off() || p->refused >= REFUSALS_MAX) {
			pghot_map_stop(&pghot_map, c);
			return;
		}
		cond_resched();
	}
	*c = (struct pghot_cursor) {};
}

static void kmigrated_pass(struct pass *p)
{
	struct pghot_node *node = p->node;
	int nid;

	p->now = pghot_now_ms();
	p->refused = 0;
	p->busy = 0;
	p->wait_ms = 0;

	WRITE_ONCE(node->kick, false);
	/* Pairs with the barrier in pghot_wake(). */
	smp_mb();
	walk(p);
	for_each_node_state(nid, N_MEMORY)
		flush(p, nid);
}

/*
 * Sleep until there is something to do. After a pass that was held back, new
 * readiness does not help: wait until what held it back may have changed.
 */
static void kmigrated_wait(struct pass *p)
{
	struct pghot_node *node = p->node;
	u32 period = READ_ONCE(pghot_period_ms);
	long timeout = msecs_to_jiffies(period);

	if (p->refused) {
		if (p->wait_ms)
			timeout = msecs_to_jiffies(min(p->wait_ms, period));
		wait_event_freezable_timeout(node->wait, called_off(), timeout);
	} else if (pghot_map_ready(&node->map, NULL)) {
		wait_event_freezable_timeout(node->wait,
					     READ_ONCE(node->kick) ||
					     called_off(), timeout);
	} else {
		wait_event_freezable(node->wait,
				     READ_ONCE(node->kick) || called_off());
	}
}

static int kmigrated(void *data)
{
	struct pass *p = data;

	set_freezable();
	while (!kthread_should_stop()) {
		if (kthread_should_park()) {
			kthread_parkme();
			continue;
		}
		kmigrated_wait(p);
		if (!called_off())
			kmigrated_pass(p);
	}
	return 0;
}

/* The CPUs next to @nid; a node of a lower tier mostly has none of its own. */
static const struct cpumask *cpus_near(int nid)
{
	int n, best = NUMA_NO_NODE, best_distance = INT_MAX;

	for_each_node_state(n, N_CPU) {
		/* Seen from the CPU: that is the direction that firmware fills. */
		if (node_distance(n, nid) < best_distance) {
			best = n;
			best_distance = node_distance(n, nid);
		}
	}
	return best == NUMA_NO_NODE ? cpu_possible_mask : cpumask_of_node(best);
}

/**
 * pghot_kmigrated_start - start the thread of a node
 * @node: the node
 *
 * Context: pghot_lock held.
 *
 * Return: 0 or a negative error.
 */
int pghot_kmigrated_start(struct pghot_node *node)
{
	struct task_struct *thread;
	struct pass *p;
	int nid;

	p = kvzalloc(struct_size(p, batch, nr_node_ids), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	p->node = node;
	for (nid = 0; nid < nr_node_ids; nid++)
		INIT_LIST_HEAD(&p->batch[nid].folios);

	thread = kthread_create_on_node(kmigrated, p, node->map.nid,
					"kmigrated%d", node->map.nid);
	if (IS_ERR(thread)) {
		kvfree(p);
		return PTR_ERR(thread);
	}
	kthread_affine_preferred(thread, cpus_near(node->map.nid));
	node->cursor = (struct pghot_cursor) {};
	node->kmigrated = get_task_struct(thread);
	node->pass = p;
	wake_up_process(thread);
	return 0;
}

/**
 * pghot_kmigrated_stop - stop the thread of a node
 * @node: the node
 *
 * What it has isolated is moved or put back first.
 *
 * Context: pghot_lock held.
 */
void pghot_kmigrated_stop(struct pghot_node *node)
{
	struct task_struct *thread = node->kmigrated;

	if (!thread)
		return;
	node->kmigrated = NULL;
	kthread_stop(thread);
	put_task_struct(thread);
	/* Not the thread's to free: one that is stopped at once never runs. */
	kvfree(node->pass);
	node->pass = NULL;
}
