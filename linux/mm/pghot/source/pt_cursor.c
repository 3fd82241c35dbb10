// SPDX-License-Identifier: GPL-2.0
/*
 * The cursor: goes through all processes in the order of their IDs, and through
 * the page tables of each in the order of addresses. Tables that map something
 * of a lower tier enter the focus; others are left out for some passes.
 *
 * What is kept of processes is where the cursor is, so that nothing grows with
 * their number.
 */
#include <linux/hash.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/oom.h>
#include <linux/pagewalk.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>

#include "page_table.h"

/*
 * Steps of the cursor: a process, a VMA, a gigabyte of it, a page table. So many until
 * a VMA's lock is let go: less than 0.2 ms with tables that are full. And so many at
 * most until those are looked at that are in the focus.
 */
#define CURSOR_LOCK_STEPS	64U
#define CURSOR_FILL_STEPS	8192U

/**
 * struct pt_fill - filling the focus
 * @scan: whose focus
 * @steps: how many are left
 * @lock_steps: how many are left until the lock of the VMA is let go
 */
struct pt_fill {
	struct pt_scan *scan;
	unsigned int steps;
	unsigned int lock_steps;
};

/* Take a step, or stop here and go on from @addr the next time. */
static int pt_cursor_fill_step(struct pt_fill *f, unsigned long addr)
{
	if (f->lock_steps && f->steps && f->scan->focus.nr < PT_FOCUS_MAX) {
		f->lock_steps--;
		f->steps--;
		return 0;
	}
	f->scan->addr = addr;
	return -EAGAIN;
}

/* Return the place of a page table among those that are left out. */
static struct pghot_backoff *pt_cursor_fill_backoff(struct pt_scan *scan,
						    struct mm_struct *mm,
						    unsigned long addr, u8 *tag)
{
	u64 table = (uintptr_t)mm * GOLDEN_RATIO_64 + addr / PMD_SIZE;

	return &scan->backoff[pghot_backoff_place(table, scan->passes, PT_BACKOFF_BITS, tag)];
}

static int pt_cursor_fill_pmd(pmd_t *pmd, unsigned long addr, unsigned long end,
			      struct mm_walk *walk)
{
	unsigned long table = addr & PMD_MASK;
	struct pt_fill *f = walk->private;
	struct pghot_backoff *b;
	bool some;
	u8 tag;
	int err;

	if (table == f->scan->table)
		return 0;
	err = pt_cursor_fill_step(f, addr);
	if (err)
		return err;
	f->scan->table = table;
	b = pt_cursor_fill_backoff(f->scan, walk->mm, table, &tag);
	if (pghot_backoff_skips(b, tag))
		return 0;
	some = pghot_pt_has_lower(&f->scan->focus, pmd, table);
	pghot_backoff_looked(b, tag, some);
	if (some)
		pghot_pt_admit(&f->scan->focus, walk->mm, table, NUMA_NO_NODE);
	return 0;
}

/* What maps nothing is no step of its own: a huge mapping may be mostly that. */
static int pt_cursor_fill_pud(pud_t *pud, unsigned long addr, unsigned long end,
			      struct mm_walk *walk)
{
	int err = pt_cursor_fill_step(walk->private, addr);

	return err ?: pghot_pt_pud(pud, addr, end, walk);
}

static const struct mm_walk_ops fill_ops = {
	.pud_entry = pt_cursor_fill_pud,
	.pmd_entry = pt_cursor_fill_pmd,
	.walk_lock = PGWALK_VMA_RDLOCK_VERIFY,
};

static void pt_cursor_at_process(struct pt_scan *scan, pid_t tgid)
{
	scan->tgid = tgid;
	scan->addr = 0;
	scan->refused = 0;
	scan->skip = 0;
	scan->table = PT_NO_TABLE;
}

static void pt_cursor_next_process(struct pt_scan *scan)
{
	pt_cursor_at_process(scan, scan->tgid + 1);
}

/*
 * Somebody changes the VMA just now, which ends at @end, and is waited for. Who does
 * so for long does not keep the cursor: it goes on behind the VMA, or a gigabyte of
 * it, and if the next one is not to be had either, as in a fork, it leaves out ever
 * more. Return true if the cursor has moved on.
 */
static bool pt_cursor_refused(struct pt_scan *scan, unsigned long end)
{
	if (++scan->refused < PT_WAITS)
		return false;
	scan->refused = 0;
	if (scan->skip) {
		scan->skip *= 2;
		scan->addr += scan->skip;
	} else {
		scan->skip = PUD_SIZE;
		scan->addr = min(scan->addr + PUD_SIZE, end);
	}
	return true;
}

/*
 * Go on with the VMA that the cursor is in, until its lock has been held for long
 * enough. Return false if that was not to be had.
 */
