// SPDX-License-Identifier: GPL-2.0
/*
 * Which pages NUMA balancing's scanner is to unmap for hint faults, where not all are worth a
 * fault.
 *
 * To look at a page that is left mapped costs as much as a quarter of a fault: at its page
 * table entry, its struct page and what there is to be asked. Where one in 32 is to be unmapped
 * that is most of what is spent. So page tables are left out as a whole, half of them or more, and
 * pages in those that are not: from all over memory some are unmapped in each window, and others
 * in the next. Tables that are next to each other have their turn together, as each part that is
 * looked at for itself flushes TLBs.
 *
 * That is not done where the scanner balances between sockets as well, which looks for other
 * pages, and not for what fault_yield.c says, which goes by where pages are.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/pghot.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/sched/sysctl.h>

#include "../internal.h"
#include "../fault_yield.h"

/* Of the pages of a table that is looked at one in so many powers of two is unmapped. */
#define SCAN_BY_PAGE	2U
/* So many powers of two of tables are next to each other: 16 MiB. */
#define SCAN_SHIFT	(PMD_SHIFT + 3)

/*
 * By which power of two fewer page tables are looked at. A thread of the kernel's does not
 * scan: it asks about pages that it knows to be hot.
 */
static u32 hint_scan_by_table(void)
{
	u32 held = READ_ONCE(pghot_held_back);

	if (likely(!held) || current->flags & PF_KTHREAD ||
	    READ_ONCE(sysctl_numa_balancing_mode) & NUMA_BALANCING_NORMAL)
		return 0;
	return held - min(held, SCAN_BY_PAGE);
}

/*
 * How many pages fewer are to be unmapped there, as that told nothing. One fault of a
 * large folio tells of all its pages: there is not much to be spared.
 */
static u32 hint_scan_by_yield(const struct folio *folio)
{
	if (folio_test_large(folio) || current->flags & PF_KTHREAD ||
	    !READ_ONCE(pghot_backoff))
		return 0;
	return pghot_yield_held(&pghot_fault_yield, folio_pfn(folio));
}

/**
 * __pghot_hint_wanted - is a page of a lower tier to be unmapped for a hint fault
 * @folio: its folio
 *
 * Where promotion is slowed down, as it gains nothing, there is no use for more hint
 * faults than pages may go; nor where they tell of nothing that is hot. It is a few of
 * all pages, and others in each window. By some of that page tables were left out before.
 *
 * Context: page table lock held; does not sleep.
 *
 * Return: true if so.
 */
bool __pghot_hint_wanted(const struct folio *folio)
{
	u32 held = max(READ_ONCE(pghot_held_back), hint_scan_by_yield(folio));

	held -= min(held, hint_scan_by_table());
	if (likely(pghot_held_wants(held, folio_pfn(folio))))
		return true;
	pghot_stat_add(PGHOT_STAT_hint_spared, folio_nr_pages(folio));
	return false;
}

/*
 * Is the page table at an address one of those whose turn it is? Hashed twice: pages have theirs
 * by the hash, and in each of these tables all are to have it some time.
 */
static bool hint_scan_wants(u32 held, unsigned long addr)
{
	return hash_64(addr >> SCAN_SHIFT, held) ==
	       hash_32(hash_32(pghot_window_turn(), 32), held);
}

static unsigned long hint_scan_end(unsigned long addr, unsigned long end)
{
	return min(end - addr, (1UL << SCAN_SHIFT) - addr % (1UL << SCAN_SHIFT)) + addr;
}

/**
 * __pghot_scan - unmap pages for hint faults
 * @vma: the mapping
 * @start: first address
 * @end: address behind it
 *
 * Context: that of change_prot_numa().
 *
 * Return: how many pages were unmapped; 1 if all page tables were left out. The scanner goes on
 *	   faster where there was nothing, and is not to come round the sooner for that.
 */
unsigned long __pghot_scan(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	u32 held = hint_scan_by_table();
	unsigned long addr, next, updates = 0, spared = 0;
	bool looked = false;

	if (likely(!held))
		return change_prot_numa(vma, start, end);
	for (addr = start; addr < end; addr = next) {
		next = hint_scan_end(addr, end);
		if (hint_scan_wants(held, addr)) {
			updates += change_prot_numa(vma, addr, next);
			looked = true;
		} else {
			spared += (next - addr) >> PAGE_SHIFT;
		}
	}
	pghot_stat_add(PGHOT_STAT_hint_spared, spared);
	return looked ? updates : 1;
}
