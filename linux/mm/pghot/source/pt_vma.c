// SPDX-License-Identifier: GPL-2.0
/*
 * VMAs without mmap_lock. Who maps or unmaps memory all the time holds that most of
 * the time, and a walk that holds it keeps him waiting. A VMA has a lock of its own,
 * which only those hold for writing who change that VMA.
 */
#include <linux/maple_tree.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/pgtable.h>
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

/**
 * pghot_pt_wants_table - may a page table say anything
 * @mm: whose it is, with a reference that keeps it mapped
 * @addr: the first address that it maps
 *
 * Context: process context; sleeps.
 *
 * Return: false if it maps nothing whose accessed bits do.
 */
bool pghot_pt_wants_table(struct mm_struct *mm, unsigned long addr)
{
	unsigned long limit = addr + PMD_SIZE, end = limit;

	while (pghot_pt_find_vma(mm, &addr, &end)) {
		struct vm_area_struct *vma = lock_vma_under_rcu(mm, addr);
		/* Of one that is being changed nothing is known. */
		bool wants = !vma || pghot_pt_wants_vma(vma);

		if (vma)
			vma_end_read(vma);
		if (wants)
			return true;
		addr = end;
		end = limit;
	}
	return false;
}
