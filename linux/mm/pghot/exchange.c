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
 *
 * Page cache that nobody has mapped is judged by itself. A server's pages and a file that
 * is read over and over may come to the same target, and what the one gains says nothing
 * of the other. It is compared with all that goes, and where it gains nothing less of it
 * is looked for, at its source.
 *
 * Where reclaim evicts pages for what comes, and they are wanted again, nothing is gained:
 * see evicted.c.
 */
#include <linux/jump_label.h>
#include <linux/memory-tiers.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/numa_promotion.h>
#include <linux/pghot.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "exchange.h"
#include "gain.h"
#include "promoter.h"

/* After so many windows what is known is too old. */
#define ROUND_WINDOWS	8U

DEFINE_STATIC_KEY_FALSE(pghot_exchange_key);

/* Whether promotion may be slowed down. */
u32 pghot_backoff __read_mostly = 1;
/* By which power of two promotion to all targets is. */
u32 pghot_held_back __read_mostly;

/* Pages that we brought, by our threads or within faults. */
static unsigned long exchange_brought(const struct pghot_exchange *x)
{
	return atomic_long_read(&x->target->promoted) +
	       atomic_long_read(&x->target->in_fault);
}

/* From now on: who brings what comes? */
static void exchange_count(struct pghot_exchange *x)
{
	WRITE_ONCE(x->came_pages, 0);
	WRITE_ONCE(x->brought, exchange_brought(x));
}

static void exchange_begin(struct pghot_exchange *x)
{
	x->began_ms = pghot_now_ms();
	x->rest_ms = 0;
	x->promoted = atomic_long_read(&x->target->promoted);
	exchange_count(x);
	pghot_evicted_begin(&x->evicted, x->target->nid);
}

