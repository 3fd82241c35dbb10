// SPDX-License-Identifier: GPL-2.0
/*
 * Watching pages that were exchanged between tiers, and slowing promotion down
 * where that gains nothing: see gain.c.
 *
 * Whatever moves a folio from one tier to the other, it comes by here. Some of
 * those are remembered by their PFN, without a reference. Accessed bits are
 * cleared once, and looked at after a short time, after as much again, twice as
 * much and so on, until one is set or a quarter of a window is over. So it is known
 * to within a factor of two how often the page is accessed.
 *
 * One work item a target looks, and removes what it has done with. Those who move
 * folios only add.
 */
#include <linux/jump_label.h>
#include <linux/memory-tiers.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/numa_promotion.h>
#include <linux/pghot.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "gain.h"
#include "promoter.h"

/* So many pages of one kind are watched at a time. */
#define SAMPLES		256U
/* Of those that move in one tick, so many: neighbours are mostly alike. */
#define SAMPLES_A_TICK	16U
/* So often a page is tried that cannot be looked at just now. */
#define SAMPLE_TRIES	8U
/* Of each kind are watched in a round: some more than have to be known. */
#define SAMPLES_A_ROUND	(PGHOT_GAIN_PAGES * 4U / 3U)
/* The first look comes after such a part of the time that a page is watched. */
#define FIRST_LOOK	256U
/* After so many windows what is known is too old. */
#define ROUND_WINDOWS	8U

DEFINE_STATIC_KEY_FALSE(pghot_exchange_key);

/* Whether promotion may be slowed down. */
u32 pghot_backoff __read_mostly = 1;
/* By which power of two promotion to all targets is. */
u32 pghot_held_back __read_mostly;

/**
 * struct pghot_sample - a page that is watched
 * @pfn: the page
 * @mapping: what its folio belonged to, to find out whether it still is that one
 * @since_ms: when its accessed bits were cleared
 * @next_ms: when they are to be looked at
 * @tries: how often they could not be cleared
 * @cleared: they were
 */
struct pghot_sample {
	unsigned long pfn;
	const void *mapping;
	u32 since_ms;
	u32 next_ms;
	unsigned int tries;
	bool cleared;
};

/**
 * struct pghot_watch - pages of one kind
 * @nr: how many are watched; those who add and the work item write it under the lock
 * @tick_ms: when the last one was added
 * @in_tick: how many were added then
 * @added: how many were added in this round
 * @use: what is known of those that were watched
 * @sample: they
 */
struct pghot_watch {
	unsigned int nr;
	u32 tick_ms;
	unsigned int in_tick;
	unsigned int added;
	struct pghot_use use;
	struct pghot_sample sample[SAMPLES];
};

/**
 * struct pghot_exchange - pages that a target got, and gave away
 * @target: the target
 * @lock: protects the lists of pages, and when this round began
 * @came: those that it got
 * @went: those that it gave away
 * @began_ms: when this round began
 * @promoted: pages promoted by then
 * @rest_ms: for how long none is watched
 * @steady_ms: since when it comes as fast as it does
 * @quiet_ms: after how long with nothing to go it comes faster
 * @due: when it is looked at them again, in jiffies
 * @work: looks at them
 */
struct pghot_exchange {
	struct pghot_target *target;
	spinlock_t lock;	/* innermost; who moves folios only tries it */
	struct pghot_watch came;
	struct pghot_watch went;
	u32 began_ms;
	unsigned long promoted;
	u32 rest_ms;
	u32 steady_ms;
	u32 quiet_ms;
	unsigned long due;
	struct delayed_work work;
};

static bool watch_add(struct pghot_watch *w, const struct folio *folio)
{
	u32 now = pghot_now_ms();

	if (w->nr >= SAMPLES || w->added >= SAMPLES_A_ROUND)
		return false;
	if (w->tick_ms != now) {
		w->tick_ms = now;
		w->in_tick = 0;
	}
	if (w->in_tick++ >= SAMPLES_A_TICK)
		return false;
	w->added++;
	w->sample[w->nr++] = (struct pghot_sample) {
		.pfn = folio_pfn(folio), .mapping = folio->mapping,
		.next_ms = now,
	};
	return true;
}

static void exchange_begin(struct pghot_exchange *x)
{
	x->began_ms = pghot_now_ms();
	x->rest_ms = 0;
	x->promoted = atomic_long_read(&x->target->promoted);
}

/*
 * What comes while there is plenty of room takes nobody's place, and without
 * what comes it does not matter what goes.
 */
static bool exchange_add(struct pghot_exchange *x, const struct folio *folio,
			 bool came)
{
	if (pghot_now_ms() - x->began_ms < x->rest_ms)
		return false;
	if (!came)
		return x->came.added && watch_add(&x->went, folio);
	if (pgdat_free_space_enough(NODE_DATA(x->target->nid)))
		return false;
	if (!x->came.added)
		exchange_begin(x);
	return watch_add(&x->came, folio);
}

