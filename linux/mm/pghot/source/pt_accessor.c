// SPDX-License-Identifier: GPL-2.0
/*
 * From which node a process accesses its memory. An accessed bit does not say who
 * set it, so that is taken to be the node on whose CPUs most of its threads run. Where
 * who accesses a page can be asked, all have to: see ask.c.
 */
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/topology.h>

#include "../internal.h"
#include "page_table.h"
#include "vote.h"

/* Threads that are asked; of a process that has more, the oldest. */
#define PT_THREADS_MAX	32U

/**
 * struct pt_vote - what the threads of a process say
 * @nid: the only node that most of them can be on
 * @lead: how far it is ahead
 * @all: threads that were asked
 * @same: those of them that are on @nid
 */
struct pt_vote {
	int nid;
	unsigned int lead;
	unsigned int all;
	unsigned int same;
};

static void pt_accessor_vote_add(struct pt_vote *v, int nid)
{
	pghot_vote(&v->nid, &v->lead, nid);
}

static void pt_accessor_vote_check(struct pt_vote *v, int nid)
{
	v->all++;
	v->same += nid == v->nid;
}

static void pt_accessor_vote_ask(struct pt_vote *v, struct task_struct *process,
				 bool running, void (*ask)(struct pt_vote *v, int nid))
{
	unsigned int left = PT_THREADS_MAX;
	struct task_struct *t;

	for_each_thread(process, t) {
		if (!left--)
			break;
		/* The first one to be is listed until all have ended, where it ended. */
		if (READ_ONCE(t->exit_state))
			continue;
		if (!running || task_is_running(t))
			ask(v, cpu_to_node(task_cpu(t)));
	}
}

/* A thread may move between both questions: then the answer is less sure. */
static struct pt_vote pt_accessor_vote_of(struct task_struct *process, bool running)
{
	struct pt_vote v = { .nid = NUMA_NO_NODE };

	pt_accessor_vote_ask(&v, process, running, pt_accessor_vote_add);
	pt_accessor_vote_ask(&v, process, running, pt_accessor_vote_check);
	return v;
}

/*
 * Then threads that do not run count as well: one may wait for a page that is on its
 * way, and what it accesses is not to go to the others for that.
 */
static int pt_accessor_vote_all(struct task_struct *process)
{
	struct pt_vote v = pt_accessor_vote_of(process, false);

	return v.same == v.all ? v.nid : NUMA_NO_NODE;
}

static int pt_accessor_vote_most(struct task_struct *process)
{
	struct pt_vote v = pt_accessor_vote_of(process, true);

	if (!v.all)
		v = pt_accessor_vote_of(process, false);
	return v.same * 2 > v.all ? v.nid : NUMA_NO_NODE;
}

/**
 * pghot_pt_accessor - where the threads of a process run
 * @mm: its address space
 * @accessor: set to the nodes
 *
 * Most of them: those count that are running, or are about to; if none is, all, by
 * where they ran last. And all, where that is of use: while pages are asked about.
 *
 * Context: any but NMI.
 */
void pghot_pt_accessor(struct mm_struct *mm, struct pt_accessor *accessor)
{
	struct task_struct *process;

	accessor->most = NUMA_NO_NODE;
	accessor->all = NUMA_NO_NODE;
	rcu_read_lock();
	process = rcu_dereference(mm->owner);
	if (process) {
		accessor->most = pt_accessor_vote_most(process);
		if (READ_ONCE(pghot_tunables.ask))
			accessor->all = pt_accessor_vote_all(process);
	}
	rcu_read_unlock();
}
