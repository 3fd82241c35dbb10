// SPDX-License-Identifier: GPL-2.0
/*
 * Accessed bits of page tables as a source: a thread goes through the memory of
 * all processes, and counts which pages of lower tiers are accessed, and how often.
 *
 * It works in rounds. A round fills the focus with page tables that map something
 * of a lower tier, clears their accessed bits, looks at them a period apart, and
 * reports with the last look. Between rounds it may rest: see pace.c.
 */
#include <linux/array_size.h>
#include <linux/freezer.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/pghot.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/sched/cputime.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <linux/wait.h>

#include "../internal.h"
#include "../knob.h"
#include "pace.h"
#include "page_table.h"

static u32 pt_cpu_permille = PGHOT_CPU_PERMILLE;

/* Since boot; written by the thread alone, of which there is one at most. */
static unsigned long pt_scanned, pt_cpu_usec, pt_passes;
static u32 pt_period_ms;

/* The thread sleeps there; woken when the budget changes. */
static DECLARE_WAIT_QUEUE_HEAD(pt_wait);
static bool pt_kick;

/* Changed by start() and stop() alone, which exclude each other. */
static struct task_struct *pt_thread;
static struct pt_scan *pt_scan;

/**
 * struct pt_run - what the thread knows besides its working memory
 * @scan: that
 * @pace: how often it looks
 * @budget: what is left of its CPU time
 * @owed_ms: how long until the budget is met
 * @used_ns: CPU time that is accounted for
 * @looked: page table entries that are
 * @moved: records whose folio was promoted, by all sources
 * @stayed: those whose folio has to stay where it is
 */
struct pt_run {
	struct pt_scan *scan;
	struct pghot_pace pace;
	struct pghot_bucket budget;
	u32 owed_ms;
	u64 used_ns;
	unsigned long looked;
	unsigned long moved;
	unsigned long stayed;
};

static void pt_account(struct pt_run *run)
{
	u64 used_ns = task_sched_runtime(current);
	struct pt_scan *scan = run->scan;

	run->owed_ms = pghot_pace_spend(&run->budget, pghot_now_ms(),
					READ_ONCE(pt_cpu_permille),
					used_ns - run->used_ns);
	WRITE_ONCE(pt_cpu_usec, pt_cpu_usec + used_ns / NSEC_PER_USEC -
				run->used_ns / NSEC_PER_USEC);
	run->used_ns = used_ns;
	WRITE_ONCE(pt_scanned, pt_scanned + scan->looked - run->looked);
	run->looked = scan->looked;
}

/* Return true if there is a new budget since. */
static bool pt_sleep(u32 ms)
{
	bool kicked;

	/* A wait that is over at once does not freeze. */
	try_to_freeze();
	wait_event_freezable_timeout(pt_wait,
				     READ_ONCE(pt_kick) || kthread_should_stop(),
				     msecs_to_jiffies(ms));
	kicked = READ_ONCE(pt_kick);
	WRITE_ONCE(pt_kick, false);
	return kicked;
}

/* What keeps a page that is found again and again where it is. */
static const enum pghot_stat pt_stays[] = {
	PGHOT_STAT_skip_dirty,
	PGHOT_STAT_skip_pinned,
	PGHOT_STAT_skip_unmovable,
	PGHOT_STAT_skip_policy,
	PGHOT_STAT_skip_migrate,
};

/* Does more of what became ready since the last time stay than go? */
static bool pt_mostly_stays(struct pt_run *run)
{
	unsigned long moved = pghot_stat_read(PGHOT_STAT_moved), stayed = 0;
	unsigned int i;
	bool stays;

	for (i = 0; i < ARRAY_SIZE(pt_stays); i++)
		stayed += pghot_stat_read(pt_stays[i]);
	stays = stayed - run->stayed > moved - run->moved;
	run->moved = moved;
	run->stayed = stayed;
	return stays;
}

static void pt_look_again(struct pt_run *run, u32 looks)
{
	u32 i, period_ms;

	for (i = 1; i <= looks && run->scan->nr; i++) {
		period_ms = pghot_pace_period_ms(&run->pace,
						 READ_ONCE(pghot_tunables.window_ms),
						 READ_ONCE(pghot_tunables.freq_threshold));
		WRITE_ONCE(pt_period_ms, period_ms);
		pt_sleep(period_ms);
		if (kthread_should_stop())
			return;
		pghot_pt_look_all(run->scan, i == looks);
		pt_account(run);
	}
}

/*
 * Fill the focus. Much of what there is may map nothing of a lower tier, and that is
 * gone through without looks. Return true if a pass has ended with it.
 */
static bool pt_fill(struct pt_run *run)
{
	bool passed;

	do {
		passed = pghot_pt_fill(run->scan);
		pt_account(run);
	} while (!passed && !run->owed_ms && run->scan->nr < PT_FOCUS_FEW &&
		 !kthread_should_stop());
	return passed;
}

