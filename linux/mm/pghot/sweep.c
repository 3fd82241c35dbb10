// SPDX-License-Identifier: GPL-2.0
/*
 * What waits is looked at from time to time: what is still in use stays ready,
 * what went cold is dropped.
 *
 * A hint fault is reported once, and the page's next one comes when it was
 * scanned again. A page that waits for longer than the window would be cold by
 * its record, however much it is used. The page tables know better.
 *
 * But an accessed bit that is set proves an access since it was cleared, and no
 * more; that may be hours ago. So each sweep clears the bits of all that waits,
 * and a bit that is set when it comes again, or when the page's turn comes in
 * between, proves an access since the sweep before. The record is given the time
 * of that sweep: the access was later. So whatever is promoted was accessed in
 * the last window, and not at some time while it waited.
 *
 * Sweeps are half a window apart. Were they a window apart, what one finds out
 * would be stale by then.
 */
#include <linux/mm.h>
#include <linux/sched.h>

#include "pass.h"
#include "stat.h"

/*
 * How many page table entries may be looked at per millisecond. At some 1 us each
 * that takes 1% of a CPU. In a window of 4 s it is each of 20,000 pages twice;
 * those beyond go cold by their records.
 */
#define LOOKS_PER_MS	10U

static unsigned int missed_bit(unsigned long pfn)
{
	return pfn % PGHOT_MISSED_BITS;
}

/* Did the last sweep clear the page's bits, if its record is older than that? */
static bool sweep_cleared(const struct pghot_pass *p, unsigned long pfn)
{
	return pfn < p->cleared.end &&
	       !test_bit(missed_bit(pfn), p->cleared.missed);
}

/* Return true if all of the page's bits are clear now. */
static bool sweep_look(struct pghot_pass *p, unsigned long pfn,
		       unsigned int *left, bool *accessed)
{
	enum pghot_verdict unused;
	struct folio *folio = pghot_tracked_folio(pfn, &p->node->map, &unused);
	bool cleared;

	*accessed = false;
	if (!folio)
		return false;
	cleared = pghot_clear_accessed(folio, left, accessed);
	folio_put(folio);
	return cleared;
}

/* The page was accessed since the last sweep. */
static void sweep_renew(struct pghot_pass *p, struct pghot_entry *e)
{
	if (pghot_map_renew(&pghot_map, e, p->cleared.since_ms, pghot_now_ms(),
			    &pghot_tunables))
		pghot_stat_add(PGHOT_STAT_refreshed, 1);
}

/**
 * pghot_sweep_ask - a stale record's turn has come: is its page in use
 * @p: the pass
 * @e: the record; @hot if so
 *
 * Of what the last sweep has looked at each is asked for once at most: it is
 * renewed then, or dropped.
 */
void pghot_sweep_ask(struct pghot_pass *p, struct pghot_entry *e)
{
	unsigned int left = PGHOT_OWNERS_MAX;
	bool accessed;

	if (!sweep_cleared(p, e->pfn))
		return;
	sweep_look(p, e->pfn, &left, &accessed);
	if (accessed)
		sweep_renew(p, e);
}

static void sweep_record(struct pghot_pass *p, struct pghot_entry *e,
			 struct pghot_cleared *cleared, unsigned int *left)
{
	bool accessed;

	if (*left) {
		if (!sweep_look(p, e->pfn, left, &accessed))
			set_bit(missed_bit(e->pfn), cleared->missed);
		cleared->end = e->pfn + 1;
		if (accessed && sweep_cleared(p, e->pfn))
			sweep_renew(p, e);
	}
	if (!e->hot)
		pghot_ready_drop_stale(e);
}

/**
 * pghot_sweep - look at what waits, if it is time
 * @p: the pass
 *
 * Every other time all ready records are gone through, to drop what is stale. In
 * between, and where nothing waits, that is not worth it.
 */
void pghot_sweep(struct pghot_pass *p)
{
	u32 now = pghot_now_ms(), window = READ_ONCE(pghot_tunables.window_ms);
	unsigned int left = p->waiting ? window / 2 * LOOKS_PER_MS : 0;
	struct pghot_cleared cleared = { .since_ms = now };
	bool all = now - p->swept_ms >= window;
	struct pghot_cursor c = {};
	unsigned long pfn;

	if (now - p->cleared.since_ms < window / 2 || (!all && !left))
		return;
	while ((all || left) && !pghot_pass_called_off() &&
	       pghot_map_peek_block(&pghot_map, &p->node->map, &c, &pfn)) {
		unsigned int i, n;
		bool more;

		/* Of any class, or of none that is still hot. */
		n = pghot_map_collect(&pghot_map, pfn, left ? 0 : PGHOT_CLASSES,
				      pghot_now_ms(), &pghot_tunables,
				      p->entries, &more);
		for (i = 0; i < n; i++)
			sweep_record(p, &p->entries[i], &cleared, &left);
		cond_resched();
	}
	p->cleared = cleared;
	if (all)
		p->swept_ms = now;
}

/**
 * pghot_sweep_due_ms - when something that waits is to be looked at again
 * @p: the pass
 *
 * Return: in how many milliseconds, at least 1.
 */
u32 pghot_sweep_due_ms(const struct pghot_pass *p)
{
	u32 half = READ_ONCE(pghot_tunables.window_ms) / 2;

	return half - min(pghot_now_ms() - p->cleared.since_ms, half - 1);
}
