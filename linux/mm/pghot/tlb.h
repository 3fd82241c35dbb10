/* SPDX-License-Identifier: GPL-2.0 */
/* Flushing TLBs where accessed bits were cleared and page tables stay as they are. */
#ifndef _MM_PGHOT_TLB_H
#define _MM_PGHOT_TLB_H

#include <linux/mm.h>

#include <asm/tlbflush.h>

/**
 * pghot_flush_tlb_range - have the next access set an accessed bit that was cleared
 * @vma: the mapping
 * @start: the first address
 * @end: the address after the last one
 *
 * CPUs that have translations of the process and run somebody else or nobody need not be
 * interrupted: they flush when they come back to it. On x86 that holds where no page table
 * was freed, which has to be said.
 *
 * Context: interrupts on; locks of page tables may be held.
 */
static inline void pghot_flush_tlb_range(struct vm_area_struct *vma, unsigned long start,
					 unsigned long end)
{
#ifdef CONFIG_X86
	flush_tlb_mm_range(vma->vm_mm, start, end, PAGE_SHIFT, false);
#else
	flush_tlb_range(vma, start, end);
#endif
}

/**
 * pghot_flush_tlb_mm - the same for all of a process
 * @mm: the process
 *
 * Context: interrupts on.
 */
static inline void pghot_flush_tlb_mm(struct mm_struct *mm)
{
#ifdef CONFIG_X86
	flush_tlb_mm_range(mm, 0UL, TLB_FLUSH_ALL, 0UL, false);
#else
	flush_tlb_mm(mm);
#endif
}

#endif /* _MM_PGHOT_TLB_H */
