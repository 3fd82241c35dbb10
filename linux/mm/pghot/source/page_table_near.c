// SPDX-License-Identifier: GPL-2.0
/*
 * Looks near hint faults. A page that nobody has accessed for longer than a window, and
 * then somebody does, is not hot for that: its second access is. NUMA balancing would be a
 * whole scan later to see that one, and the scan of all page tables has its turn to come
 * as well. But where such pages are, programs have just begun to use what they did not
 * use before. So that is where to look next: see pt_near.c.
 */
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "../internal.h"
#include "pace.h"
#include "page_table.h"

/* With the shortest period the hottest alone would be found. */
#define NEAR_LEAST	1U
/*
 * It rests for no longer than a window. However long faults have told of nothing that is
 * used again, the next one may be the first of another hot set.
 */
#define NEAR_MOST	PGHOT_PACE_RESTS

u32 page_table_near_permille = PGHOT_NEAR_PERMILLE;

static u32 page_table_near_budget(void)
{
	return READ_ONCE(page_table_near_permille);
}

/* Started and stopped by those alone who exclude each other. */
struct pt_near page_table_near = {
	.looker = {
		.comm = "pghot_pt_near",
		.least = NEAR_LEAST,
		.most = NEAR_MOST,
		.permille = page_table_near_budget,
		.fill = pghot_pt_near_fill,
	},
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(page_table_near.wait),
};

/**
 * pghot_near_fault - a hint fault was the first access to a page for some time
 * @mm: whose page it is
 * @addr: where the current task accessed it
 * @nid: from which node
 *
 * What a task accesses of another process, as a debugger or a kernel thread does, is not
 * told: that the process uses it nobody knows.
 *
 * Context: process context; the lock of its page table held.
 */
void pghot_near_fault(const struct mm_struct *mm, unsigned long addr, int nid)
{
	if (!READ_ONCE(page_table_near.work) || mm != current->mm || current->flags & PF_KTHREAD)
		return;
	preempt_disable();
	pghot_pt_near_put(&page_table_near, addr, nid);
	preempt_enable();
	pghot_pt_near_tell(&page_table_near);
}