static unsigned long exchange_promoted(const struct pghot_exchange *x)
{
	return atomic_long_read(&x->target->promoted) - x->promoted;
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
	if (x->rest_ms) {
		x->rest_ms = 0;
		exchange_count(x);
	}
	if (!came)
		return x->came.added && pghot_watch_add(&x->went, folio);
	if (x->cache && folio_test_anon(folio))
		return false;
	if (pgdat_free_space_enough(NODE_DATA(x->target->nid)))
		return false;
	if (!x->came.added)
		exchange_begin(x);
	return pghot_watch_add(&x->came, folio);
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

/* Is it that @dst came, or that it went? */
static void exchange_moved(struct pghot_exchange *x, const struct folio *dst,
			   const struct folio *src, bool came)
{
	bool added;

	/* Whoever else is at it: one page more or less does not matter. */
	if (!x || !spin_trylock(&x->lock))
		return;
	if (came)
		pghot_watch_left(&x->went, dst, src, 0);
	else
		pghot_watch_left(&x->came, dst, src, exchange_watch_ms(x));
	added = exchange_add(x, dst, came);
	if (came && x->came.added)
		WRITE_ONCE(x->came_pages, x->came_pages + folio_nr_pages(dst));
	if (added)
		exchange_soon(x);
	spin_unlock(&x->lock);
}

/**
 * __pghot_moved - a folio has moved to another node
 * @dst: the new folio
 * @src: the old one
 *
 * Context: the folios are locked, and nobody has them mapped just now.
 */
void __pghot_moved(const struct folio *dst, const struct folio *src)
{
	int from = folio_nid(src), to = folio_nid(dst);
	struct pghot_target *target;
	bool came, left;

	/* Compaction, mostly. */
	if (from == to)
		return;
	came = node_is_toptier(to);
	left = node_is_toptier(from);
	target = pghot_target(left ? from : to);
	if (!target)
		return;
	if (left)
		pghot_room_left(target, folio_nr_pages(src));
	if (came == left)
		return;
	/* Pair with the releases in exchange_make(). */
	exchange_moved(smp_load_acquire(&target->exchange), dst, src, came);
	if (static_branch_unlikely(&pghot_page_cache_key))
		/* The same. Whether anybody maps it is seen when it is looked at first. */
		exchange_moved(smp_load_acquire(&target->cache_exchange), dst, src, came);
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
	pghot_use_halve(&x->went.use);
}

/* What has plenty of room takes all that is accessed. */
static u32 exchange_target_held(int nid)
{
	if (pgdat_free_space_enough(NODE_DATA(nid)))
		return 0;
	return pghot_speed_held(&pghot_target(nid)->speed);
}

static u32 exchange_cache_held(const struct pghot_exchange *x)
{
	return pgdat_free_space_enough(NODE_DATA(x->target->nid)) ? 0 : x->held;
}

/**
 * pghot_cache_wanted - is page cache of a lower tier to be reported
 * @nid: the node that it is read from
 * @folio: its folio
 *
 * Where page cache gains nothing by being promoted there is no use for more of it. Of a
 * node without memory in the top tier nobody knows where its pages go.
 *
 * Context: any but NMI.
 *
 * Return: true if so.
 */
bool pghot_cache_wanted(int nid, const struct folio *folio)
{
	const struct pghot_target *target = pghot_target(nid);

	return !target || !READ_ONCE(pghot_backoff) ||
	       pghot_held_wants(READ_ONCE(target->cache_held), folio_pfn(folio));
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
			held = min(held, exchange_target_held(nid));
	WRITE_ONCE(pghot_held_back, READ_ONCE(pghot_backoff) ? held : 0);
}

/* Is it slowed down? */
static bool exchange_slow(const struct pghot_exchange *x)
{
	return x->cache ? x->held : x->target->speed.rate;
}

/*
 * Of most nothing can be known, as where all is a guest's: the others are not like them. But
 * page cache that comes may be judged by itself.
 */
static bool exchange_is_mute(const struct pghot_exchange *x)
{
	if (pghot_watch_is_mute(&x->went))
		return true;
	return pghot_watch_is_mute(&x->came) &&
	       (x->cache || !static_branch_unlikely(&pghot_page_cache_key));
}

/* Did others bring most of what came, such as who migrates a process's memory? */
static bool exchange_is_others(const struct pghot_exchange *x)
{
	return 2 * (exchange_brought(x) - READ_ONCE(x->brought)) < READ_ONCE(x->came_pages);
}

/* To come back from slow promotion does not take all the pages. */
static bool exchange_is_known(struct pghot_exchange *x)
{
	struct pghot_use least;

	if (exchange_is_mute(x) || exchange_is_others(x))
		return false;
	/* Of those that are watched for long it is the hottest that are known first. */
	if (x->cache && pghot_now_ms() - x->began_ms < exchange_watch_ms(x))
		return false;
	if (pghot_use_known(&x->came.use) && pghot_use_known(&x->went.use))
		return true;
	if (!exchange_slow(x))
		return false;
	least = pghot_watch_least(&x->came, exchange_watch_ms(x));
	if (!pghot_gain_early(&least, &x->went.use))
		return false;
	x->came.use = least;
	return true;
}

static void exchange_choice_begins(struct pghot_exchange *x)
{
	x->choice_ms = pghot_now_ms();
	x->chosen = atomic_long_read(&x->target->promoted);
}

static void exchange_choose(struct pghot_exchange *x, u32 window)
{
	bool idle = atomic_long_read(&x->target->promoted) == x->chosen;

	if (pghot_speed_relax(&x->target->speed, pghot_now_ms() - x->choice_ms,
			      idle, window))
		exchange_choice_begins(x);
}

static void exchange_speed_known(struct pghot_exchange *x, u32 percent, u32 window)
{
	WRITE_ONCE(x->target->gain_percent, percent);
	pghot_speed_judge(&x->target->speed, percent,
			  (u64)exchange_promoted(x) << PAGE_SHIFT,
			  pghot_now_ms() - x->began_ms, window);
	x->quiet_ms = x->target->speed.wait_ms;
}

static void exchange_held_known(struct pghot_exchange *x, u32 percent, u32 window)
{
	WRITE_ONCE(x->target->cache_gain_percent, percent);
	x->held = pghot_held_judge(x->held, percent);
	x->quiet_ms = window;
}

/* Is what goes for it evicted, at least so many pages, and wanted again? */
static bool exchange_evicts(struct pghot_exchange *x, u32 ms, unsigned int least)
{
	bool evicts;

	spin_lock(&x->lock);
	evicts = x->came.added >= least && pghot_now_ms() - x->began_ms >= ms &&
		 pghot_evicted_wanted(&x->evicted, x->target->nid, exchange_promoted(x), least);
	spin_unlock(&x->lock);
	return evicts;
}

static u32 exchange_gains_from(const struct pghot_exchange *x)
{
	return x->cache ? PGHOT_CACHE_GAIN_PERCENT : PGHOT_GAIN_PERCENT;
}

static void exchange_known(struct pghot_exchange *x, u32 percent, u32 window)
{
	bool gains = percent >= exchange_gains_from(x);

	if (x->cache)
		exchange_held_known(x, percent, window);
	else
		exchange_speed_known(x, percent, window);
	pghot_stat_add(gains ? PGHOT_STAT_exchange_gain : PGHOT_STAT_exchange_loss, 1);
	x->steady_ms = pghot_now_ms();
	if (!gains)
		exchange_choice_begins(x);
	exchange_end(x, gains || !READ_ONCE(pghot_backoff) ? window : 0);
}

static void exchange_try_faster(struct pghot_exchange *x, u32 window)
{
	u32 now = pghot_now_ms();

	if (!exchange_slow(x) || now - x->steady_ms < x->quiet_ms)
		return;
	if (x->cache)
		x->held = pghot_held_try(x->held);
	else
		pghot_speed_try(&x->target->speed);
	x->quiet_ms = window;
	x->steady_ms = now;
}

/* Where it depends on what nobody knows whether that gains, it is not slowed down for that. */
static void exchange_judge(struct pghot_exchange *x, u32 window)
{
	struct pghot_gain gain = pghot_gain(&x->came.use, &x->went.use);

	if (gain.least >= exchange_gains_from(x)) {
		exchange_known(x, gain.least, window);
	} else if (gain.most < exchange_gains_from(x)) {
		exchange_known(x, gain.most, window);
	} else {
		exchange_try_faster(x, window);
		exchange_end(x, window);
	}
}

/*
 * May nothing be known of how it goes on? At the slowest rate large folios are too few, and
 * others may bring more.
 */
static bool exchange_is_unknown(const struct pghot_exchange *x)
{
	return pghot_watch_is_mute(&x->came) || pghot_watch_is_mute(&x->went) ||
	       exchange_is_others(x) || (!x->cache && x->came.added < PGHOT_GAIN_FOLIOS);
}

/* Nothing had to go for what came: then there is no harm in more. */
static void exchange_quiet(struct pghot_exchange *x, u32 window)
{
	bool went = x->went.added || exchange_evicts(x, 0, 1);
	bool over = pghot_now_ms() - x->began_ms >= ROUND_WINDOWS * window;
	bool unknown = over && exchange_is_unknown(x);

	if (over) {
		exchange_end(x, 0);
		/* Of so few nothing is known. */
		x->held -= min(x->held, 1U);
	}
	if (!went || unknown)
		exchange_try_faster(x, window);
}

/* Nobody tells any more that page cache is used. */
static void exchange_forget(struct pghot_exchange *x)
{
	x->came.use = (struct pghot_use) {};
	x->went.use = (struct pghot_use) {};
	x->held = 0;
	spin_lock(&x->lock);
	pghot_evicted_begin(&x->evicted, x->target->nid);
	spin_unlock(&x->lock);
}

/*
 * A page that is looked at keeps its struct page, as said in nodes.c. While maps are made, or
 * the memory notifier runs, it is looked at later. Return in how many milliseconds the next
 * one is due.
 */
static u32 exchange_look(struct pghot_exchange *x)
{
	u32 due;

	if (!mutex_trylock(&pghot_lock))
		return 1;
	/* Who goes is watched as who comes, as far as anybody tells. */
	x->went.by = PGHOT_WATCH_MAPPED;
	if (static_branch_unlikely(&pghot_page_cache_key))
		x->went.by |= PGHOT_WATCH_CACHE;
	due = pghot_watch_look(&x->came, &x->lock, exchange_watch_ms(x));
	due = min(due, pghot_watch_look(&x->went, &x->lock, exchange_watch_ms(x)));
	mutex_unlock(&pghot_lock);
	return due;
}

static void exchange_work(struct work_struct *work)
{
	struct pghot_exchange *x = container_of(to_delayed_work(work),
						struct pghot_exchange, work);
	u32 window = READ_ONCE(pghot_tunables.window_ms), due;

	due = exchange_look(x);
	if (x->cache && !static_branch_unlikely(&pghot_page_cache_key))
		exchange_forget(x);
	/* What is read again takes its time: a few pages at once may be by chance. */
	if (exchange_evicts(x, exchange_watch_ms(x), PGHOT_GAIN_FOLIOS))
		exchange_known(x, PGHOT_EVICTED_PERCENT, window);
	else if (exchange_is_known(x))
		exchange_judge(x, window);
	else
		exchange_quiet(x, window);
	if (x->cache) {
		WRITE_ONCE(x->target->cache_held, exchange_cache_held(x));
	} else {
		exchange_choose(x, window);
		/* Where this rate is not held, and nothing was, the sum stays nothing. */
		if (x->target->speed.rate || READ_ONCE(pghot_held_back))
			pghot_exchange_sum_up();
	}

	/*
	 * Of a round that waits for pages to go somebody has to see the end, and that
	 * nothing comes any more as well.
	 */
	spin_lock(&x->lock);
	if (x->came.added || exchange_slow(x) || (!x->cache && x->target->speed.choosy)) {
		unsigned long delay = msecs_to_jiffies(clamp(due, 1U, window / 8));

		if (queue_delayed_work(system_dfl_wq, &x->work, delay))
			x->due = jiffies + delay;
	}
	spin_unlock(&x->lock);
}

static int exchange_make(struct pghot_target *target, struct pghot_exchange **where,
			 bool cache)
{
	struct pghot_exchange *x = kzalloc_obj(*x);

	if (!x)
		return -ENOMEM;
	x->target = target;
	x->cache = cache;
	x->came.by = cache ? PGHOT_WATCH_CACHE : PGHOT_WATCH_MAPPED;
	spin_lock_init(&x->lock);
	INIT_DELAYED_WORK(&x->work, exchange_work);
	/* Who finds it finds it set up. Like the target it is kept. */
	smp_store_release(where, x);
	return 0;
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
	int err = 0;

	if (target && !target->exchange)
		err = exchange_make(target, &target->exchange, false);
	if (target && !target->cache_exchange && !err)
		err = exchange_make(target, &target->cache_exchange, true);
	return err;
}
