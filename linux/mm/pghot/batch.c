// SPDX-License-Identifier: GPL-2.0
/*
 * Batches: folios that were isolated for a target are moved together, and what
 * did not move is settled with whoever offered it, paid for it and is billed.
 */
#include <linux/math.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/sched/cputime.h>
#include <linux/swap.h>

#include "stat.h"

#include <trace/events/pghot.h>

#include "../internal.h"
#include "promoter.h"

/**
 * pghot_batch_add - add an isolated folio
 * @b: the batch
 * @folio: the folio
 * @paid: pages that tokens were taken for
 */
void pghot_batch_add(struct pghot_batch *b, struct folio *folio,
		     unsigned long paid)
{
	list_add_tail(&folio->lru, &b->folios);
	pghot_bill_add(&b->bill, folio);
	b->order = folio_order(folio);
	b->nr_folios++;
	b->nr_pages += folio_nr_pages(folio);
	b->nr_paid += paid;
}

/*
 * How many folios the pages that stayed make up. One may have been split on its
 * way and part of it moved, but it counts as one.
 */
static unsigned long batch_failed_folios(const struct pghot_batch *b,
					 unsigned long stayed)
{
	return min(DIV_ROUND_CLOSEST(stayed, b->nr_pages / b->nr_folios),
		   b->nr_folios);
}

/**
 * pghot_batch_flush - move what is gathered for a target
 * @p: the promoter
 * @nid: the target
 */
void pghot_batch_flush(struct pghot_promoter *p, int nid)
{
	struct pghot_target *target = pghot_target(nid);
	struct pghot_batch *b = &p->dest[nid].batch;
	unsigned long stayed, failed, counted;
	struct pghot_node *node;
	unsigned int moved;
	bool left;
	u64 start;

	if (!b->nr_folios)
		return;
	/* Not before: one for all nodes that was offered nothing is at none. */
	node = pghot_node(p->src);
	start = task_sched_runtime(current);
	left = migrate_misplaced_folios(&b->folios, nid, true, &moved);
	/*
	 * What stayed went to this CPU's list of folios to be put on the LRU.
	 * As long as it is there it cannot be isolated again, and hardly
	 * anything else than this thread fills the list.
	 */
	if (left)
		lru_add_drain();
	pghot_bill_settle(&b->bill, task_sched_runtime(current) - start);
	stayed = b->nr_pages - min_t(unsigned long, b->nr_pages, moved);
	failed = batch_failed_folios(b, stayed);
	counted = min(failed, b->nr_counted);

	p->nr_moved += b->nr_counted - counted;
	p->nr_failed += counted;
	p->pages_moved += moved;
	p->pages_failed += stayed;
	pghot_stat_add(PGHOT_STAT_batches, 1);
	pghot_stat_add(PGHOT_STAT_promoted_pages, moved);
	if (node)
		atomic_long_add(moved, &node->promoted);
	if (target)
		atomic_long_add(moved, &target->promoted);
	/* What moved for nothing, while there was plenty, owes nothing. */
	if (b->nr_paid > moved)
		pghot_return_tokens(nid, p->src, b->nr_paid - moved);
	trace_pghot_batch(p->src, nid, b->nr_folios, failed, moved);

	p->folio_pages = b->nr_pages / b->nr_folios;
	b->nr_folios = 0;
	b->nr_counted = 0;
	b->nr_pages = 0;
	b->nr_paid = 0;
}

/**
 * pghot_batch_flush_all - move all that is gathered, and ask what is to be asked
 * @p: the promoter
 *
 * For all nodes: a target may have lost its memory meanwhile.
 */
void pghot_batch_flush_all(struct pghot_promoter *p)
{
	unsigned int nid;

	for (nid = 0; nid < nr_node_ids; nid++)
		pghot_batch_flush(p, nid);
	pghot_ask_flush(&p->ask);
}
