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
 * and a bit that is set when the next one comes, or when the page's turn comes in
 * between, proves an access since the sweep before. The record is given the time
 * when that sweep began: each bit was cleared then or later, and the access was
 * later still. So whatever is promoted was accessed in the last window, and not
 * at some time while it waited.
 *
 * Sweeps begin half a window apart, and by the clock of the records: what one finds
 * out is stale when the next but one begins, and not some time before, when nobody
 * would have looked for long enough. A sweep is made in slices, with promotion in
 * between. While it lasts, what is known is known from the sweep before: a page that
 * this one has looked at already was cleared by it only later.
 *
 * Where more waits than may be looked at, it is sampled by a hash of the PFN. The
 * same pages are looked at each time, as one look alone proves nothing; where more
 * may be looked at, others are added. Each tenant keeps the same part of what it
 * has waiting, wherever in memory that is. To look first at what goes next would
 * keep as much, but by its place: that of one tenant.
 */
#include <linux/hash.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "pass.h"

/*
 * How many page table entries may be looked at per millisecond. At some 1 us each
 * that takes 1% of a CPU. In a window of 4 s it is each of nearly 20,000 pages
 * twice; those beyond go cold by their records.
 *
 * But where so much was found at once that moving it takes longer than the window,
 * the last of it would be dropped, in use as it is, and found again much later. So
 * each folio that moves pays for others that wait: for as many as move in a window,
 * which has two sweeps, and half as many beside, which may be in use no more. That
 * takes some 3/8 of what moving takes.
 */
#define LOOKS_PER_MS	10U
#define LOOKS_PER_MOVED	3U
/* How fast they move is known of so many parts of half a window. */
#define SWEEP_PARTS	4UL

/*
 * So much is done before those have their turn whose target is open: some 1 ms, or
 * as much more as the time asks for. A last folio may have %PGHOT_OWNERS_MAX entries
 * more.
 */
#define SLICE_LOOKS	1000UL
#define SLICE_BLOCKS	256UL

/* No longer than that is promoted in between. */
#define SLICE_APART_MS	10U

/* What pages took in the last sweep counts as much as so many do of this one. */
#define FORMER_PAGES	16UL

/**
 * pghot_sweep_half_ms - half of the window
 *
 * In buckets of the record's clock, however the window is divided.
 *
 * Return: milliseconds, at least 2.
 */
u32 pghot_sweep_half_ms(void)
{
	const struct pghot_layout *l = pghot_map_layout(&pghot_map);

	return pghot_bucket_ms(l, READ_ONCE(pghot_tunables.window_ms)) *
	       (l->window_buckets / 2);
}

/*
 * What moves in half a window. Most waits when much was found at once where nothing had waited
 * before. When the next sweep comes soon after, more waits than what has moved by then pays
 * for, and what it leaves out would be stale by the sweep after it: for a window it is reckoned
 * with what moves as fast as it did at most. Of what waits for room that would be too much.
 */
static unsigned long sweep_moves(const struct pghot_sweep *s)
{
	bool begun = pghot_now_ms() - s->calm_ms < 2 * pghot_sweep_half_ms();

	return begun ? max(s->nr_moved, SWEEP_PARTS * s->part_most) : s->nr_moved;
}

static unsigned int sweep_looks(const struct pghot_sweep *s)
{
	unsigned long looks = READ_ONCE(pghot_tunables.window_ms) / 2 *
			      LOOKS_PER_MS;

	return min_t(unsigned long, looks + LOOKS_PER_MOVED * sweep_moves(s),
		     U32_MAX);
}

/*
 * Of what is looked at in a whole sweep, the part that the time since the last slice
 * asks for: however rarely slices come, a sweep is to take an eighth of a window. One
 * that took a quarter would find out what is stale by then.
 */
static unsigned long sweep_slice_part(unsigned long all, u32 since_ms)
{
	u32 time = max(pghot_sweep_half_ms() / 4, 1U);

	return all * min(since_ms, time) / time;
}

