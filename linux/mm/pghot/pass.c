// SPDX-License-Identifier: GPL-2.0
/*
 * A pass: which hot blocks of a node are looked at, in which order, and when
 * next. What becomes of each of their records is for ready.c.
 *
 * Blocks whose records all wait for targets that the promoter has closed are
 * held: passes go on without looking at them, and where all targets are closed
 * nothing is looked at. So what waits costs nothing while it waits.
 *
 * A pass may take long, as long as there is much to promote. Targets open meanwhile,
 * and what waits is swept. After half a window it ends, to go on from there, and sooner
 * where that gives another target its turn.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/workqueue.h>

#include "pass.h"

/* No folio is kept isolated for longer, for others to come that go to the same target. */
#define GATHERED_MS	10U

/**
 * pghot_pass_alloc - working memory for a node's thread
 * @node: the node
 *
 * Return: the memory, or NULL.
 */
struct pghot_pass *pghot_pass_alloc(struct pghot_node *node)
{
	struct pghot_pass *p = kvzalloc_flex(*p, place, nr_node_ids);
	unsigned int nid;

	if (!p)
		return NULL;
	p->promoter = pghot_promoter_alloc(node->map.nid);
	if (!p->promoter) {
		kvfree(p);
		return NULL;
	}
	p->promoter->told = true;
	p->node = node;
	for (nid = 0; nid < nr_node_ids; nid++)
		p->place[nid].most_class = PGHOT_CLASSES;
	p->turn = NUMA_NO_NODE;
	p->seek_ms = pghot_now_ms();
	p->sweep.all_ms = p->seek_ms;
	p->sweep.pages = 1;
	p->sweep.looks = 1;
	p->sweep.cleared[p->sweep.last].since_ms = p->seek_ms;
	nodes_clear(node->closed);
	node->strays_closed = false;
	node->all_closed = false;
	return p;
}

/**
 * pghot_pass_free - free what pghot_pass_alloc() gave
 * @p: the memory; may be NULL
 */
void pghot_pass_free(struct pghot_pass *p)
{
	if (!p)
		return;
	pghot_promoter_leave(p->promoter);
	kvfree(p->promoter);
	kvfree(p);
}

/**
 * pghot_pass_park - the node's thread is about to be parked
 * @p: the memory
 *
 * For how long nobody knows: what is closed now may take something then. And others
 * need not leave the node a share meanwhile.
 */
void pghot_pass_park(struct pghot_pass *p)
{
	pghot_promoter_from(p->promoter, p->node->map.nid);
	pghot_promoter_sum_up(p->promoter);
	pghot_ready_see(p, 0);
}

/*
 * Which classes go to a target at first: all, unless more is ready than it
 * takes. Some of what is ready may be for others; then a further round takes
 * the next class. A record stands for a folio: reckon with those of late.
 */
static u32 pass_lowest_class(struct pghot_pass *p, unsigned long pages)
{
	unsigned long hist[PGHOT_CLASSES];
	unsigned long budget;

	if (pages == ULONG_MAX)
		return 0;
	budget = max(pages / max(p->promoter->folio_pages, 1UL), 1UL);
	if (pghot_map_ready(&p->node->map, hist) <= budget)
		return 0;
	return pghot_min_class(hist, budget);
}

/* Open the targets whose time has come, and tell those who report. */
static void pass_open_targets(struct pghot_pass *p, bool anew)
{
	struct pghot_promoter *pr = p->promoter;
	unsigned int nid;

	for (nid = 0; nid < nr_node_ids; nid++) {
		struct pghot_dest *d = &pr->dest[nid];

		if (!pghot_promoter_open(pr, nid, anew))
			continue;
		p->place[nid].late = !anew;
		p->presses |= !anew && p->place[nid].from;
		pghot_tenants_begin(&d->tenants,
				    READ_ONCE(pghot_tunables.window_ms));
		if (d->closed == PGHOT_OPEN && pghot_may_promote_to(nid))
			d->min_class = min(pass_lowest_class(p, d->share.pages),
					   p->place[nid].most_class);
	}
	pghot_promoter_sum_up(pr);
	if (anew)
		pr->looked = pr->wanted;
	pghot_ready_see(p, 0);
	/*
	 * Pairs with the barrier in wake_kmigrated(): who still takes a target
	 * for closed has made the record visible that this pass looks for.
	 */
	smp_mb();
}

