// SPDX-License-Identifier: GPL-2.0
/*
 * Where those who use a folio allow it to be: the cpuset of the memory cgroup
 * that it is charged to, and for each process that has it mapped the cpuset and
 * the memory policy.
 *
 * A record says who accessed a page, if that much, and not whose it is. Since
 * then the page may have been bound, or freed and used again. So kmigrated asks
 * here when a folio's turn comes, whichever source reported it.
 *
 * Nothing here waits for a lock that may be held for long. The folio lock, the
 * lock of the reverse map and mmap_lock are only tried; where one is taken the
 * answer is that nobody knows just now, and the folio keeps its record. Inside
 * of them nest, as in a page fault or in reclaim, task_lock(), the lock of a
 * shared policy, and the page table lock; task_lock() also inside the latter.
 */
#include <linux/cpuset.h>
#include <linux/memcontrol.h>
#include <linux/mempolicy.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/rmap.h>
#include <linux/sched/task.h>
#include <linux/seqlock.h>
#include <linux/shmem_fs.h>

#include "internal.h"

/**
 * struct owners - one folio's owners while they are asked
 * @nodes: what all that were asked so far allow
 * @src: node that the folio is on
 * @left: how many more may be asked
 * @unknown: one could not be asked
 */
struct owners {
	nodemask_t *nodes;
	int src;
	unsigned int left;
	bool unknown;
};

/**
 * pghot_policy_filter - where a memory policy allows a page of a lower tier
 * @pol: the policy
 * @src: node that the page is on
 * @nodes: nodes that the policy does not allow are removed
 *
 * A policy with MPOL_F_NUMA_BALANCING leaves the choice among its nodes to the
 * kernel. Any other policy that somebody set has chosen: NUMA balancing leaves
 * its pages alone, and so must everybody else. But demotion asks no policy: a
 * page that is on none of the policy's nodes may go to them.
 */
void pghot_policy_filter(const struct mempolicy *pol, int src,
			 nodemask_t *nodes)
{
	/* The CPU's node, whichever that was; it has no nodes of its own. */
	if (pol->mode == MPOL_LOCAL)
		nodes_clear(*nodes);
	else if (!(pol->flags & MPOL_F_MORON) && node_isset(src, pol->nodes))
		nodes_clear(*nodes);
	else
		nodes_and(*nodes, *nodes, pol->nodes);
}

/* What a task's cpuset allows, without the task's lock. */
static void owners_mems_allow(struct task_struct *task, nodemask_t *nodes)
{
#ifdef CONFIG_CPUSETS
	nodemask_t allowed;
	unsigned int seq;

	do {
		seq = read_seqcount_begin(&task->mems_allowed_seq);
		nodes_and(allowed, *nodes, task->mems_allowed);
	} while (read_seqcount_retry(&task->mems_allowed_seq, seq));
	*nodes = allowed;
#endif
}

/**
 * pghot_process_allows - what a process allows a page of its own
 * @mm: its memory
 * @has_policy: the page has a memory policy other than the process's
 * @src: node that the page is on
 * @nodes: nodes that it does not allow are removed
 *
 * Its cpuset, of cgroup v1 or v2, and unless @has_policy its memory policy. Both
 * are those of its first thread: each thread can have its own, and which of them
 * a page belongs to nobody knows. The thread's lock is taken only where it has a
 * policy: hint faults of all threads of a process come here.
 *
 * Context: any that a page table lock may be held in.
 */
void pghot_process_allows(struct mm_struct *mm, bool has_policy, int src,
			  nodemask_t *nodes)
{
	struct task_struct *task;

	rcu_read_lock();
	task = rcu_dereference(mm->owner);
	if (task) {
		owners_mems_allow(task, nodes);
		if (!has_policy && READ_ONCE(task->mempolicy)) {
			task_lock(task);
			if (task->mempolicy)
				pghot_policy_filter(task->mempolicy, src, nodes);
			task_unlock(task);
		}
	}
	rcu_read_unlock();
}