static unsigned long sweep_slice_blocks(const struct pghot_map_node *node, u32 since_ms)
{
	unsigned long blocks = READ_ONCE(node->sections) *
			       (PAGES_PER_SECTION >> PGHOT_BLOCK_ORDER);

	return max(sweep_slice_part(blocks, since_ms), SLICE_BLOCKS);
}

static u32 sweep_hash(unsigned long pfn)
{
	return hash_64(pfn, 32);
}

/* The high bits say whether a page is looked at: those that are have them alike. */
static unsigned int sweep_missed_bit(u32 hash)
{
	return hash % PGHOT_MISSED_BITS;
}

/* Is the page one of those that the sweep looks at? */
static bool sweep_covers(const struct pghot_cleared *c, unsigned long pfn)
{
	return pfn < c->end && sweep_hash(pfn) <= c->limit;
}

/* Did the last sweep clear the page's bits, if its record is older than that? */
static bool sweep_cleared(const struct pghot_pass *p, unsigned long pfn)
{
	const struct pghot_cleared *last = &p->sweep.cleared[p->sweep.last];

	return sweep_covers(last, pfn) &&
	       !test_bit(sweep_missed_bit(sweep_hash(pfn)), last->missed);
}

/* Take the record, unless it has changed meanwhile. */
static bool sweep_drop_stale(struct pghot_entry *e)
{
	if (!pghot_map_take_seen(&pghot_map, e))
		return false;
	pghot_count_skip(e, PGHOT_STAT_skip_stale);
	return true;
}

static void sweep_drop_gone(struct pghot_entry *e)
{
	if (pghot_map_take(&pghot_map, e->pfn))
		pghot_count_skip(e, PGHOT_STAT_skip_gone);
}

/*
 * Was the page accessed, since somebody last looked? Return false if there is no
 * such page any more; then there is no record either.
 */
static bool sweep_look(struct pghot_pass *p, struct pghot_entry *e,
		       unsigned int *left, enum pghot_accessed *accessed)
{
	enum pghot_verdict verdict;
	struct folio *folio = pghot_tracked_folio(e->pfn, &p->node->map, &verdict);

	*accessed = PGHOT_ACCESS_UNKNOWN;
	if (folio) {
		*accessed = pghot_clear_accessed(folio, left);
		folio_put(folio);
		return true;
	}
	*left -= 1;
	if (verdict != PGHOT_GONE)
		return true;
	sweep_drop_gone(e);
	return false;
}

/* The page was accessed since the last sweep. */
static void sweep_renew(struct pghot_pass *p, struct pghot_entry *e)
{
	if (pghot_map_renew(&pghot_map, e,
			    p->sweep.cleared[p->sweep.last].since_ms,
			    pghot_now_ms(), &pghot_tunables))
		pghot_stat_add(PGHOT_STAT_refreshed, 1);
}

/* Did the last sweep clear its bits less than a quarter of a window ago? */
static bool sweep_cleared_lately(const struct pghot_sweep *s)
{
	return pghot_now_ms() - s->cleared[s->last].ended_ms <
	       pghot_sweep_half_ms() / 2;
}

/**
 * pghot_sweep_ask - a stale record's turn has come: is its page in use
 * @p: the pass
 * @e: the record; @hot if so
 *
 * Of what the last sweep has looked at each is asked for once at most: it is
 * renewed then, or dropped. But where its bits were cleared a short time ago, that
 * nobody has come says nothing, nor where they cannot be looked at just now.
 *
 * Return: true if the record is gone. If it is neither hot nor gone, it has
 *	   changed meanwhile or nothing is known, and is to be looked at again.
 */
bool pghot_sweep_ask(struct pghot_pass *p, struct pghot_entry *e)
{
	unsigned int left = PGHOT_OWNERS_MAX;
	enum pghot_accessed accessed;

	if (sweep_cleared(p, e->pfn)) {
		/* Or one that is on has, and decided. */
		if ((p->sweep.on && e->pfn < p->sweep.next) ||
		    sweep_cleared_lately(&p->sweep))
			return false;
		if (!sweep_look(p, e, &left, &accessed))
			return true;
		if (accessed == PGHOT_ACCESSED)
			sweep_renew(p, e);
		else if (accessed == PGHOT_ACCESS_UNKNOWN)
			return false;
	}
	return !e->hot && sweep_drop_stale(e);
}

