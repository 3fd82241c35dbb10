// SPDX-License-Identifier: GPL-2.0
/*
 * A pass: which hot blocks of a node are looked at, in which order, and when
 * next. What becomes of each of their records is for promote.c.
 *
 * A target that has no room or no tokens, or gave this node its share of them,
 * is closed for some time. Blocks whose records all wait for closed targets are
 * held: passes go on without looking at them, and where all targets are closed
 * nothing is looked at. So what waits costs nothing while it waits.
 */
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "pass.h"

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
	p->turn = NUMA_NO_NODE;
	p->swept_ms = pghot_now_ms();
	p->folio_pages = 1;
	for (nid = 0; nid < nr_node_ids; nid++) {
		INIT_LIST_HEAD(&p->batch[nid].folios);
		p->batch[nid].closed = PGHOT_NOT_CLOSED;
	}
	nodes_clear(node->closed);
	node->all_closed = false;
	return p;
}

/**
 * pghot_pass_free - free what pghot_pass_alloc() gave
 * @p: the memory; may be NULL
 */
void pghot_pass_free(struct pghot_pass *p)
{
	unsigned int nid;

	if (!p)
		return;
	for (nid = 0; nid < nr_node_ids; nid++)
		pghot_target_claim(nid, p->node->map.nid, false);
	kvfree(p);
}

static bool called_off(void)
{
	return kthread_should_stop() || kthread_should_park() ||
	       freezing(current);
}

/*
 * Which classes go to a target at first: all, unless more is ready than it
 * takes. Some of what is ready may be for others; then a further round takes
 * the next class. A record stands for a folio: reckon with those of late.
 */
static u32 lowest_class(struct pghot_pass *p, unsigned long pages)
{
	unsigned long hist[PGHOT_CLASSES];
	unsigned long budget;

	if (pages == ULONG_MAX)
		return 0;
	budget = max(pages / max(p->folio_pages, 1UL), 1UL);
	if (pghot_map_ready(&p->node->map, hist) <= budget)
		return 0;
	return pghot_min_class(hist, budget);
}

/* Open the targets whose time has come, and tell those who report. */
static void open_targets(struct pghot_pass *p, u32 now)
{
	unsigned int nid;

	for (nid = 0; nid < nr_node_ids; nid++) {
		struct pghot_batch *b = &p->batch[nid];
		bool target = pghot_may_promote_to(nid);

		b->min_class = 0;
		b->taken = 0;
		if (b->closed != PGHOT_NOT_CLOSED) {
			if (target && (s32)(b->until_ms - now) > 0)
				continue;
			b->closed = PGHOT_NOT_CLOSED;
			node_clear(nid, p->node->closed);
		}
		if (target) {
			pghot_target_share(nid, p->node->map.nid, &b->share);
			b->min_class = lowest_class(p, b->share.pages);
		}
	}
	pghot_pass_sum_up(p);
	/*
	 * Pairs with the barrier in wake_kmigrated(): who still takes a target
	 * for closed has made the record visible that this pass looks for.
	 */
	smp_mb();
}

/* Where the pass begins: each target's turn comes, to go on from its refusal. */
static unsigned long choose_start(struct pghot_pass *p)
{
	int turn = p->turn;
	unsigned int i;

	p->turn = NUMA_NO_NODE;
	for (i = 1; i <= nr_node_ids; i++) {
		int nid = (turn + i) % nr_node_ids;
		struct pghot_batch *b = &p->batch[nid];

		if (b->closed == PGHOT_NOT_CLOSED && b->from) {
			p->turn = nid;
			return b->from;
		}
	}
	return 0;
}

/* What went cold while it waited is dropped, though nobody looks at it. */
static void sweep(struct pghot_pass *p, u32 now)
{
	struct pghot_cursor c = {};
	unsigned long pfn;

	if (now - p->swept_ms < READ_ONCE(pghot_tunables.window_ms))
		return;
	p->swept_ms = now;
	while (pghot_map_peek_block(&pghot_map, &p->node->map, &c, &pfn) &&
	       !called_off()) {
		unsigned int i, n;
		bool more;

		n = pghot_map_collect(&pghot_map, pfn, PGHOT_CLASSES,
				      pghot_now_ms(), &pghot_tunables,
				      p->entries, &more);
		for (i = 0; i < n; i++)
			pghot_pass_drop_stale(&p->entries[i]);
		cond_resched();
	}
}

static bool over(struct pghot_pass *p)
{
	return p->all_closed || p->no_target || called_off();
}