/* In a tick; that is not put off by whoever comes by in the meantime. */
static void exchange_soon(struct pghot_exchange *x)
{
	bool later = time_after(x->due, jiffies + 1);

	x->due = jiffies + 1;
	if (later)
		mod_delayed_work(system_dfl_wq, &x->work, 1);
	else
		queue_delayed_work(system_dfl_wq, &x->work, 1);
}

/**
 * __pghot_moved - a folio has moved to another node
 * @dst: the new folio
 * @src: the old one
 *
 * Context: the folios are locked.
 */
void __pghot_moved(const struct folio *dst, const struct folio *src)
{
	int from = folio_nid(src), to = folio_nid(dst);
	bool came = node_is_toptier(to);
	struct pghot_exchange *x = NULL;
	struct pghot_target *target;
	bool added;

	if (came == node_is_toptier(from))
		return;
	target = pghot_target(came ? to : from);
	if (target)
		/* Pairs with the release in pghot_exchange_sync(). */
		x = smp_load_acquire(&target->exchange);
	/* Whoever else is at it: one page more or less does not matter. */
	if (!x || !spin_trylock(&x->lock))
		return;
	added = exchange_add(x, dst, came);
	if (added)
		exchange_soon(x);
	spin_unlock(&x->lock);
}

enum look {
	LOOK_AGAIN,
	LOOK_DONE,
	LOOK_LOST,	/* it is another page by now, or nobody's bits tell */
};

/* Is it that folio still, and do bits say whether it is accessed? */
static enum pghot_accessed sample_accessed(const struct pghot_sample *s, bool *gone)
{
	enum pghot_accessed accessed = PGHOT_ACCESS_UNKNOWN;
	enum pghot_verdict verdict;
	struct folio *folio;

	folio = pghot_folio_get(s->pfn, &verdict);
	*gone = !folio && verdict != PGHOT_BUSY;
	if (!folio)
		return accessed;
	*gone = READ_ONCE(folio->mapping) != s->mapping || !folio_mapped(folio);
	if (!*gone)
		accessed = pghot_flush_accessed(folio);
	folio_put(folio);
	return accessed;
}

static enum look sample_begin(struct pghot_sample *s, u32 now, u32 length)
{
	bool gone;

	if (sample_accessed(s, &gone) == PGHOT_ACCESS_UNKNOWN) {
		s->next_ms = now + 1;
		return gone || ++s->tries >= SAMPLE_TRIES ? LOOK_LOST : LOOK_AGAIN;
	}
	s->cleared = true;
	s->since_ms = now;
	s->next_ms = now + max(length / FIRST_LOOK, max(jiffies_to_msecs(1), 1U));
	return LOOK_AGAIN;
}

static enum look sample_look(struct pghot_sample *s, u32 now, u32 length)
{
	u32 watched = now - s->since_ms;
	bool gone;

	switch (sample_accessed(s, &gone)) {
	case PGHOT_ACCESS_UNKNOWN:
		return LOOK_LOST;
	case PGHOT_ACCESSED:
		return LOOK_DONE;
	case PGHOT_NOT_ACCESSED:
		break;
	}
	if (watched >= length)
		return LOOK_DONE;
	s->next_ms = now + min(watched, length - watched);
	return LOOK_AGAIN;
}

/*
 * Only this work item removes pages: those before @w->nr stay where they are. Return
 * in how many milliseconds the next one is to be looked at.
 */
static u32 watch_look(struct pghot_exchange *x, struct pghot_watch *w, u32 length)
{
	unsigned int i = 0;
	u32 due = U32_MAX;

	while (i < READ_ONCE(w->nr)) {
		struct pghot_sample *s = &w->sample[i];
		u32 now = pghot_now_ms();
		enum look look = LOOK_AGAIN;

		if ((s32)(s->next_ms - now) <= 0)
			look = s->cleared ? sample_look(s, now, length) :
					    sample_begin(s, now, length);
		if (look == LOOK_AGAIN) {
			due = min(due, s->next_ms - now);
			i++;
			continue;
		}
		if (look == LOOK_DONE)
			pghot_use_add(&w->use, now - s->since_ms);
		spin_lock(&x->lock);
		*s = w->sample[--w->nr];
		spin_unlock(&x->lock);
		cond_resched();
	}
	return due;
}

/* Pages that are watched yet count in the next round. */
static void exchange_end(struct pghot_exchange *x, u32 rest_ms)
{
	spin_lock(&x->lock);
	exchange_begin(x);
	x->rest_ms = rest_ms;
	x->came.added = x->came.nr;
	x->went.added = x->went.nr;
	spin_unlock(&x->lock);
	x->came.use = (struct pghot_use) {};
	/* What reclaim takes changes slowly. */
	x->went.use.pages /= 2;
	x->went.use.weight /= 2;
}