/* Where the pass begins: each target's turn comes, to go on from its refusal. */
static unsigned long pass_start(struct pghot_pass *p)
{
	int turn = p->turn;
	unsigned int i;

	p->turn = NUMA_NO_NODE;
	for (i = 1; i <= nr_node_ids; i++) {
		int nid = (turn + i) % nr_node_ids;
		struct pghot_place *place = &p->place[nid];

		if (place->open && place->from) {
			p->turn = nid;
			return place->from;
		}
	}
	return 0;
}

static bool pass_takes(const struct pghot_pass *p, u32 ms)
{
	return pghot_now_ms() - p->began_ms >= ms;
}

/*
 * The target that the pass goes by has closed, or there seems to be nothing for it, and
 * there is another to go by.
 */
static bool pass_lost_turn(const struct pghot_pass *p)
{
	unsigned int nid;

	if (p->turn == NUMA_NO_NODE)
		return false;
	if (p->place[p->turn].open &&
	    (p->promoter->dest[p->turn].taken ||
	     !pass_takes(p, pghot_sweep_half_ms() / 4)))
		return false;
	for (nid = 0; nid < nr_node_ids; nid++)
		if (nid != p->turn && p->place[nid].open && p->place[nid].from)
			return true;
	return false;
}

/*
 * There is more to come, but others are to have their turn: those that were opened
 * meanwhile after an eighth of a window. To go round the node for the next class takes
 * less, where little is promoted.
 */
static bool pass_is_long(const struct pghot_pass *p)
{
	u32 half = pghot_sweep_half_ms();

	return pass_takes(p, p->presses ? half / 4 : half);
}

static bool pass_over(struct pghot_pass *p)
{
	if (p->promoter->all_closed || p->no_target || pghot_pass_called_off())
		return true;
	p->cut = pass_is_long(p) || pass_lost_turn(p);
	return p->cut;
}

/*
 * The targets that this pass is for go on from that page when their turn comes. Who got
 * nothing takes the next class, from where it began: it may never be gone round for
 * that.
 */
static void pass_ends_at(struct pghot_pass *p, unsigned long pfn)
{
	unsigned int nid;

	for (nid = 0; nid < nr_node_ids; nid++) {
		struct pghot_dest *d = &p->promoter->dest[nid];
		struct pghot_place *place = &p->place[nid];

		if (!place->open || !pghot_may_promote_to(nid))
			continue;
		if (!place->from || (nid == p->turn && (d->taken || !d->min_class)))
			place->from = pfn;
		if (d->taken)
			place->most_class = PGHOT_CLASSES;
		else if (d->min_class)
			place->most_class = d->min_class - 1;
		/* The pass met nothing for it, and other nodes may wait for what it takes. */
		else if (!place->late)
			pghot_promoter_unclaim(p->promoter, nid);
	}
}

/*
 * Does any record wait that may go stale: one that is not ready again with the next read. Who
 * holds a page for long is no reason to look at what waits, or to take a burst for more of it.
 */
static bool pass_is_waited(const struct pghot_pass *p, unsigned int held)
{
	return pghot_map_ready(&p->node->map, NULL) > held;
}