/* Return how many looks it took. */
static unsigned int sweep_record(struct pghot_pass *p, struct pghot_entry *e,
				 struct pghot_cleared *now)
{
	bool cleared = sweep_cleared(p, e->pfn);
	unsigned int left = PGHOT_OWNERS_MAX;
	enum pghot_accessed accessed;

	if (sweep_covers(now, e->pfn)) {
		if (!sweep_look(p, e, &left, &accessed))
			return PGHOT_OWNERS_MAX - left;
		if (accessed == PGHOT_ACCESS_UNKNOWN)
			__set_bit(sweep_missed_bit(sweep_hash(e->pfn)), now->missed);
		else if (accessed == PGHOT_ACCESSED && cleared)
			sweep_renew(p, e);
	}
	/* Nobody came for so short a time says nothing: the next one asks again. */
	if (!e->hot && !(cleared && sweep_cleared_lately(&p->sweep)))
		sweep_drop_stale(e);
	return PGHOT_OWNERS_MAX - left;
}

/* Return false if the slice was used up before the block. */
static bool sweep_block(struct pghot_pass *p, unsigned long pfn,
			unsigned int *slice)
{
	struct pghot_sweep *s = &p->sweep;
	struct pghot_cleared *now = &s->cleared[!s->last];
	unsigned int i, n;
	bool more;

	/* Of any class, or of none that is still hot. */
	n = pghot_map_collect(&pghot_map, pfn, s->left ? 0 : PGHOT_CLASSES,
			      pghot_now_ms(), &pghot_tunables, p->entries,
			      &more);
	for (i = 0; i < n; i++) {
		struct pghot_entry *e = &p->entries[i];
		unsigned int looks;

		if (e->pfn < s->next)
			continue;
		if (!*slice) {
			s->next = e->pfn;
			return false;
		}
		looks = sweep_record(p, e, now);
		if (!looks)
			continue;
		s->pages++;
		s->looks += looks;
		*slice -= min(*slice, looks);
		s->left -= min(s->left, looks);
		if (!s->left)
			now->end = e->pfn + 1;
	}
	s->next = pfn + PGHOT_BLOCK_PAGES;
	return true;
}

/*
 * Up to which hash pages are looked at, so that it is about as many as may be.
 * What a page takes is known from those before; what is left to the end is for
 * some that take more. It is never raised while a sweep lasts: what was left out
 * then would be taken for cleared.
 */
static void sweep_set_limit(struct pghot_pass *p)
{
	struct pghot_sweep *s = &p->sweep;
	struct pghot_cleared *now = &s->cleared[!s->last];
	u64 ready = pghot_map_ready(&p->node->map, NULL);
	u64 looks = s->most;
	u64 pages = max(div64_u64((looks - looks / 16) * s->pages, s->looks), 1ULL);

	if (ready > pages)
		now->limit = min_t(u64, now->limit,
				   div64_u64(pages << 32, ready));
}

/**
 * pghot_sweep_moved - folios have moved
 * @s: the sweep
 * @nr: how many, since this was told last
 */
void pghot_sweep_moved(struct pghot_sweep *s, unsigned long nr)
{
	u32 now_ms = pghot_now_ms();

	if (now_ms - s->part_ms >= pghot_sweep_half_ms() / SWEEP_PARTS) {
		s->part_ms = now_ms;
		s->part_moved = 0;
	}
	s->nr_moved += nr;
	s->part_moved += nr;
	s->part_most = max(s->part_most, s->part_moved);
}

/* One that began late leaves those after it their time. */
static bool sweep_is_due(const struct pghot_sweep *s, u32 now_ms)
{
	u32 since = s->cleared[s->last].since_ms, half = pghot_sweep_half_ms();

	return now_ms / half != since / half && now_ms - since >= half / 2;
}

/*
 * Every other time all ready records are gone through, to drop what is stale. In
 * between, and where nothing waits, that is not worth it.
 */
