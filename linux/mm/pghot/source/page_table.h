/* SPDX-License-Identifier: GPL-2.0 */
/* What those share who look at page tables. */
#ifndef _MM_PGHOT_SOURCE_PAGE_TABLE_H
#define _MM_PGHOT_SOURCE_PAGE_TABLE_H

#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/pagewalk.h>
#include <linux/pghot.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "../internal.h"
#include "backoff.h"
#include "tally.h"

/* Page tables that are looked at in the same round: up to 2 GiB. */
#define PT_FOCUS_MAX	1024U
/* Places for page tables that are left out. */
#define PT_BACKOFF_BITS	16
/* With fewer than so many the rest of a pass is not waited for. */
#define PT_FOCUS_FEW	(PT_FOCUS_MAX / 4)
/*
 * So often who changes a VMA is waited for at a time, of one process and of all in the
 * focus, and for so long each.
 */
#define PT_WAITS	8U
#define PT_WAITS_ALL	32U
#define PT_WAIT_MS	4U

/**
 * struct pt_slot - a page table in the focus, or a huge page in its place
 * @taken: among those that are in any focus: see pt_focus.c
 * @mm: whose it is; with a reference to the struct, and not to the address space
 * @addr: the first address that it maps
 * @nid: from which node it is accessed, where that is known; else NUMA_NO_NODE
 * @since_ms: when accessed bits were first cleared
 * @begun: they were
 * @huge: what was counted is a huge page
 * @tally: how often each page was found accessed since
 * @told: what was reported of it in this round: once is enough
 */
struct pt_slot {
	struct hlist_node taken;
	struct mm_struct *mm;
	unsigned long addr;
	int nid;
	u32 since_ms;
	bool begun;
	bool huge;
	struct pghot_tally tally;
	struct pghot_places told;
};

/**
 * struct pt_accessor - from which node a process accesses its memory
 * @most: where more than half of its threads run; NUMA_NO_NODE if there is no such node
 * @all: where all do
 */
struct pt_accessor {
	int most;
	int all;
};

/**
 * struct pt_focus - page tables that are looked at in turns, none of which grows
 * @source: who reports
 * @room: where one access is enough
 * @nr: page tables in it
 * @slots: those
 * @others: page tables that were left out, as they are in another focus
 * @waits: how often VMAs of the process that is looked at are still waited for
 * @looked: page table entries looked at
 * @fresh: records that became ready
 * @accessor: of the page table of which something is reported
 * @nr_hot: pages of one page table that are to be reported
 * @hot: those; of a large folio the first page
 * @large: the large folio of this process that was met last, if it weighs anything: the next page
 *	   table may have the rest of it
 */
struct pt_focus {
	struct pghot_source *source;
	struct pghot_room room;

	unsigned int nr;
	struct pt_slot slots[PT_FOCUS_MAX];
	unsigned int others;
	unsigned int waits;

	unsigned long looked;
	unsigned long fresh;

	struct pt_accessor accessor;
	unsigned int nr_hot;
	struct pghot_access hot[PGHOT_TALLY_PAGES];
	struct pghot_access large;
};

/**
 * struct pt_scan - the working memory of the scan of all processes
 * @focus: what is looked at just now
 * @tgid: process that the cursor is at
 * @addr: address there
 * @refused: how often the VMA there could not be locked
 * @skip: how much of the process is left out after that
 * @table: the page table there that was looked at last: more than one VMA may have
 *	   part of it
 * @passes: times that it was through with all processes
 * @backoff: page tables that are left out
 */
struct pt_scan {
	struct pt_focus focus;

	pid_t tgid;
	unsigned long addr;
	unsigned int refused;
	unsigned long skip;
	unsigned long table;
	unsigned long passes;

	struct pghot_backoff backoff[1U << PT_BACKOFF_BITS];
};