/* What is to be done however long a pass takes. The walk stands still for it. */
static void pass_between(struct pghot_pass *p, struct pghot_cursor *c)
{
	bool opens = !p->promoter->all_closed && pghot_promoter_opens(p->promoter);
	unsigned int held = max(p->nr_held, p->promoter->nr_held);
	bool sweep = pghot_sweep_presses(p) &&
		     (p->sweep.on || p->waiting || pass_is_waited(p, held));

	if (pghot_now_ms() - p->flushed_ms >= GATHERED_MS) {
		pghot_batch_flush_all(p->promoter);
		p->flushed_ms = pghot_now_ms();
	}
	if (!opens && !sweep)
		return;
	pghot_map_stop(&pghot_map, c);
	if (sweep) {
		/* If only for its turn in this pass. */
		p->waiting = true;
		pghot_sweep(p);
	}
	if (opens)
		pass_open_targets(p, false);
}

/* Records before page @from are for the end of the round. */
static void pass_block(struct pghot_pass *p, unsigned long pfn,
		       unsigned long from)
{
	unsigned int i = 0, n;
	bool more = false;

	/* The time of each block: a pass may be longer than a bucket. */
	n = pghot_map_collect(&pghot_map, pfn, p->promoter->min_class,
			      pghot_now_ms(), &pghot_tunables, p->entries,
			      &more);
	while (i < n && p->entries[i].pfn < from)
		i++;
	p->left_out |= more;
	p->again = more || i;
	p->waits = 0;
	for (; i < n && !p->promoter->all_closed && !p->no_target; i++)
		pghot_ready_consider(p, &p->entries[i]);
	pghot_ready_settle(p);
	if (p->again || i < n) {
		pghot_map_mark(&pghot_map, pfn);
		p->left = true;
		/* It is to be met first when room is kept for it, whoever is beside it. */
		p->waits &= PGHOT_WAIT_LARGE;
	}
	if (p->waits)
		pghot_map_hold(&pghot_map, pfn, p->waits);
}

/*
 * Look at the blocks from page @from to before @to. Return false if that was
 * broken off.
 */
static bool pass_walk(struct pghot_pass *p, unsigned long from, unsigned long to)
{
	struct pghot_cursor c = {
		.section = pfn_to_section_nr(from),
		.block = from % PAGES_PER_SECTION >> PGHOT_BLOCK_ORDER,
		.held_only = p->promoter->large,
	};
	unsigned long pfn;

	for (;;) {
		c.wanted = p->promoter->wanted;
		if (p->promoter->large)
			c.wanted &= PGHOT_WAIT_LARGE;
		if (!pghot_map_next_block(&pghot_map, &p->node->map, &c, &pfn))
			return true;
		if (pfn >= to) {
			pghot_map_mark(&pghot_map, pfn);
			pghot_map_stop(&pghot_map, &c);
			return true;
		}
		pass_block(p, pfn, from);
		/*
		 * One look, and those who waited for a page may just have been woken.
		 * But a wrong one lasts no longer than until the next block, which a
		 * thread that is behind looks at some milliseconds later.
		 */
		WRITE_ONCE(p->node->crowded, cpu_is_contended());
		pass_between(p, &c);
		if (pass_over(p)) {
			if (p->cut && !p->promoter->large)
				pass_ends_at(p, pfn + PGHOT_BLOCK_PAGES);
			pghot_map_stop(&pghot_map, &c);
			return false;
		}
		cond_resched();
	}
}

/*
 * Large folios that wait for memory in one piece: it is kept for them. Others that are held
 * with them are left for the round.
 */
static bool pass_large(struct pghot_pass *p)
{
	bool whole;

	p->promoter->large = true;
	whole = pass_walk(p, 0, ULONG_MAX);
	p->promoter->large = false;
	return whole;
}

/* Let the next class go to the targets that can take it. Return if there is. */
static bool pass_next_class(struct pghot_pass *p)
{
	bool any = false;
	unsigned int nid;

	for (nid = 0; nid < nr_node_ids; nid++) {
		struct pghot_dest *d = &p->promoter->dest[nid];

		if (d->closed == PGHOT_OPEN && d->min_class) {
			d->min_class--;
			any = true;
		}
	}
	pghot_promoter_sum_up(p->promoter);
	return any;
}