/* What the VMA's process allows. Return false if it cannot be asked now. */
static bool owners_ask(struct vm_area_struct *vma, unsigned long addr, int src,
		       nodemask_t *nodes)
{
	struct mempolicy *pol = NULL;
	bool has_policy;

	if (vma->vm_ops && vma->vm_ops->get_policy) {
		pgoff_t unused;

		/* Mostly with a reference; else RCU keeps it. */
		rcu_read_lock();
		pol = vma->vm_ops->get_policy(vma, addr, &unused);
		if (pol)
			pghot_policy_filter(pol, src, nodes);
		has_policy = pol;
		mpol_cond_put(pol);
		rcu_read_unlock();
	} else if (READ_ONCE(vma->vm_policy)) {
		if (!mmap_read_trylock(vma->vm_mm))
			return false;
		pol = vma->vm_policy;
		if (pol)
			pghot_policy_filter(pol, src, nodes);
		has_policy = pol;
		mmap_read_unlock(vma->vm_mm);
	} else {
		has_policy = false;
	}
	pghot_process_allows(vma->vm_mm, has_policy, src, nodes);
	return true;
}

/* A VMA may cover the folio and not map it: after fork() and a write, say. */
static bool owners_maps(struct folio *folio, struct vm_area_struct *vma,
			unsigned long addr)
{
	/* mprotect() and the NUMA scanner leave an entry empty for a moment. */
	DEFINE_FOLIO_VMA_WALK(pvmw, folio, vma, addr, PVMW_SYNC);

	if (!page_vma_mapped_walk(&pvmw))
		return false;
	page_vma_mapped_walk_done(&pvmw);
	return true;
}

static bool owners_leave_any(const nodemask_t *nodes)
{
	int nid;

	for_each_node_mask(nid, *nodes)
		if (pghot_may_promote_to(nid))
			return true;
	return false;
}

/* Return false when the rest does not matter any more. */
static bool owners_rmap_one(struct folio *folio, struct vm_area_struct *vma,
			    unsigned long addr, void *arg)
{
	struct owners *o = arg;
	nodemask_t nodes = *o->nodes;

	if (!o->left) {
		nodes_clear(*o->nodes);
		return false;
	}
	o->left--;
	if (!owners_ask(vma, addr, o->src, &nodes)) {
		o->unknown = true;
		return false;
	}
	/* Looked up only where it matters. */
	if (nodes_equal(nodes, *o->nodes) || !owners_maps(folio, vma, addr))
		return true;
	*o->nodes = nodes;
	return owners_leave_any(o->nodes);
}

/* A file in memory has its policy also while nobody has it mapped. */
static void owners_ask_file(struct folio *folio, struct owners *o)
{
	struct address_space *mapping = folio->mapping;
	struct mempolicy *pol;

	if (folio_test_anon(folio) || !mapping || !shmem_mapping(mapping))
		return;
	pol = mpol_shared_policy_lookup(&SHMEM_I(mapping->host)->policy,
					folio->index);
	if (!pol)
		return;
	pghot_policy_filter(pol, o->src, o->nodes);
	mpol_cond_put(pol);
}

/**
 * pghot_owners_allow - which nodes those who use a folio allow
 * @folio: the folio, with a reference
 * @nodes: set to the nodes that all of them allow. The first that leaves no node
 *	   of the top tier ends the search, so those of lower tiers are no answer.
 *
 * A folio that more than %PGHOT_OWNERS_MAX VMAs may map is allowed nowhere.
 *
 * Of page cache that nobody has mapped only the memory cgroup is known, which a
 * cpuset of cgroup v1 has nothing to do with. Folios that KSM has merged belong
 * to processes that know nothing of each other; as NUMA balancing does, leave
 * them alone.
 *
 * Context: Process context. May reschedule; waits for no lock that sleeps.
 *
 * Return: true, or false if it cannot be known just now.
 */
bool pghot_owners_allow(struct folio *folio, nodemask_t *nodes)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_folio(folio);
	struct owners o = {
		.nodes = nodes, .src = folio_nid(folio), .left = PGHOT_OWNERS_MAX,
	};
	struct rmap_walk_control rwc = {
		.arg = &o,
		.try_lock = true,
		.rmap_one = owners_rmap_one,
		.anon_lock = folio_lock_anon_vma_read,
	};

	*nodes = node_states[N_MEMORY];
	mem_cgroup_node_filter_allowed(memcg, nodes);
	mem_cgroup_put(memcg);
	if (!owners_leave_any(nodes))
		return true;

	/* It keeps folio->mapping, and with that the reverse map. */
	if (!folio_trylock(folio))
		return false;
	if (folio_test_ksm(folio))
		nodes_clear(*nodes);
	else if (folio_mapped(folio))
		rmap_walk(folio, &rwc);
	else
		owners_ask_file(folio, &o);
	folio_unlock(folio);
	return !rwc.contended && !o.unknown;
}