static bool pt_cursor_vma(struct pt_scan *scan, struct mm_struct *mm,
			  struct pt_fill *f)
{
	struct vm_area_struct *vma = lock_vma_under_rcu(mm, scan->addr);
	unsigned long end;

	if (!vma)
		return false;
	end = vma->vm_end;
	f->lock_steps = CURSOR_LOCK_STEPS;
	if (!pghot_pt_wants_vma(vma) ||
	    !walk_page_range_vma(vma, scan->addr, end, &fill_ops, f))
		scan->addr = end;
	scan->refused = 0;
	scan->skip = 0;
	vma_end_read(vma);
	return true;
}

/*
 * Go on with a process, until it ends or there is no room or no step left. Return
 * false where it has to be waited for.
 */
static bool pt_cursor_walk(struct pt_scan *scan, struct mm_struct *mm,
			   struct pt_fill *f)
{
	while (f->steps && scan->focus.nr < PT_FOCUS_MAX && !kthread_should_stop()) {
		unsigned long from = scan->addr, end = mm->task_size;

		if (!pghot_pt_find_vma(mm, &scan->addr, &end)) {
			pt_cursor_next_process(scan);
			return true;
		}
		if (scan->addr != from)
			scan->refused = 0;
		f->steps--;
		if (!pt_cursor_vma(scan, mm, f) && !pt_cursor_refused(scan, end))
			return false;
		cond_resched();
	}
	return true;
}

/*
 * Where processes share an address space, as after vfork(), that is gone through as
 * its owner's, unless what is @shared is asked for. Kernel threads have none. The first
 * thread of a process may have ended before the others.
 */
static struct mm_struct *pt_cursor_mm_of(struct task_struct *process, bool shared)
{
	struct task_struct *task, *owner;
	struct mm_struct *mm = NULL;

	if (process->flags & PF_KTHREAD)
		return NULL;
	task = find_lock_task_mm(process);
	if (!task)
		return NULL;
	owner = rcu_dereference(task->mm->owner);
	if (shared || !owner || owner->tgid == process->tgid) {
		mm = task->mm;
		mmget(mm);
	}
	task_unlock(task);
	return mm;
}

/**
 * pghot_pt_mm - the address space of a process
 * @tgid: the process
 *
 * Context: process context; does not sleep.
 *
 * Return: its address space, which it may share with others, with a reference that
 *	   keeps it mapped; NULL if it has none.
 */
struct mm_struct *pghot_pt_mm(pid_t tgid)
{
	struct mm_struct *mm = NULL;
	struct task_struct *task;

	rcu_read_lock();
	task = pid_task(find_pid_ns(tgid, &init_pid_ns), PIDTYPE_TGID);
	if (task)
		mm = pt_cursor_mm_of(task, true);
	rcu_read_unlock();
	return mm;
}

/*
 * The process that the cursor is at, or else the next one. Return false if there
 * is none behind it. @mm is NULL where an ID is a thread's, or there is nothing to
 * look at.
 */
static bool pt_cursor_process(struct pt_scan *scan, struct mm_struct **mm)
{
	struct task_struct *task;
	struct pid *pid;

	*mm = NULL;
	rcu_read_lock();
	pid = find_ge_pid(scan->tgid, &init_pid_ns);
	if (pid) {
		if (pid_nr(pid) != scan->tgid)
			pt_cursor_at_process(scan, pid_nr(pid));
		task = pid_task(pid, PIDTYPE_TGID);
		if (task)
			*mm = pt_cursor_mm_of(task, false);
	}
	rcu_read_unlock();
	return pid;
}

/**
 * pghot_pt_fill - fill the focus from where the cursor is
 * @scan: whose focus
 *
 * It ends where all processes have been gone through, so that no page table is in
 * the focus twice.
 *
 * Context: the thread of the scan; sleeps.
 *
 * Return: true if a pass has ended with it.
 */
bool pghot_pt_fill(struct pt_scan *scan)
{
	struct pt_fill f = {
		.scan = scan,
		.steps = CURSOR_FILL_STEPS,
	};
	struct mm_struct *mm;
	bool walked;

	while (f.steps && scan->focus.nr < PT_FOCUS_MAX && !kthread_should_stop()) {
		cond_resched();
		if (!pt_cursor_process(scan, &mm)) {
			pt_cursor_at_process(scan, 0);
			if (pghot_backoff_begins(++scan->passes))
				memset(scan->backoff, 0, sizeof(scan->backoff));
			return true;
		}
		f.steps--;
		if (!mm) {
			pt_cursor_next_process(scan);
			continue;
		}
		walked = pt_cursor_walk(scan, mm, &f);
		mmput_async(mm);
		if (!walked)
			pghot_pt_wait();
	}
	return false;
}