/* Go round the node, hottest first. Return false if that was broken off. */
static bool pass_rounds(struct pghot_pass *p)
{
	unsigned long start = pass_start(p);

	if (pghot_promoter_large_first(p->promoter) && !pass_large(p))
		return false;
	p->promoter->nr_held = 0;
	pghot_seek(p);
	do {
		/* Those that this round meets: it may meet them all again. */
		p->promoter->nr_held = 0;
		p->left = false;
		p->left_out = false;
		if (!pass_walk(p, start, ULONG_MAX) || (start && !pass_walk(p, 0, start)))
			return false;
	} while (p->left_out && pass_next_class(p));
	return true;
}

/*
 * Targets that took all that there was for them. Behind the pass there may be something
 * for those that were opened meanwhile: a record that became ready for a closed one has
 * woken nobody.
 */
static void pass_satisfied(struct pghot_pass *p)
{
	unsigned int nid;

	for (nid = 0; nid < nr_node_ids; nid++) {
		p->place[nid].most_class = PGHOT_CLASSES;
		p->cut |= p->place[nid].late;
		if (p->place[nid].open && !p->place[nid].late)
			p->place[nid].from = 0;
	}
	pghot_promoter_satisfied(p->promoter);
}

static void pass_drain_all(struct work_struct *work)
{
	lru_add_drain_all();
}

static DECLARE_WORK(drain_work, pass_drain_all);

/*
 * Folios that were read, faulted in or put back wait in a list of their CPU to be put
 * on an LRU list, until there are some more. Where there never are, they could wait for
 * ever, and the hottest of them for nothing. To put them there waits for each CPU that
 * has some, be it one that does nothing but poll: promotion does not.
 */
static void pass_drain(struct pghot_pass *p)
{
	if (!p->promoter->drain ||
	    pghot_now_ms() - p->drained_ms < READ_ONCE(pghot_tunables.window_ms))
		return;
	queue_work(system_dfl_wq, &drain_work);
	p->promoter->drain = false;
	p->drained_ms = pghot_now_ms();
}

/* When the next pass is due, though nothing more becomes ready. */
static u32 pass_due_ms(struct pghot_pass *p)
{
	u32 due = pghot_promoter_due_ms(p->promoter);

	if (p->left)
		due = min(due, READ_ONCE(pghot_period_ms));
	p->nr_held = p->promoter->nr_held;
	p->waiting = due != U32_MAX && pass_is_waited(p, p->nr_held);
	return p->cut ? 0 : min(due, pghot_sweep_due_ms(p));
}

/**
 * pghot_pass_run - promote what is ready on a node
 * @p: the node's thread's working memory
 *
 * Looks once at each hot block, and at those that are held for a target that is
 * open now, from where the target whose turn it is was refused first. Ends early
 * when all targets are closed, and after half a window. What waits is swept before,
 * and meanwhile.
 *
 * Return: for how many milliseconds there is nothing to do, unless a record
 *	   becomes ready for a target that is not in the node's @closed; 0 if the
 *	   next pass is due, U32_MAX for never.
 */
u32 pghot_pass_run(struct pghot_pass *p)
{
	p->no_target = false;
	p->cut = false;
	p->presses = false;
	p->promoter->nr_held = 0;
	p->began_ms = pghot_now_ms();
	p->flushed_ms = p->began_ms;
	if (!p->waiting)
		p->sweep.calm_ms = p->began_ms;
	pghot_sweep(p);
	pass_open_targets(p, true);
	if (p->promoter->all_closed)
		return pass_due_ms(p);
	if (pass_rounds(p))
		pass_satisfied(p);
	else if (!p->promoter->all_closed)
		p->left = true;

	pghot_batch_flush_all(p->promoter);
	pghot_offers_end(p->promoter);
	pghot_ready_settle(p);
	pass_drain(p);
	return pass_due_ms(p);
}
