// SPDX-License-Identifier: GPL-2.0
/*
 * VMAs without mmap_lock. Who maps or unmaps memory all the time holds that most of
 * the time, and a walk that holds it keeps him waiting. A VMA has a lock of its own,
 * which only those hold for writing who change that VMA.
 */
#include <linux/maple_tree.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>

#include "page_table.h"

/**
 * pghot_pt_find_vma - find the next VMA of an address space
 * @mm: address space, with a reference that keeps it mapped
 * @start: where to begin; set to the first address from there on that a VMA has
 * @end: where to stop; set to where that VMA ends, if it does before
 *
 * It may change or go as soon as this returns: lock_vma_under_rcu() says whether
 * there still is one.
 *
 * Context: any.
 *
 * Return: false if there is none.
 */
bool pghot_pt_find_vma(struct mm_struct *mm, unsigned long *start,
		       unsigned long *end)
{
	MA_STATE(mas, &mm->mm_mt, *start, *start);
	bool found;

	if (*start >= *end)
		return false;
	rcu_read_lock();
	found = mas_find(&mas, *end - 1);
	rcu_read_unlock();
	if (!found)
		return false;
	*start = max(*start, mas.index);
	*end = min(*end, mas.last + 1);
	return true;
}
