// SPDX-License-Identifier: GPL-2.0
/*
 * The focus: page tables that are looked at several times, a period apart, so
 * that it is known how often each of their pages was accessed. Then it moves on.
 *
 * No lock is held for longer than one page table takes. A VMA that somebody changes
 * is left alone, and that look is missed: a count may be too low for it. It is too
 * high only where an address has been given to something else meanwhile.
 *
 * A page table is in one focus at a time, and once in it: a bit that one thread clears
 * another would miss, and neither would count enough.
 */
#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/spinlock.h>

#include "../internal.h"
#include "../tlb.h"
#include "isolated.h"
#include "page_table.h"

/* A thousand lists, for what three that are full have: three page tables each. */
#define FOCUS_TAKEN_BITS	10

/* Slots of all page tables that are in a focus, and what protects them. */
static DEFINE_HASHTABLE(focus_taken, FOCUS_TAKEN_BITS);
static DEFINE_SPINLOCK(focus_lock);

static unsigned long pt_focus_key(const struct mm_struct *mm, unsigned long addr)
{
	return (uintptr_t)mm * GOLDEN_RATIO_64 + addr / PMD_SIZE;
}

static struct pt_slot *pt_focus_find(const struct mm_struct *mm, unsigned long addr)
{
	struct pt_slot *slot;

	hash_for_each_possible(focus_taken, slot, taken, pt_focus_key(mm, addr))
		if (slot->mm == mm && slot->addr == addr)
			return slot;
	return NULL;
}

/* Who looks at it is told what he may not know. */
static void pt_focus_tell(struct pt_focus *focus, struct pt_slot *slot, int nid)
{
	if (nid != NUMA_NO_NODE)
		WRITE_ONCE(slot->nid, nid);
	focus->others += slot < focus->slots || slot >= focus->slots + focus->nr;
}

/**
 * pghot_pt_admit - have a page table in the focus
 * @focus: the page tables
 * @mm: whose it is
 * @addr: the first address that it maps
 * @nid: from which node it is accessed, where that is known; else NUMA_NO_NODE
 *
 * Those of a process come one after the other. One that is in a focus already is left
 * out.
 *
 * Context: process context; does not sleep.
 *
 * Return: false if there is no place.
 */
bool pghot_pt_admit(struct pt_focus *focus, struct mm_struct *mm,
		    unsigned long addr, int nid)
{
	struct pt_slot *slot;

	if (focus->nr == PT_FOCUS_MAX)
		return false;
	guard(spinlock)(&focus_lock);
	slot = pt_focus_find(mm, addr);
	if (slot) {
		pt_focus_tell(focus, slot, nid);
		return true;
	}
	slot = &focus->slots[focus->nr++];
	*slot = (struct pt_slot) { .mm = mm, .addr = addr, .nid = nid };
	mmgrab(mm);
	hash_add(focus_taken, &slot->taken, pt_focus_key(mm, addr));
	return true;
}

/**
 * pghot_pt_empty - let all page tables go
 * @focus: the page tables
 *
 * Context: process context; does not sleep.
 */
void pghot_pt_empty(struct pt_focus *focus)
{
	focus->others = 0;
	while (focus->nr) {
		struct pt_slot *slot = &focus->slots[--focus->nr];

		scoped_guard(spinlock, &focus_lock)
			hash_del(&slot->taken);
		/* Only now may another have its address. */
		mmdrop(slot->mm);
	}
}

static bool pt_focus_has_room(const struct pghot_room *room, int nid)
{
	return room->everywhere || (nid != NUMA_NO_NODE && node_isset(nid, room->plenty));
}

/* What was gathered of one page table. It may have become something else since. */
static void pt_focus_report(struct pt_focus *focus, const struct pt_slot *slot)
{
	u32 interval_ms = max(pghot_now_ms() - slot->since_ms, 1U);
	unsigned int i;

	for (i = 0; i < focus->nr_hot; i++) {
		struct pghot_access *a = &focus->hot[i];

		if (!a->interval_ms)
			a->interval_ms = interval_ms;
		if (pt_focus_has_room(&focus->room, a->nid)) {
			a->interval_ms = 0;
			a->weight = max(a->weight, READ_ONCE(pghot_tunables.freq_threshold));
		}
		if (pghot_record(a, focus->source) == PGHOT_BECAME_READY)
			focus->fresh++;
	}
	focus->nr_hot = 0;
}

/*
 * Who has a CPU to himself is not interrupted: what such a process uses most, and what so
 * never leaves the TLB of any CPU, may never be found. That it runs there now has to be
 * asked of the CPU: it stays in the mask for long after it has gone. Where TLBs are flushed
 * without interrupts this leaves out more than it has to.
 */
static bool pt_focus_may_flush(struct mm_struct *mm)
{
	unsigned int cpu;

	/* Keeps the tasks. */
	guard(rcu)();
	for_each_cpu(cpu, mm_cpumask(mm))
		if (pghot_cpu_is_isolated(cpu) &&
		    READ_ONCE(cpu_curr_snapshot(cpu)->mm) == mm)
			return false;
	return true;
}

/*
 * The tables of one process, which are next to each other. Return where the next
 * one's begin.
 *
 * One flush of the TLB for all of them, on the CPUs that run the process: it takes
 * some microseconds of theirs in each period. Without it what is used most, and
 * above all huge pages, would stay in the TLB and look as if nobody used it. After
 * the last look nobody counts; so the first one of the next round may find nothing
 * of what is in the TLB since, and is followed by a flush whatever it finds.
 */
static unsigned int pt_focus_look_mm(struct pt_focus *focus, unsigned int first,
				     u32 least, bool last, unsigned int *left)
{
	struct mm_struct *mm = focus->slots[first].mm;
	bool alive = mmget_not_zero(mm), flush = !focus->slots[first].begun;
	unsigned int i, waits;

	if (alive && least)
		pghot_pt_accessor(mm, &focus->accessor);
	waits = min(*left, PT_WAITS);
	focus->waits = waits;
	focus->large.weight = 0;
	for (i = first; i < focus->nr && focus->slots[i].mm == mm; i++) {
		if (!alive || kthread_should_stop())
			continue;
		/* What would queue is left for the last look, which says how hot it is. */
		flush |= pghot_pt_look(focus, &focus->slots[i],
				       last || (least && pghot_few_ready()) ? least : 0, last);
		pt_focus_report(focus, &focus->slots[i]);
		cond_resched();
	}
	pghot_pt_large_ends(focus);
	pt_focus_report(focus, &focus->slots[i - 1]);
	*left -= waits - focus->waits;
	if (alive && flush && !last && pt_focus_may_flush(mm))
		pghot_flush_tlb_mm(mm);
	/* The last one who lets go of it tears it down, which takes long. */
	if (alive)
		mmput_async(mm);
	return i;
}

/**
 * pghot_pt_look_all - look at all page tables of the focus
 * @focus: the page tables
 * @least: report what was counted so often, this look included; 0: nothing
 * @last: no look at them follows
 *
 * The first look only clears: nobody knows since when a bit is set.
 *
 * Context: the thread that looks.
 */
void pghot_pt_look_all(struct pt_focus *focus, u32 least, bool last)
{
	unsigned int i = 0, left = PT_WAITS_ALL;

	while (i < focus->nr) {
		i = pt_focus_look_mm(focus, i, least, last, &left);
		cond_resched();
	}
}
