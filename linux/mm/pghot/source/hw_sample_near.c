// SPDX-License-Identifier: GPL-2.0
/*
 * Looks near samples. A budget that programs do not feel is enough for some thousand
 * samples a second, which is fewer than there are hot pages: a page is sampled once in
 * a long while. So a sample says where to look as well: see pt_near.c.
 */
#include <linux/cpumask.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "../internal.h"
#include "hw_sample.h"
#include "page_table.h"
#include "sample_pace.h"

/*
 * It has to find what is there with few looks: some time apart they find what is
 * accessed now and then, too.
 */
#define NEAR_LEAST	2U
/* However many CPUs there are. */
#define NEAR_PERMILLE_MAX	500U

u32 hw_sample_look_permille = PGHOT_SAMPLE_PERMILLE;

/* All CPUs sample, and one thread looks for all of them. */
static u32 hw_sample_near_permille(void)
{
	return min(READ_ONCE(hw_sample_look_permille) * num_online_cpus(),
		   NEAR_PERMILLE_MAX);
}

/* Started and stopped by those alone who exclude each other. */
static struct pt_near sample_near = {
	.looker = {
		.comm = "pghot_near",
		.least = NEAR_LEAST,
		.permille = hw_sample_near_permille,
		.fill = pghot_pt_near_fill,
	},
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(sample_near.wait),
};

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
	if (addr && addr < TASK_SIZE_MAX && !(current->flags & PF_KTHREAD))
		pghot_pt_near_put(&sample_near, addr, nid);
}

/**
 * hw_sample_near_wake - there may have been samples
 *
 * Context: process context; the source does not stop meanwhile.
 */
void hw_sample_near_wake(void)
{
	pghot_pt_near_wake(&sample_near);
}

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
	int err = pghot_pt_near_start(&sample_near, source);

	return err == -EOPNOTSUPP ? 0 : err;
}

/**
 * hw_sample_near_stop - look no more
 *
 * Context: sleeps; no counter is there any more.
 */
void hw_sample_near_stop(void)
{
	pghot_pt_near_stop(&sample_near);
}

/**
 * hw_sample_near_changed - there is a new budget
 */
void hw_sample_near_changed(void)
{
	pghot_pt_kick(&sample_near.looker);
}

/**
 * hw_sample_near_totals - what it took since boot
 * @cpu_usec: set to CPU time
 *
 * Return: page table entries that were looked at.
 */
unsigned long hw_sample_near_totals(unsigned long *cpu_usec)
{
	*cpu_usec = READ_ONCE(sample_near.looker.cpu_usec);
	return READ_ONCE(sample_near.looker.scanned);
}
