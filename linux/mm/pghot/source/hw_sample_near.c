// SPDX-License-Identifier: GPL-2.0
/*
 * Looks near samples. A budget that programs do not feel is enough for some thousand
 * samples a second, which is fewer than there are hot pages: a page is sampled once in
 * a long while. But what is hot has neighbours that are. So a sample says where to look,
 * and the accessed bits of the page table there say which pages are accessed, and how
 * often; who accesses them the sample knows too. See pt_looker.c.
 *
 * From the NMI a sample's place goes into a ring of its CPU, which the thread empties.
 * Where that is full it is left out: there is enough to look at.
 */
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/pghot.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "../internal.h"
#include "hw_sample.h"
#include "page_table.h"
#include "sample_pace.h"
#include "sample_site.h"

/*
 * It has to find what is there with few looks: some time apart they find what is
 * accessed now and then, too.
 */
#define NEAR_LEAST	2U
/* However many CPUs there are. */
#define NEAR_PERMILLE_MAX	500U

static DEFINE_PER_CPU(struct pghot_site_ring, near_rings);

/**
 * struct near_work - the working memory of the thread, none of which grows
 * @focus: what is looked at
 * @sites: what is to be
 */
struct near_work {
	struct pt_focus focus;
	struct pghot_sites sites;
};

/* Changed by start and stop alone, which exclude each other. */
static struct near_work *near_work;

/* The thread waits there for samples. */
static DECLARE_WAIT_QUEUE_HEAD(near_wait);
static bool near_some;

u32 hw_sample_look_permille = PGHOT_SAMPLE_PERMILLE;

/**
 * hw_sample_near_add - a page of a lower tier was sampled
 * @addr: where the current task accessed it; 0: the counter did not say
 * @nid: from which node
 *
 * What the kernel accesses at its own addresses is mapped by no process.
 *
 * Context: NMI.
 */
void hw_sample_near_add(unsigned long addr, int nid)
{
	const struct pghot_site site = {
		.table = addr & PMD_MASK,
		.tgid = current->tgid,
		.nid = nid,
	};

	if (addr && addr < TASK_SIZE_MAX && !(current->flags & PF_KTHREAD))
		pghot_site_put(this_cpu_ptr(&near_rings), &site);
}

/* Each time another CPU is the first: what all have may be more than there is room for. */
static void near_take_all(struct pghot_sites *sites)
{
	static unsigned int first;
	int cpu;

	WRITE_ONCE(near_some, false);
	first = (first + 1) % nr_cpu_ids;
	for_each_cpu_wrap(cpu, cpu_possible_mask, first)
		pghot_site_take(per_cpu_ptr(&near_rings, cpu), sites);
}

/* What was sampled while nobody came by is of some time ago: rings keep the oldest. */
static void near_drop_all(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		pghot_site_drop(per_cpu_ptr(&near_rings, cpu));
	WRITE_ONCE(near_some, false);
}

/**
 * hw_sample_near_wake - there may have been samples
 *
 * Context: process context.
 */
void hw_sample_near_wake(void)
{
	int cpu;

	if (READ_ONCE(near_some))
		return;
	for_each_possible_cpu(cpu) {
		if (pghot_site_any(per_cpu_ptr(&near_rings, cpu))) {
			WRITE_ONCE(near_some, true);
			wake_up(&near_wait);
			return;
		}
	}
}

/* Those of a process are next to each other. */
static void near_admit(struct pt_focus *focus, const struct pghot_sites *sites)
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

static bool near_awaited(void)
{
	return READ_ONCE(near_some) || kthread_should_stop();
}

/* Wait until there are samples, and then for more of them: for a window at most. */
static void near_gather(struct pghot_sites *sites)
{
	unsigned long until;
	long left;

	sites->nr = 0;
	sites->samples = 0;
	sites->again = 0;
	near_drop_all();
	wait_event_freezable(near_wait, near_awaited());
	until = jiffies + msecs_to_jiffies(READ_ONCE(pghot_tunables.window_ms));
	for (;;) {
		near_take_all(sites);
		left = until - jiffies;
		if (pghot_sites_enough(sites) || left <= 0 || kthread_should_stop())
			return;
		wait_event_freezable_timeout(near_wait, near_awaited(), left);
	}
}

static bool near_fill(struct pt_looker *looker)
{
	near_gather(&near_work->sites);
	if (!kthread_should_stop())
		near_admit(&near_work->focus, &near_work->sites);
	return true;
}

/* All CPUs sample, and one thread looks for all of them. */
static u32 near_permille(void)
{
	return min(READ_ONCE(hw_sample_look_permille) * num_online_cpus(),
		   NEAR_PERMILLE_MAX);
}

static struct pt_looker near_looker = {
	.comm = "pghot_near",
	.least = NEAR_LEAST,
	.permille = near_permille,
	.fill = near_fill,
};

/**
 * hw_sample_near_start - begin to look near samples
 * @source: who reports
 *
 * Context: sleeps; no counter is there yet.
 *
 * Return: 0 or a negative error. Where page tables cannot be looked at, samples are
 *	   reported alone.
 */
int hw_sample_near_start(struct pghot_source *source)
{
	int err;

	static_assert(PGHOT_SITES <= PT_FOCUS_MAX);
	near_work = kvzalloc_obj(*near_work);
	if (!near_work)
		return -ENOMEM;
	near_work->focus.source = source;
	near_looker.focus = &near_work->focus;
	err = pghot_pt_start(&near_looker);
	if (!err)
		return 0;
	kvfree(near_work);
	near_work = NULL;
	return err == -EOPNOTSUPP ? 0 : err;
}

/**
 * hw_sample_near_stop - look no more
 *
 * Context: sleeps; no counter is there any more.
 */
void hw_sample_near_stop(void)
{
	if (!near_work)
		return;
	pghot_pt_stop(&near_looker);
	kvfree(near_work);
	near_work = NULL;
}

/**
 * hw_sample_near_changed - there is a new budget
 */
void hw_sample_near_changed(void)
{
	pghot_pt_kick(&near_looker);
}

/**
 * hw_sample_near_totals - what it took since boot
 * @cpu_usec: set to CPU time
 *
 * Return: page table entries that were looked at.
 */
unsigned long hw_sample_near_totals(unsigned long *cpu_usec)
{
	*cpu_usec = READ_ONCE(near_looker.cpu_usec);
	return READ_ONCE(near_looker.scanned);
}