/**
 * struct pt_looker - a thread that looks at page tables
 * @comm: of the thread
 * @least: the least that its pace is slowed down: see pace.c
 * @most: the most, or 0
 * @focus: what it looks at; there from start to stop
 * @permille: says how many thousandths of a CPU it may use
 * @fill: have page tables in the focus that are next; may sleep; returns true if the rest
 *	  is not worth waiting for
 * @thread: itself
 * @kicked: there is a new budget
 * @scanned, @cpu_usec: entries that were looked at, and CPU time, since boot
 * @period_ms: from one look to the next; 0 while it does not run
 */
struct pt_looker {
	const char *comm;
	u32 least;
	u32 most;
	struct pt_focus *focus;
	u32 (*permille)(void);
	bool (*fill)(struct pt_looker *looker);

	struct task_struct *thread;
	bool kicked;
	unsigned long scanned;
	unsigned long cpu_usec;
	u32 period_ms;
};

struct pt_near_work;

/**
 * struct pt_near - looks at page tables that somebody tells of
 * @looker: the thread
 * @work: memory of the thread, and where each CPU says which; NULL while nobody looks
 * @wait: it waits there
 * @some: it was told that there are some
 * @first: the CPU whose ring was emptied first
 */
struct pt_near {
	struct pt_looker looker;
	struct pt_near_work *work;
	wait_queue_head_t wait;
	bool some;
	unsigned int first;
};

/* No page table begins there. */
#define PT_NO_TABLE	ULONG_MAX

/* Somebody changes a VMA just now. */
static inline void pghot_pt_wait(void)
{
	schedule_timeout_idle(msecs_to_jiffies(PT_WAIT_MS));
}

/* What is no ordinary memory has no accessed bits that say anything. */
static inline bool pghot_pt_wants_vma(const struct vm_area_struct *vma)
{
	return !(vma->vm_flags & (VM_PFNMAP | VM_IO | VM_HUGETLB));
}

/* pt_table.c */
int pghot_pt_pud(pud_t *pud, unsigned long addr, unsigned long end,
		 struct mm_walk *walk);
bool pghot_pt_has_lower(struct pt_focus *focus, pmd_t *pmd, unsigned long addr);
bool pghot_pt_look(struct pt_focus *focus, struct pt_slot *slot, u32 least,
		   bool last);
void pghot_pt_met_large(struct pt_focus *focus, const struct pghot_access *access);
void pghot_pt_large_ends(struct pt_focus *focus);

/* pt_vma.c */
bool pghot_pt_find_vma(struct mm_struct *mm, unsigned long *start,
		       unsigned long *end);
bool pghot_pt_wants_table(struct mm_struct *mm, unsigned long addr);

/* pt_accessor.c */
void pghot_pt_accessor(struct mm_struct *mm, struct pt_accessor *accessor);

/* pt_focus.c */
bool pghot_pt_admit(struct pt_focus *focus, struct mm_struct *mm,
		    unsigned long addr, int nid);
void pghot_pt_look_all(struct pt_focus *focus, u32 least, bool last);
void pghot_pt_empty(struct pt_focus *focus);

/* pt_looker.c */
bool pghot_nothing_moves(unsigned long *moved);
int pghot_pt_start(struct pt_looker *looker);
void pghot_pt_stop(struct pt_looker *looker);
void pghot_pt_kick(struct pt_looker *looker);

/* pt_near.c */
void pghot_pt_near_put(struct pt_near *near, unsigned long addr, int nid);
void pghot_pt_near_tell(struct pt_near *near);
void pghot_pt_near_wake(struct pt_near *near);
bool pghot_pt_near_fill(struct pt_looker *looker);
int pghot_pt_near_start(struct pt_near *near, struct pghot_source *source);
void pghot_pt_near_stop(struct pt_near *near);

/* page_table_near.c: a budget that nobody feels, and a hundred thousand looks a second */
#define PGHOT_NEAR_PERMILLE	20U
extern u32 page_table_near_permille;
extern struct pt_near page_table_near;

/* pt_cursor.c */
struct mm_struct *pghot_pt_mm(pid_t tgid);
bool pghot_pt_fill(struct pt_scan *scan);

#endif /* _MM_PGHOT_SOURCE_PAGE_TABLE_H */
