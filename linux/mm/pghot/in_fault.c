// SPDX-License-Identifier: GPL-2.0
/*
 * Which folios a hint fault moves itself, in place of a record. Whatever moves
 * one, it goes nowhere that kmigrated would not have brought it to.
 */
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/nodemask.h>

#include "internal.h"

/**
 * pghot_fault_allowed - may a fault move a folio, as far as others have a say
 * @folio: the folio
 * @mm: the memory of the thread that faulted
 * @has_policy: the page has a memory policy other than the process's
 * @nid: node that the thread itself allows
 *
 * Of all that pghot_owners_allow() asks, what a thread that faults does not know by
 * itself: the memory cgroup that the folio is charged to may be another one than its
 * own, and the first thread of its process may be bound while it is not. Not the
 * other processes that have the folio mapped: finding them takes locks.
 *
 * Context: page table lock held; does not sleep.
 *
 * Return: true if they allow @nid.
 */
bool pghot_fault_allowed(struct folio *folio, struct mm_struct *mm,
			 bool has_policy, int nid)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_folio(folio);
	nodemask_t nodes = node_states[N_MEMORY];

	mem_cgroup_node_filter_allowed(memcg, &nodes);
	mem_cgroup_put(memcg);
	pghot_process_allows(mm, has_policy, folio_nid(folio), &nodes);
	return node_isset(nid, nodes);
}

/**
 * pghot_fault_moves - is a fault to move a folio, as kmigrated is behind
 * @folio: the folio, that is to be promoted to where numa_promotion_unlimited()
 * @mm: the memory of the thread that faulted
 * @has_policy: the page has a memory policy other than the process's
 * @nid: node that the thread runs on
 * @target: node that the folio is to go to
 *
 * With plenty of room there is no order to keep to and no limit, and one access,
 * hot or not, makes a record ready. Of a folio that nobody else has mapped all
 * owners are known. So kmigrated would do the same, later.
 *
 * Context: page table lock held; does not sleep.
 *
 * Return: true if so.
 */
bool pghot_fault_moves(struct folio *folio, struct mm_struct *mm,
		       bool has_policy, int nid, int target)
{
	return target == nid && pghot_is_behind(folio_nid(folio)) &&
	       !folio_maybe_mapped_shared(folio) &&
	       pghot_fault_allowed(folio, mm, has_policy, nid);
}