/**
 * pghot_exchange_sum_up - how far promotion to all targets is slowed down
 *
 * For after one of them was, or the switch was written to.
 */
void pghot_exchange_sum_up(void)
{
	u32 held = PGHOT_SPEED_HELD_MAX;
	int nid;

	for_each_node_state(nid, N_MEMORY)
		if (pghot_may_promote_to(nid) && pghot_target(nid))
			held = min(held, pghot_speed_held(&pghot_target(nid)->speed));
	WRITE_ONCE(pghot_held_back, READ_ONCE(pghot_backoff) ? held : 0);
}

/* To come back from slow promotion does not take all the pages. */
static bool exchange_is_known(struct pghot_exchange *x, u32 window)
{
	if (pghot_use_known(&x->came.use) && pghot_use_known(&x->went.use))
		return true;
	return x->target->speed.rate &&
	       pghot_gain_early(&x->came.use, &x->went.use,
				READ_ONCE(x->came.nr), window / 4);
}

static void exchange_known(struct pghot_exchange *x, u32 window)
{
	unsigned long moved = atomic_long_read(&x->target->promoted) - x->promoted;
	u32 percent = pghot_gain_percent(&x->came.use, &x->went.use);
	bool gains = percent >= PGHOT_GAIN_PERCENT;

	WRITE_ONCE(x->target->gain_percent, percent);
	pghot_speed_judge(&x->target->speed, percent, (u64)moved << PAGE_SHIFT,
			  pghot_now_ms() - x->began_ms, window);
	pghot_stat_add(gains ? PGHOT_STAT_exchange_gain : PGHOT_STAT_exchange_loss, 1);
	pghot_exchange_sum_up();
	x->quiet_ms = x->target->speed.wait_ms;
	x->steady_ms = pghot_now_ms();
	exchange_end(x, gains || !READ_ONCE(pghot_backoff) ? window : 0);
}

/* Nothing had to go for what came: then there is no harm in more. */
static void exchange_quiet(struct pghot_exchange *x, u32 window)
{
	u32 now = pghot_now_ms();

	if (now - x->began_ms >= ROUND_WINDOWS * window)
		exchange_end(x, 0);
	if ((!x->target->speed.rate && !x->target->speed.choosy) ||
	    x->went.added || now - x->steady_ms < x->quiet_ms)
		return;
	pghot_speed_try(&x->target->speed);
	pghot_exchange_sum_up();
	x->quiet_ms = window;
	x->steady_ms = now;
}

static void exchange_work(struct work_struct *work)
{
	struct pghot_exchange *x = container_of(to_delayed_work(work),
						struct pghot_exchange, work);
	u32 window = READ_ONCE(pghot_tunables.window_ms), due;

	/* A page that is looked at keeps its struct page. */
	get_online_mems();
	due = watch_look(x, &x->came, window / 4);
	due = min(due, watch_look(x, &x->went, window / 4));
	put_online_mems();
	if (exchange_is_known(x, window))
		exchange_known(x, window);
	else
		exchange_quiet(x, window);

	/* Of a round that waits for pages to go somebody has to see the end. */
	spin_lock(&x->lock);
	if (x->came.added) {
		unsigned long delay = msecs_to_jiffies(clamp(due, 1U, window / 8));

		if (queue_delayed_work(system_dfl_wq, &x->work, delay))
			x->due = jiffies + delay;
	}
	spin_unlock(&x->lock);
}

/**
 * pghot_exchange_holds - is promotion slower than the rate limit lets it be
 * @nid: target, or NUMA_NO_NODE
 *
 * Return: true if so.
 */
bool pghot_exchange_holds(int nid)
{
	const struct pghot_target *target = nid >= 0 ? pghot_target(nid) : NULL;

	return target && pghot_target_rate(target) < pghot_rate_bytes();
}

/**
 * pghot_exchange_sync - watch what a target gets and gives away, from now on
 * @nid: a node; what is no target needs nothing
 *
 * Context: pghot_lock held.
 *
 * Return: 0 or -ENOMEM.
 */
int pghot_exchange_sync(int nid)
{
	struct pghot_target *target = pghot_target(nid);
	struct pghot_exchange *x;

	if (!target || target->exchange)
		return 0;
	x = kzalloc_obj(*x);
	if (!x)
		return -ENOMEM;
	x->target = target;
	spin_lock_init(&x->lock);
	INIT_DELAYED_WORK(&x->work, exchange_work);
	/* Who finds it finds it set up. Like the target it is kept. */
	smp_store_release(&target->exchange, x);
	return 0;
}
