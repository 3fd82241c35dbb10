// SPDX-License-Identifier: GPL-2.0
/*
 * A thread that looks at page tables, in rounds. A round fills the focus, clears the
 * accessed bits of what is in it, looks at it again, a period apart, and reports with
 * the last look, some of it before. Between rounds it may rest: see pace.c.
 */
#include <linux/array_size.h>
#include <linux/err.h>
#include <linux/freezer.h>
#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/pghot.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/sched/cputime.h>
#include <linux/sched/task.h>
#include <linux/time64.h>
#include <linux/wait.h>

#include "../internal.h"
#include "pace.h"
#include "page_table.h"

/* All of them sleep there. */
static DECLARE_WAIT_QUEUE_HEAD(looker_wait);

/**
 * struct pt_run - what the thread knows besides its focus
 * @looker: itself
 * @pace: how often it looks
 * @budget: what is left of its CPU time
 * @owed_ms: how long until the budget is met
 * @used_ns: CPU time that is accounted for
 * @looked: page table entries that are
 * @fresh: records that it made ready, when the next two were asked for last
 * @moved: records whose folio was promoted, by all sources
 * @stayed: those whose folio has to stay where it is
 */
struct pt_run {
	struct pt_looker *looker;
	struct pghot_pace pace;
	struct pghot_bucket budget;
	u32 owed_ms;
	u64 used_ns;
	unsigned long looked;
	unsigned long fresh;
	unsigned long moved;
	unsigned long stayed;
};

static void pt_looker_account(struct pt_run *run)
{
	struct pt_looker *looker = run->looker;
	u64 used_ns = task_sched_runtime(current);

	run->owed_ms = pghot_pace_spend(&run->budget, pghot_now_ms(),
					looker->permille(),
					used_ns - run->used_ns);
	WRITE_ONCE(looker->cpu_usec, looker->cpu_usec + used_ns / NSEC_PER_USEC -
				     run->used_ns / NSEC_PER_USEC);
	run->used_ns = used_ns;
	WRITE_ONCE(looker->scanned,
		   looker->scanned + looker->focus->looked - run->looked);
	run->looked = looker->focus->looked;
}

/* Return true if it was kicked. */
static bool pt_looker_sleep(struct pt_looker *looker, u32 ms)
{
	bool kicked;

	/* A wait that is over at once does not freeze. */
	try_to_freeze();
	wait_event_freezable_timeout(looker_wait,
				     READ_ONCE(looker->kicked) || kthread_should_stop(),
				     msecs_to_jiffies(ms));
	kicked = READ_ONCE(looker->kicked);
	WRITE_ONCE(looker->kicked, false);
	return kicked;
}

/* What keeps a page that is found again and again where it is. */
static const enum pghot_stat looker_stays[] = {
	PGHOT_STAT_skip_dirty,
	PGHOT_STAT_skip_pinned,
	PGHOT_STAT_skip_unmovable,
	PGHOT_STAT_skip_policy,
	PGHOT_STAT_skip_migrate,
};

/* How many records of all sources stayed since this was asked last. */
static unsigned long pt_looker_stayed(struct pt_run *run)
{
	unsigned long before = run->stayed;
	unsigned int i;

	run->stayed = 0;
	for (i = 0; i < ARRAY_SIZE(looker_stays); i++)
		run->stayed += pghot_stat_read(looker_stays[i]);
	return run->stayed - before;
}

/**
 * pghot_nothing_moves - is what sources find not promoted just now
 * @moved: records that were moved when this was asked last; those that are by now
 *
 * A full target that takes pages as fast as others go is closed most of the time.
 *
 * Context: process context; it goes through all nodes.
 *
 * Return: true if no target takes anything just now, and none has since this was asked
 *	   last.
 */
bool pghot_nothing_moves(unsigned long *moved)
{
	unsigned long before = *moved;

	*moved = pghot_stat_read(PGHOT_STAT_moved);
	return *moved == before && pghot_all_waiting();
}

/* A new budget does not make a look earlier: it would find less. */
static void pt_looker_wait_for_look(u32 ms)
{
	try_to_freeze();
	wait_event_freezable_timeout(looker_wait, kthread_should_stop(),
				     msecs_to_jiffies(ms));
}

/*
 * Where one access is enough, one look says as much as several. It is not to be one of the
 * shortest, unless others wait for a place.
 */