/* Return how long the thread is to rest after it, in milliseconds. */
static u32 pt_round(struct pt_run *run)
{
	unsigned long looked = run->scan->looked, fresh = run->scan->fresh;
	struct pghot_pace_round round = {};
	bool whole;

	round.passed = pt_fill(run);
	whole = round.passed || run->scan->nr >= PT_FOCUS_FEW;
	pghot_pt_look_all(run->scan, false);
	pt_account(run);
	pt_look_again(run, pghot_pace_looks(READ_ONCE(pghot_tunables.freq_threshold)));
	pghot_pt_empty(run->scan);

	WRITE_ONCE(pt_passes, pt_passes + round.passed);
	round.looked = run->scan->looked - looked;
	round.fresh = run->scan->fresh - fresh;
	if (whole) {
		round.held = pghot_all_waiting();
		round.held |= pt_mostly_stays(run);
	}
	pghot_pace_follow(&run->pace, &round);
	/* Memory of the top tier alone is gone through without a rest. */
	return whole ? pghot_pace_rest_ms(&run->pace,
					  READ_ONCE(pghot_tunables.window_ms),
					  run->owed_ms) : run->owed_ms;
}

/*
 * A new budget is told at once, and what is owed by it is rested for. What waking up
 * takes is paid for with the next round: else a small budget would never be met.
 */
static void pt_rest(struct pt_run *run, u32 ms)
{
	/* Where nothing is in the focus nobody has slept yet. */
	while (pt_sleep(max(ms, PGHOT_PACE_LEAST_MS)) && !kthread_should_stop()) {
		pt_account(run);
		ms = run->owed_ms;
	}
}

/*
 * It has no lower weight than others: where all CPUs are busy one of the lowest gets
 * its turn a fifth of a second late, and looks so far apart tell nothing. The budget
 * keeps it small.
 */
static int pt_main(void *data)
{
	struct pt_run run = { .scan = data };

	set_freezable();
	pt_mostly_stays(&run);
	while (!kthread_should_stop())
		pt_rest(&run, pt_round(&run));
	return 0;
}

/* --- the source -------------------------------------------------------- */

static int page_table_start(struct pghot_source *source)
{
	struct task_struct *thread;

	/*
	 * Without the first each bit that is cleared would cost somebody a fault. Without
	 * the second no VMA can be looked at.
	 */
	if (!arch_has_hw_pte_young() || !IS_ENABLED(CONFIG_PER_VMA_LOCK))
		return -EOPNOTSUPP;
	pt_scan = kvzalloc_obj(*pt_scan);
	if (!pt_scan)
		return -ENOMEM;
	pt_scan->source = source;
	thread = kthread_create(pt_main, pt_scan, "pghot_pt");
	if (IS_ERR(thread)) {
		kvfree(pt_scan);
		return PTR_ERR(thread);
	}
	pt_thread = get_task_struct(thread);
	static_branch_inc(&pghot_young_key);
	wake_up_process(thread);
	return 0;
}

static void page_table_stop(struct pghot_source *source)
{
	kthread_stop(pt_thread);
	put_task_struct(pt_thread);
	static_branch_dec(&pghot_young_key);
	pghot_pt_empty(pt_scan);
	kvfree(pt_scan);
	WRITE_ONCE(pt_period_ms, 0);
}

static void cpu_permille_changed(void)
{
	WRITE_ONCE(pt_kick, true);
	wake_up(&pt_wait);
}

DEFINE_KNOB(cpu_permille, &pt_cpu_permille, PGHOT_CPU_PERMILLE_MIN,
	    PGHOT_CPU_PERMILLE_MAX);

static ssize_t scan_period_ms_show(struct kobject *kobj,
				   struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(pt_period_ms));
}

static struct kobj_attribute scan_period_ms_attr = __ATTR_RO(scan_period_ms);

static ssize_t scanned_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%lu\n", READ_ONCE(pt_scanned));
}

static struct kobj_attribute scanned_attr = __ATTR_RO(scanned);

static ssize_t cpu_usec_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "%lu\n", READ_ONCE(pt_cpu_usec));
}

static struct kobj_attribute cpu_usec_attr = __ATTR_RO(cpu_usec);

static ssize_t passes_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%lu\n", READ_ONCE(pt_passes));
}

static struct kobj_attribute passes_attr = __ATTR_RO(passes);

static struct attribute *page_table_attrs[] = {
	&cpu_permille_knob.attr.attr,
	&scan_period_ms_attr.attr,
	&scanned_attr.attr,
	&cpu_usec_attr.attr,
	&passes_attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(page_table);

static struct pghot_source page_table = {
	.name = "page_table",
	.evidence = PGHOT_COUNTS,
	.on = true,
	.alone = true,
	.tiering = true,
	.files = page_table_groups,
	.start = page_table_start,
	.stop = page_table_stop,
};

/* After pghot_init(). */
static int __init page_table_init(void)
{
	if (!pghot_booted)
		return 0;
	cpu_permille_knob.changed = cpu_permille_changed;
	return pghot_register_source(&page_table);
}
late_initcall_sync(page_table_init);
