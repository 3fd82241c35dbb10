// SPDX-License-Identifier: GPL-2.0
/*
 * Watching pages that were exchanged between tiers, and slowing promotion down
 * where that gains nothing: see gain.c.
 *
 * Whatever moves a folio from one tier to the other, it comes by here. Some of
 * those are watched: see watch.c.
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
#include "watch.h"

/* After so many windows what is known is too old. */
#define ROUND_WINDOWS	8U

DEFINE_STATIC_KEY_FALSE(pghot_exchange_key);

/* Whether promotion may be slowed down. */
u32 pghot_backoff __read_mostly = 1;
/* By which power of two promotion to all targets is. */
u32 pghot_held_back __read_mostly;

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
 * @choice_ms: since when it is as choosy as it is
 * @chosen: pages promoted by then
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
	u32 choice_ms;
	unsigned long chosen;
	unsigned long due;
	struct delayed_work work;
};

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
		return x->came.added && pghot_watch_add(&x->went, folio);
	if (pgdat_free_space_enough(NODE_DATA(x->target->nid)))
		return false;
	if (!x->came.added)
		exchange_begin(x);
	return pghot_watch_add(&x->came, folio);
}

static u32 watch_ms(void)
{
	return READ_ONCE(pghot_tunables.window_ms) / 4;
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
	if (came)
		pghot_watch_left(&x->went, dst, src, 0);
	else
		pghot_watch_left(&x->came, dst, src, watch_ms());
	added = exchange_add(x, dst, came);
	if (added)
		exchange_soon(x);
	spin_unlock(&x->lock);
}

/* Pages that are watched yet count in the next round. */
static void exchange_end(struct pghot_exchange *x, u32 rest_ms)
{
	spin_lock(&x->lock);
	exchange_begin(x);
	x->rest_ms = rest_ms;
	pghot_watch_end(&x->came);
	pghot_watch_end(&x->went);
	spin_unlock(&x->lock);
	x->came.use = (struct pghot_use) {};
	/* What reclaim takes changes slowly. */
	x->went.use.pages /= 2;
	x->went.use.weight /= 2;
}

/* What has plenty of room takes all that is accessed. */
static u32 target_held(int nid)
{
	if (pgdat_free_space_enough(NODE_DATA(nid)))
		return 0;
	return pghot_speed_held(&pghot_target(nid)->speed);
}

/**
 * pghot_exchange_sum_up - how far promotion to all targets is slowed down
 *
 * For after one of them was, or the switch was written to; and from time to time
 * while one is.
 */
void pghot_exchange_sum_up(void)
{
	u32 held = PGHOT_SPEED_HELD_MAX;
	int nid;

	for_each_node_state(nid, N_MEMORY)
		if (pghot_may_promote_to(nid) && pghot_target(nid))
			held = min(held, target_held(nid));
	WRITE_ONCE(pghot_held_back, READ_ONCE(pghot_backoff) ? held : 0);
}

/* To come back from slow promotion does not take all the pages. */
static bool exchange_is_known(struct pghot_exchange *x)
{
	if (pghot_use_known(&x->came.use) && pghot_use_known(&x->went.use))
		return true;
	return x->target->speed.rate &&
	       pghot_gain_early(&x->came.use, &x->went.use,
				READ_ONCE(x->came.nr), watch_ms());
}

static void choice_begins(struct pghot_exchange *x)
{
	x->choice_ms = pghot_now_ms();
	x->chosen = atomic_long_read(&x->target->promoted);
}

static void exchange_choose(struct pghot_exchange *x, u32 window)
{
	bool idle = atomic_long_read(&x->target->promoted) == x->chosen;

	if (pghot_speed_relax(&x->target->speed, pghot_now_ms() - x->choice_ms,
			      idle, window))
		choice_begins(x);
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
	x->quiet_ms = x->target->speed.wait_ms;
	x->steady_ms = pghot_now_ms();
	if (!gains)
		choice_begins(x);
	exchange_end(x, gains || !READ_ONCE(pghot_backoff) ? window : 0);
}

/* Nothing had to go for what came: then there is no harm in more. */
static void exchange_quiet(struct pghot_exchange *x, u32 window)
{
	u32 now = pghot_now_ms();

	if (now - x->began_ms >= ROUND_WINDOWS * window)
		exchange_end(x, 0);
	if (!x->target->speed.rate || x->went.added ||
	    now - x->steady_ms < x->quiet_ms)
		return;
	pghot_speed_try(&x->target->speed);
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
	due = pghot_watch_look(&x->came, &x->lock, watch_ms());
	due = min(due, pghot_watch_look(&x->went, &x->lock, watch_ms()));
	put_online_mems();
	if (exchange_is_known(x))
		exchange_known(x, window);
	else
		exchange_quiet(x, window);
	exchange_choose(x, window);
	/* Where this rate is not held, and nothing was, the sum stays nothing. */
	if (x->target->speed.rate || READ_ONCE(pghot_held_back))
		pghot_exchange_sum_up();

	/*
	 * Of a round that waits for pages to go somebody has to see the end, and that
	 * nothing comes any more as well.
	 */
	spin_lock(&x->lock);
	if (x->came.added || x->target->speed.rate || x->target->speed.choosy) {
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
