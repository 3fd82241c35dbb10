// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that are watched after they have moved from one tier to the other: how soon
 * is each of them accessed?
 *
 * They are remembered by their PFN, without a reference. Accessed bits are cleared
 * once, and looked at after a short time, after as much again, twice as much and so
 * on, until one is set or the time is over. So it is known to within a factor of two
 * how often the page is accessed. One that goes back while it is watched says as much:
 * who was promoted again is hot, and who was demoted again is not.
 *
 * A file that is read and not mapped has no such bits. Its folio is made idle instead, as
 * by idle page tracking, and whoever reads it ends that: see page_cache.c. These few may
 * seem idle to users of that who had not made them so.
 */
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/page_idle.h>
#include <linux/pghot.h>
#include <linux/sched.h>

#include "promoter.h"
#include "watch.h"

/* Of those that move in one tick, so many: neighbours are mostly alike. */
#define SAMPLES_A_TICK	16U
/* Of each kind are watched in a round: some more than have to be known. */
#define SAMPLES_A_ROUND	(PGHOT_GAIN_FOLIOS * 4U / 3U)
/* Others take the place of so many that say nothing. */
#define SAMPLES_LOST	(3U * SAMPLES_A_ROUND)
/* The first look comes after such a part of the time that a page is watched. */
#define FIRST_LOOK	256U

static unsigned int watch_pfn_hash(unsigned long pfn)
{
	return hash_64(pfn, PGHOT_WATCH_HASH_BITS);
}

/**
 * pghot_watch_add - watch a folio that has moved
 * @w: those of its kind
 * @folio: the folio
 *
 * Context: under the lock; the folio is locked.
 *
 * Return: false if enough are watched.
 */
bool pghot_watch_add(struct pghot_watch *w, const struct folio *folio)
{
	u32 now = pghot_now_ms();

	if (w->nr >= PGHOT_WATCH_PAGES ||
	    w->added >= SAMPLES_A_ROUND + min(w->lost, SAMPLES_LOST))
		return false;
	if (w->tick_ms != now) {
		w->tick_ms = now;
		w->in_tick = 0;
	}
	if (w->in_tick++ >= SAMPLES_A_TICK)
		return false;
	w->added++;
	w->sample[w->nr] = (struct pghot_sample) {
		.pfn = folio_pfn(folio), .nr_pages = folio_nr_pages(folio),
		.mapping = folio->mapping, .next_ms = now,
	};
	__set_bit(watch_pfn_hash(folio_pfn(folio)), w->may_be);
	/* Pairs with the acquire in pghot_watch_look(). */
	smp_store_release(&w->nr, w->nr + 1);
	return true;
}

/**
 * pghot_watch_left - a folio has moved, which may be one that is watched
 * @w: those that had moved the other way
 * @dst: the new folio
 * @src: the old one
 * @ms: after how long it counts as accessed; 0 for now
 *
 * Context: under the lock; the folios are locked.
 */
void pghot_watch_left(struct pghot_watch *w, const struct folio *dst,
		      const struct folio *src, u32 ms)
{
	unsigned long pfn = folio_pfn(src);
	u32 now = pghot_now_ms();
	unsigned int i;

	if (!test_bit(watch_pfn_hash(pfn), w->may_be))
		return;
	for (i = 0; i < w->nr; i++) {
		struct pghot_sample *s = &w->sample[i];

		if (s->pfn != pfn || s->mapping != dst->mapping)
			continue;
		/* Pairs with the release in watch_sample_begin(). */
		if (!ms && smp_load_acquire(&s->cleared))
			ms = now - s->since_ms;
		/* The work item looks at it when its turn comes, and finds this. */
		WRITE_ONCE(s->moved_ms, max(ms, 1U));
		return;
	}
}

enum look {
	LOOK_AGAIN,
	LOOK_DONE,
	LOOK_IDLE,	/* it was not accessed all the time */
	LOOK_LOST,	/* it is another page by now, or nobody's bits tell */
};

/* Was a file's folio used that nobody has mapped, since this was last asked? */
static enum pghot_accessed watch_cache_accessed(struct folio *folio)
{
	if (!folio_test_lru(folio))
		return PGHOT_ACCESS_UNKNOWN;
	if (folio_test_idle(folio))
		return PGHOT_NOT_ACCESSED;
	folio_set_idle(folio);
	return PGHOT_ACCESSED;
}

/* Who says whether it is accessed? That stays so while it is watched. */
static unsigned int watch_sample_by(const struct pghot_sample *s, const struct folio *folio)
{
	bool mapped = folio_mapped(folio);

	if ((s->cleared && s->cached == mapped) || (!mapped && folio_test_anon(folio)))
		return 0;
	return mapped ? PGHOT_WATCH_MAPPED : PGHOT_WATCH_CACHE;
}

