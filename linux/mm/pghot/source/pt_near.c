// SPDX-License-Identifier: GPL-2.0
/*
 * Looks near: somebody has met a page of a lower tier that is accessed, and says so. What
 * is accessed has neighbours that are. The accessed bits of the page table there say which,
 * and how often; from where they are accessed is known, too. See pt_looker.c.
 *
 * Each CPU has a ring for such places, which the thread empties. Where that is full a place
 * is left out: there is enough to look at.
 */
#include <linux/cpumask.h>
#include <linux/freezer.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "../internal.h"
#include "pace.h"
#include "page_table.h"
#include "pt_site.h"

/**
 * struct pt_near_work - the working memory of the thread, none of which grows
 * @rings: each CPU's places that somebody told of
 * @focus: what is looked at
 * @sites: what is to be
 */
struct pt_near_work {
	struct pghot_site_ring __percpu *rings;
	struct pt_focus focus;
	struct pghot_sites sites;
};

/**
 * pghot_pt_near_put - the current task has accessed a page of a lower tier
 * @near: who may look there
 * @addr: where
 * @nid: from which node
 *
 * pghot_pt_near_tell() is to follow, in whichever context may do that.
 *
 * Context: any, NMI included, but the same for all that @near has; preemption is off.
 */
void pghot_pt_near_put(struct pt_near *near, unsigned long addr, int nid)
{
	struct pt_near_work *work = READ_ONCE(near->work);
	const struct pghot_site site = {
		.table = addr & PMD_MASK,
		.tgid = current->tgid,
		.nid = nid,
	};

	if (work)
		pghot_site_put(this_cpu_ptr(work->rings), &site);
}

/**
 * pghot_pt_near_tell - there is something in a ring
 * @near: whose
 *
 * Context: any but NMI; the lock of a page table may be held.
 */
void pghot_pt_near_tell(struct pt_near *near)
{
	if (READ_ONCE(near->some))
		return;
	WRITE_ONCE(near->some, true);
	wake_up(&near->wait);
}

/**
 * pghot_pt_near_wake - there may be something in a ring
 * @near: whose; it does not stop meanwhile, and may not have begun
 *
 * For who tells from NMI.
 *
 * Context: any but NMI.
 */
void pghot_pt_near_wake(struct pt_near *near)
{
	int cpu;

	if (!near->work)
		return;
	for_each_possible_cpu(cpu) {
		if (pghot_site_any(per_cpu_ptr(near->work->rings, cpu))) {
			pghot_pt_near_tell(near);
			return;
		}
	}
}

/* Each time another CPU is the first: what all have may be more than there is room for. */
static void pt_near_take_all(struct pt_near *near)
{
	struct pt_near_work *work = near->work;
	int cpu;

	near->first = (near->first + 1) % nr_cpu_ids;
	for_each_cpu_wrap(cpu, cpu_possible_mask, near->first)
		pghot_site_take(per_cpu_ptr(work->rings, cpu), &work->sites);
}

/* What was told while nobody came by is of some time ago: rings keep the oldest. */
static void pt_near_drop_all(struct pt_near *near)
{
	int cpu;

	for_each_possible_cpu(cpu)
		pghot_site_drop(per_cpu_ptr(near->work->rings, cpu));
	WRITE_ONCE(near->some, false);
}

/* Those of a process are next to each other. */
static void pt_near_admit(struct pt_focus *focus, const struct pghot_sites *sites)
{
	struct mm_struct *mm = NULL;
	unsigned int i;

	for (i = 0; i < sites->nr; i++) {
		const struct pghot_site *site = &sites->site[i];

		if (!i || site->tgid != site[-1].tgid) {
			if (mm)
				mmput_async(mm);
			mm = pghot_pt_mm(site->tgid);
			cond_resched();
		}
		if (mm && pghot_pt_wants_table(mm, site->table))
			pghot_pt_admit(focus, mm, site->table, site->nid);
	}
	if (mm)
		mmput_async(mm);
}

/*
 * Wait until there is something, and then for more of it: for a window at most. Nobody has
 * to wake the thread meanwhile, and it does not come by more often than it looks.
 */
static void pt_near_gather(struct pt_near *near)
{
	u32 window_ms = READ_ONCE(pghot_tunables.window_ms);
	u32 tick_ms = max(window_ms / PGHOT_PACE_PART, PGHOT_PACE_LEAST_MS);
	struct pghot_sites *sites = &near->work->sites;
	unsigned long until;

	sites->nr = 0;
	sites->hits = 0;
	sites->again = 0;
	pt_near_drop_all(near);
	wait_event_freezable(near->wait, READ_ONCE(near->some) || kthread_should_stop());
	until = jiffies + msecs_to_jiffies(window_ms);
	do {
		wait_event_freezable_timeout(near->wait, kthread_should_stop(),
					     msecs_to_jiffies(tick_ms));
		pt_near_take_all(near);
	} while (!pghot_sites_enough(sites) && time_before(jiffies, until) &&
		 !kthread_should_stop());
}

/**
 * pghot_pt_near_fill - have page tables in the focus that somebody told of
 * @looker: whose looker
 *
 * For struct pt_looker.
 *
 * Context: the thread that looks; sleeps.
 *
 * Return: true.
 */
bool pghot_pt_near_fill(struct pt_looker *looker)
{
	struct pt_near *near = container_of(looker, struct pt_near, looker);

	pt_near_gather(near);
	if (!kthread_should_stop())
		pt_near_admit(&near->work->focus, &near->work->sites);
	return true;
}

/* Whoever tells of something does so with preemption off, or from NMI. */
static void pt_near_free(struct pt_near *near)
{
	struct pt_near_work *work = near->work;

	WRITE_ONCE(near->work, NULL);
	synchronize_rcu();
	free_percpu(work->rings);
	kvfree(work);
}

/**
 * pghot_pt_near_start - begin to look
 * @near: who
 * @source: who reports
 *
 * Context: sleeps.
 *
 * Return: 0 or a negative error: -EOPNOTSUPP where page tables cannot be looked at.
 */
int pghot_pt_near_start(struct pt_near *near, struct pghot_source *source)
{
	struct pt_near_work *work = kvzalloc_obj(*work);
	int err;

	static_assert(PGHOT_SITES <= PT_FOCUS_MAX);
	if (!work)
		return -ENOMEM;
	work->rings = alloc_percpu(struct pghot_site_ring);
	if (!work->rings) {
		kvfree(work);
		return -ENOMEM;
	}
	work->focus.source = source;
	near->looker.focus = &work->focus;
	/* As of now there may be something in the rings. */
	smp_store_release(&near->work, work);
	err = pghot_pt_start(&near->looker);
	if (err)
		pt_near_free(near);
	return err;
}

/**
 * pghot_pt_near_stop - look no more
 * @near: who; it may not have begun
 *
 * Whoever still tells of something tells nobody.
 *
 * Context: sleeps.
 */
void pghot_pt_near_stop(struct pt_near *near)
{
	if (!near->work)
		return;
	pghot_pt_stop(&near->looker);
	pt_near_free(near);
}