static bool sweep_begin(struct pghot_pass *p)
{
	struct pghot_sweep *s = &p->sweep;
	struct pghot_cleared *now = &s->cleared[!s->last];
	u32 now_ms = pghot_now_ms(), half = pghot_sweep_half_ms();
	unsigned int looks = p->waiting ? sweep_looks(s) : 0;

	s->all = now_ms - s->all_ms >= half + half / 2;
	if (!sweep_is_due(s, now_ms) || (!s->all && !looks))
		return false;
	s->on = true;
	s->most = looks;
	s->left = looks;
	s->nr_moved = 0;
	s->part_moved = 0;
	s->part_most = 0;
	s->part_ms = now_ms;
	s->next = 0;
	now->since_ms = now_ms;
	now->end = looks ? ULONG_MAX : 0;
	now->limit = U32_MAX;
	/* What took so much that no page was looked at may be gone. */
	if (s->pages == FORMER_PAGES)
		s->looks /= 2;
	s->looks = max(s->looks * FORMER_PAGES / s->pages, FORMER_PAGES);
	s->pages = FORMER_PAGES;
	s->slice_ms = now_ms;
	bitmap_zero(now->missed, PGHOT_MISSED_BITS);
	return true;
}

static void sweep_end(struct pghot_pass *p)
{
	struct pghot_sweep *s = &p->sweep;

	s->on = false;
	s->last = !s->last;
	s->cleared[s->last].ended_ms = pghot_now_ms();
	if (s->all)
		s->all_ms = s->cleared[s->last].since_ms;
}

static void sweep_slice(struct pghot_pass *p)
{
	struct pghot_sweep *s = &p->sweep;
	u32 since_ms = pghot_now_ms() - s->slice_ms;
	unsigned long blocks = sweep_slice_blocks(&p->node->map, since_ms), pfn;
	unsigned int slice = max(sweep_slice_part(s->most, since_ms), SLICE_LOOKS);
	struct pghot_cursor c;

	sweep_set_limit(p);
	c = (struct pghot_cursor) {
		.section = pfn_to_section_nr(s->next),
		.block = s->next % PAGES_PER_SECTION >> PGHOT_BLOCK_ORDER,
	};
	while (blocks-- && !pghot_pass_called_off()) {
		if ((!s->all && !s->left) ||
		    !pghot_map_peek_block(&pghot_map, &p->node->map, &c, &pfn)) {
			sweep_end(p);
			return;
		}
		if (!sweep_block(p, pfn, &slice))
			return;
		cond_resched();
	}
}

/**
 * pghot_sweep - look at some of what waits, if it is time
 * @p: the pass
 *
 * Not between two blocks of a walk that has not stopped.
 */
void pghot_sweep(struct pghot_pass *p)
{
	if (!p->sweep.on && !sweep_begin(p))
		return;
	sweep_slice(p);
	p->sweep.slice_ms = pghot_now_ms();
}

/**
 * pghot_sweep_due_ms - when something is to be looked at again
 * @p: the pass
 *
 * Return: in how many milliseconds, at least 1; U32_MAX if nothing waits.
 */
u32 pghot_sweep_due_ms(const struct pghot_pass *p)
{
	const struct pghot_sweep *s = &p->sweep;
	u32 now = pghot_now_ms(), half = pghot_sweep_half_ms();
	u32 since = s->cleared[s->last].since_ms, due;

	if (s->on)
		return 1;
	if (!p->waiting)
		return U32_MAX;
	due = half / 2 - min(now - since, half / 2);
	if (now / half == since / half)
		due = max(due, half - now % half);
	return max(due, 1U);
}

/**
 * pghot_sweep_presses - is a sweep to begin or to go on before the pass is over
 * @p: the pass
 *
 * What waits is looked at when its time has come, however long a pass takes: or it
 * would all be stale by then.
 *
 * Return: true if so.
 */
bool pghot_sweep_presses(const struct pghot_pass *p)
{
	const struct pghot_sweep *s = &p->sweep;
	u32 now = pghot_now_ms();

	return s->on ? now - s->slice_ms >= SLICE_APART_MS : sweep_is_due(s, now);
}