/* Is it that folio still, and does anything say whether it is accessed? */
static enum pghot_accessed watch_sample_accessed(struct pghot_sample *s, unsigned int by,
						 bool *gone)
{
	enum pghot_accessed accessed = PGHOT_ACCESS_UNKNOWN;
	enum pghot_verdict verdict;
	struct folio *folio;

	folio = pghot_folio_get(s->pfn, &verdict);
	*gone = !folio && verdict != PGHOT_BUSY;
	if (!folio)
		return accessed;
	by &= watch_sample_by(s, folio);
	*gone = READ_ONCE(folio->mapping) != s->mapping || !by ||
		folio_nr_pages(folio) != s->nr_pages;
	s->cached = by == PGHOT_WATCH_CACHE;
	if (!*gone)
		accessed = s->cached ? watch_cache_accessed(folio) :
				       pghot_flush_accessed(folio);
	folio_put(folio);
	return accessed;
}

/* A folio that has just come waits for a place on its LRU list, with some others. */
static enum look watch_sample_begin(struct pghot_sample *s, unsigned int by, u32 now,
				    u32 length)
{
	bool gone;

	if (watch_sample_accessed(s, by, &gone) == PGHOT_ACCESS_UNKNOWN) {
		s->again_ms = max(2 * s->again_ms, 1U);
		s->next_ms = now + s->again_ms;
		return gone || s->again_ms > length ? LOOK_LOST : LOOK_AGAIN;
	}
	s->since_ms = now;
	/* Pairs with the acquire in pghot_watch_left(). */
	smp_store_release(&s->cleared, true);
	s->next_ms = now + max(length / FIRST_LOOK, max(jiffies_to_msecs(1), 1U));
	return LOOK_AGAIN;
}

static enum look watch_sample_look(struct pghot_sample *s, unsigned int by, u32 now,
				   u32 length)
{
	u32 watched = now - s->since_ms;
	bool gone;

	switch (watch_sample_accessed(s, by, &gone)) {
	case PGHOT_ACCESS_UNKNOWN:
		return LOOK_LOST;
	case PGHOT_ACCESSED:
		return LOOK_DONE;
	case PGHOT_NOT_ACCESSED:
		break;
	}
	if (watched >= length)
		return LOOK_IDLE;
	s->next_ms = now + min(watched, length - watched);
	return LOOK_AGAIN;
}

/**
 * pghot_watch_look - look at all pages whose turn has come
 * @w: the pages
 * @lock: that of those who add
 * @length: for how long pages are watched, in milliseconds
 *
 * Only who looks removes pages: those before @w->nr stay where they are.
 *
 * Context: process context, one at a time; struct pages do not go away.
 *
 * Return: in how many milliseconds the next one is to be looked at.
 */
u32 pghot_watch_look(struct pghot_watch *w, spinlock_t *lock, u32 length)
{
	unsigned int i = 0;
	u32 due = U32_MAX;

	/* Pairs with the release in pghot_watch_add(). */
	while (i < smp_load_acquire(&w->nr)) {
		struct pghot_sample *s = &w->sample[i];
		u32 now = pghot_now_ms(), moved_ms = READ_ONCE(s->moved_ms);
		enum look look = LOOK_AGAIN;

		if (moved_ms)
			look = moved_ms < length ? LOOK_DONE : LOOK_IDLE;
		else if ((s32)(s->next_ms - now) <= 0)
			look = s->cleared ? watch_sample_look(s, w->by, now, length) :
					    watch_sample_begin(s, w->by, now, length);
		if (look == LOOK_AGAIN) {
			due = min(due, s->next_ms - now);
			i++;
			continue;
		}
		if (look != LOOK_LOST)
			pghot_use_add(&w->use, moved_ms ?: now - s->since_ms, s->nr_pages,
				      look == LOOK_DONE);
		spin_lock(lock);
		w->lost += look == LOOK_LOST;
		*s = w->sample[--w->nr];
		spin_unlock(lock);
		cond_resched();
	}
	return due;
}

/**
 * pghot_watch_least - what is known if no page that is watched yet is accessed
 * @w: the pages
 * @length: for how long pages are watched, in milliseconds
 *
 * Context: that of pghot_watch_look().
 *
 * Return: what is known then.
 */
struct pghot_use pghot_watch_least(const struct pghot_watch *w, u32 length)
{
	/* Pairs with the release in pghot_watch_add(). */
	unsigned int i, nr = smp_load_acquire(&w->nr);
	struct pghot_use least = w->use;

	for (i = 0; i < nr; i++)
		pghot_use_add(&least, length, w->sample[i].nr_pages, false);
	return least;
}

/**
 * pghot_watch_end - a round is over
 * @w: pages; those that are watched yet count in the next round
 *
 * Context: under the lock.
 */
void pghot_watch_end(struct pghot_watch *w)
{
	unsigned int i;

	w->added = w->nr;
	w->lost = 0;
	bitmap_zero(w->may_be, 1U << PGHOT_WATCH_HASH_BITS);
	for (i = 0; i < w->nr; i++)
		__set_bit(watch_pfn_hash(w->sample[i].pfn), w->may_be);
}