static void pt_looker_look_again(struct pt_run *run)
{
	struct pt_looker *looker = run->looker;
	struct pghot_room *room = &looker->focus->room;
	u32 window_ms = READ_ONCE(pghot_tunables.window_ms);
	u32 freq = READ_ONCE(pghot_tunables.freq_threshold);
	u32 i, looks = pghot_pace_looks(freq), period_ms;
	bool once, more;

	pghot_look_for_room(room);
	once = room->everywhere;
	more = looker->focus->nr == PT_FOCUS_MAX;
	for (i = 1; i <= looks && looker->focus->nr; i++) {
		period_ms = once ? pghot_pace_once_ms(&run->pace, window_ms, freq, more) :
				   pghot_pace_period_ms(&run->pace, window_ms, freq);
		if (once)
			i = looks;
		WRITE_ONCE(looker->period_ms, period_ms);
		pt_looker_wait_for_look(period_ms);
		if (kthread_should_stop())
			return;
		/* It may have been used up meanwhile. */
		pghot_look_for_room(room);
		pghot_pt_look_all(looker->focus,
				  i == looks || room->gains ? pghot_pace_least(i, freq) : 0,
				  i == looks);
		pt_looker_account(run);
	}
}

/* Return true if there is no more to fill the focus with. */
static bool pt_looker_fill(struct pt_run *run)
{
	struct pt_looker *looker = run->looker;
	bool passed;

	do {
		passed = looker->fill(looker);
		pt_looker_account(run);
	} while (!passed && !run->owed_ms && looker->focus->nr < PT_FOCUS_FEW &&
		 !kthread_should_stop());
	return passed;
}

/* Return how long the thread is to rest after it, in milliseconds. */
static u32 pt_looker_round(struct pt_run *run)
{
	struct pt_focus *focus = run->looker->focus;
	unsigned long looked = focus->looked, fresh = focus->fresh, moved;
	struct pghot_pace_round round = {};
	bool passed, whole;

	passed = pt_looker_fill(run);
	whole = passed || focus->nr >= PT_FOCUS_FEW;
	/* Where most is in another focus, that nothing was found says nothing. */
	round.passed = passed && focus->nr >= focus->others;
	pghot_pt_look_all(focus, 0, false);
	pt_looker_account(run);
	pt_looker_look_again(run);
	pghot_pt_empty(focus);

	round.looked = focus->looked - looked;
	round.fresh = focus->fresh - fresh;
	if (whole) {
		moved = run->moved;
		round.held = pghot_nothing_moves(&run->moved);
		round.moved = run->moved - moved;
		round.own = focus->fresh - run->fresh;
		run->fresh = focus->fresh;
		round.stayed = pt_looker_stayed(run);
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
static void pt_looker_rest(struct pt_run *run, u32 ms)
{
	/* Where nothing is in the focus nobody has slept yet. */
	while (pt_looker_sleep(run->looker, max(ms, PGHOT_PACE_LEAST_MS)) &&
	       !kthread_should_stop()) {
		pt_looker_account(run);
		ms = run->owed_ms;
	}
}

/*
 * It has no lower weight than others: where all CPUs are busy one of the lowest gets
 * its turn a fifth of a second late, and looks so far apart tell nothing. The budget
 * keeps it small.
 */
static int pt_looker_main(void *data)
{
	struct pt_run run = { .looker = data };

	run.pace.least = run.looker->least;
	run.pace.most = run.looker->most;
	run.pace.level = run.pace.least;
	set_freezable();
	pghot_nothing_moves(&run.moved);
	pt_looker_stayed(&run);
	while (!kthread_should_stop())
		pt_looker_rest(&run, pt_looker_round(&run));
	return 0;
}

/**
 * pghot_pt_start - start a thread that looks at page tables
 * @looker: the thread; its focus is empty
 *
 * Context: sleeps; not at the same time as pghot_pt_stop().
 *
 * Return: 0 or a negative error: -EOPNOTSUPP where page tables cannot be looked at.
 */
int pghot_pt_start(struct pt_looker *looker)
{
	struct task_struct *thread;

	/*
	 * Without the first each bit that is cleared would cost somebody a fault. Without
	 * the second no VMA can be looked at.
	 */
	if (!arch_has_hw_pte_young() || !IS_ENABLED(CONFIG_PER_VMA_LOCK))
		return -EOPNOTSUPP;
	/* It goes by the budget that there is. */
	WRITE_ONCE(looker->kicked, false);
	thread = kthread_create(pt_looker_main, looker, "%s", looker->comm);
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	looker->thread = get_task_struct(thread);
	static_branch_inc(&pghot_young_key);
	wake_up_process(thread);
	return 0;
}

/**
 * pghot_pt_stop - stop the thread, and let go what is in its focus
 * @looker: the thread
 *
 * Context: sleeps.
 */
void pghot_pt_stop(struct pt_looker *looker)
{
	kthread_stop(looker->thread);
	put_task_struct(looker->thread);
	static_branch_dec(&pghot_young_key);
	pghot_pt_empty(looker->focus);
	WRITE_ONCE(looker->period_ms, 0);
}

/**
 * pghot_pt_kick - wake the thread up, if it sleeps
 * @looker: the thread
 *
 * Context: any but NMI.
 */
void pghot_pt_kick(struct pt_looker *looker)
{
	WRITE_ONCE(looker->kicked, true);
	wake_up(&looker_wait);
}