/* Records before page @from are for the end of the round. */
static void one_block(struct pghot_pass *p, unsigned long pfn,
		      unsigned long from)
{
	unsigned int i = 0, n;
	bool more = false;

	/* The time of each block: a pass may be longer than a bucket. */
	n = pghot_map_collect(&pghot_map, pfn, p->min_class, pghot_now_ms(),
			      &pghot_tunables, p->entries, &more);
	while (i < n && p->entries[i].pfn < from)
		i++;
	p->left_out |= more;
	p->again = more || i;
	p->waits = 0;
	for (; i < n && !p->all_closed && !p->no_target; i++)
		pghot_pass_consider(p, &p->entries[i]);
	if (p->again || i < n) {
		pghot_map_mark(&pghot_map, pfn);
		p->left = true;
	} else if (p->waits) {
		pghot_map_hold(&pghot_map, pfn, p->waits);
	}
}

/*
 * Look at the blocks from page @from to before @to. Return false if that was
 * broken off.
 */
static bool walk(struct pghot_pass *p, unsigned long from, unsigned long to)
{
	struct pghot_cursor c = {
		.section = pfn_to_section_nr(from),
		.block = from % PAGES_PER_SECTION >> PGHOT_BLOCK_ORDER,
	};
	unsigned long pfn;

	for (;;) {
		c.wanted = p->wanted;
		if (!pghot_map_next_block(&pghot_map, &p->node->map, &c, &pfn))
			return true;
		if (pfn >= to) {
			pghot_map_mark(&pghot_map, pfn);
			pghot_map_stop(&pghot_map, &c);
			return true;
		}
		one_block(p, pfn, from);
		if (over(p)) {
			pghot_map_stop(&pghot_map, &c);
			return false;
		}
		cond_resched();
	}
}

/* Let the next class go to the targets that can take it. Return if there is. */
static bool next_class(struct pghot_pass *p)
{
	bool any = false;
	unsigned int nid;

	for (nid = 0; nid < nr_node_ids; nid++) {
		struct pghot_batch *b = &p->batch[nid];

		if (b->closed == PGHOT_NOT_CLOSED && b->min_class) {
			b->min_class--;
			any = true;
		}
	}
	pghot_pass_sum_up(p);
	return any;
}

/* Go round the node, hottest first. Return false if that was broken off. */
static bool rounds(struct pghot_pass *p)
{
	unsigned long start = choose_start(p);

	do {
		p->left = false;
		p->left_out = false;
		if (!walk(p, start, ULONG_MAX) || (start && !walk(p, 0, start)))
			return false;
	} while (p->left_out && next_class(p));
	return true;
}

/* Targets that took all that there was for them. */
static void note_satisfied(struct pghot_pass *p)
{
	unsigned int nid;

	for (nid = 0; nid < nr_node_ids; nid++) {
		struct pghot_batch *b = &p->batch[nid];

		if (b->closed != PGHOT_NOT_CLOSED)
			continue;
		b->from = 0;
		pghot_target_claim(nid, p->node->map.nid, false);
	}
}

/* When the next pass is due, though nothing more becomes ready. */
static u32 due_ms(struct pghot_pass *p)
{
	u32 window = READ_ONCE(pghot_tunables.window_ms);
	u32 now = pghot_now_ms(), due = U32_MAX;
	unsigned int nid;

	if (p->left)
		due = READ_ONCE(pghot_period_ms);
	for (nid = 0; nid < nr_node_ids; nid++) {
		struct pghot_batch *b = &p->batch[nid];

		if (b->closed != PGHOT_NOT_CLOSED)
			due = min(due, (u32)max((s32)(b->until_ms - now), 1));
	}
	if (due == U32_MAX)
		return due;
	/* Something waits: it may go stale. */
	return min(due, window - min(now - p->swept_ms, window - 1));
}

/**
 * pghot_pass_run - promote what is ready on a node
 * @p: the node's thread's working memory
 *
 * Looks once at each hot block, and at those that are held for a target that is
 * open now, from where the target whose turn it is was refused first. Ends early
 * when all targets are closed. Once in a window it drops what is stale, waiting
 * or not.
 *
 * Return: for how many milliseconds there is nothing to do, unless a record
 *	   becomes ready for a target that is not in the node's @closed;
 *	   U32_MAX for ever.
 */
u32 pghot_pass_run(struct pghot_pass *p)
{
	u32 now = pghot_now_ms();
	unsigned int nid;

	p->no_target = false;
	sweep(p, now);
	open_targets(p, now);
	if (p->all_closed)
		return due_ms(p);
	if (rounds(p))
		note_satisfied(p);
	else if (!p->all_closed)
		p->left = true;

	/* All of them: a target may have lost its memory meanwhile. */
	for (nid = 0; nid < nr_node_ids; nid++)
		pghot_pass_flush(p, nid);
	return due_ms(p);
}
