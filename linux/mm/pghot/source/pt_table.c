// SPDX-License-Identifier: GPL-2.0
/*
 * One page table: does it map anything of a lower tier, and which of its pages were
 * accessed since the last look.
 *
 * Accessed bits are cleared without a flush of the TLB for each, as reclaim does
 * on x86: of what is found in the TLB until the next look a bit stays clear, which
 * makes a hot page look colder, and nothing worse. But that holds for the hottest
 * most of all, and for huge pages far more, of which a TLB holds gigabytes. So who
 * looks at all tables of a process flushes once when it is through: see pt_focus.c.
 *
 * What is cleared here stays known to reclaim: see pghot_tell_accessed().
 */
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/mmap_lock.h>
#include <linux/mmu_notifier.h>
#include <linux/mmzone.h>
#include <linux/pagewalk.h>
#include <linux/pgtable.h>

#include "../internal.h"
#include "page_table.h"

/* Whether pages of a section are tracked: its neighbours mostly are, as it is. */
struct pt_memo {
	unsigned long section;
	bool tracked;
};

/* No section has this number. */
#define PT_NO_SECTION	ULONG_MAX

/* So often one VMA is waited for in a look, of the times that there are for all. */
#define LOOK_WAITS	2U

static bool pt_table_is_tracked(struct pt_memo *memo, unsigned long pfn)
{
	unsigned long section = pfn_to_section_nr(pfn);

	if (section != memo->section) {
		memo->section = section;
		memo->tracked = pghot_map_owner(&pghot_map, pfn);
	}
	return memo->tracked;
}

/* What has no struct page, or is no memory, has no record either. */
static bool pt_table_entry_tracked(struct pt_memo *memo, pte_t pte)
{
	return pte_present(pte) && !pte_special(pte) &&
	       pt_table_is_tracked(memo, pte_pfn(pte));
}

/**
 * pghot_pt_has_lower - does a page table map anything of a lower tier
 * @focus: where to count what is looked at
 * @pmd: the entry that names the page table, or a huge page
 * @addr: the first address that it maps
 *
 * Looks at all of it, whatever VMAs it has.
 *
 * Context: the lock of a VMA there held; does not sleep.
 *
 * Return: true if it does.
 */
bool pghot_pt_has_lower(struct pt_focus *focus, pmd_t *pmd, unsigned long addr)
{
	struct pt_memo memo = { .section = PT_NO_SECTION };
	pmd_t val = pmdp_get_lockless(pmd);
	bool found = false;
	pte_t *ptes;
	int i;

	if (!pmd_present(val))
		return false;
	if (pmd_leaf(val)) {
		focus->looked++;
		/* Nor is the zero page anything that is moved, wherever it is. */
		return !is_huge_zero_pmd(val) && pt_table_is_tracked(&memo, pmd_pfn(val));
	}
	ptes = pte_offset_map(pmd, addr);
	if (!ptes)
		return false;
	for (i = 0; i < PTRS_PER_PTE && !found; i++)
		found = pt_table_entry_tracked(&memo, ptep_get_lockless(ptes + i));
	pte_unmap(ptes);
	focus->looked += i;
	return found;
}

/**
 * pghot_pt_pud - leave alone what maps a gigabyte at once
 * @pud: the entry
 * @addr: the first address
 * @end: the address after the last one
 * @walk: who comes by
 *
 * Persistent memory and devices may be mapped so. To look at a part of it, the walk
 * would have it split, which no accessed bit is worth.
 *
 * Context: the lock of the VMA held.
 *
 * Return: 0.
 */
int pghot_pt_pud(pud_t *pud, unsigned long addr, unsigned long end,
		 struct mm_walk *walk)
{
	if (pud_leaf(pudp_get(pud)))
		walk->action = ACTION_CONTINUE;
	return 0;
}

/**
 * struct pt_look - a look at a page table
 * @focus: who looks
 * @slot: the page table
 * @memo: whether the section of the last page is tracked
 * @seen: places of large folios that were found accessed: each counts once
 * @known: the first page of the one that was met last in a mapping, and
 * @nr_known: how many it has: each of its entries says the same
 * @least: report what was counted so often; 0: nothing
 * @last: no look at it follows
 * @cleared: an accessed bit was set
 * @asks: who accesses pages of the mapping that is looked at can be asked
 */
struct pt_look {
	struct pt_focus *focus;
	struct pt_slot *slot;
	struct pt_memo memo;
	struct pghot_places seen;
	unsigned long known;
	unsigned long nr_known;
	u32 least;
	bool last;
	bool cleared;
	bool asks;
};

/*
 * Where something is counted that the entry number @i maps: a large folio where its
 * first page is, or would be, in this table. Any of its entries may be the one that
 * has been accessed, and the first need not be there.
 */
static unsigned int pt_table_place(const struct folio *folio, unsigned long pfn,
				   unsigned int i)
{
	return i - min_t(unsigned long, i, pfn - folio_pfn(folio));
}

/* What the first look finds may be from any time before. */
static void pt_table_count(struct pt_look *look, struct vm_area_struct *vma,
			   struct folio *folio, unsigned int i)
{
	bool large = folio_test_large(folio);

	look->cleared = true;
	pghot_tell_accessed(folio, vma_has_recency(vma));
	if (large && !pghot_places_add(&look->seen, i))
		return;
	if (look->slot->begun)
		pghot_tally_add(&look->slot->tally, i, large);
}

/*
 * It is asked for, if it can be. Else samples know it, or it is taken to be where most
 * threads run.
 */
static int pt_table_accessor(struct pt_look *look, struct vm_area_struct *vma,
			     struct folio *folio)
{
	int nid;

	if (look->asks && pghot_ask_folio(folio, vma))
		return look->focus->accessor.all;
	nid = READ_ONCE(look->slot->nid);
	return nid != NUMA_NO_NODE ? nid : look->focus->accessor.most;
}

/**
 * pghot_pt_large_ends - no further page table has a part of the large folio that was met last
 * @focus: who looks; with room for one more report
 *
 * Context: the thread that looks; does not sleep.
 */
void pghot_pt_large_ends(struct pt_focus *focus)
{
	if (focus->large.weight)
		focus->hot[focus->nr_hot++] = focus->large;
	focus->large.weight = 0;
}

/**
 * pghot_pt_met_large - there is something to report of a large folio
 * @focus: who looks; with room for one more report
 * @access: the report
 *
 * It may have begun in the page table before. It is worth as much as its part that is used
 * most, in one report: two would be taken for what two sources saw, or for two intervals.
 *
 * Context: the thread that looks; does not sleep.
 */
void pghot_pt_met_large(struct pt_focus *focus, const struct pghot_access *access)
{
	if (focus->large.pfn != access->pfn)
		pghot_pt_large_ends(focus);
	else if (focus->large.weight > access->weight)
		return;
	focus->large = *access;
}

/*
 * Before the last look what would only wait is left for that: by how often it was accessed in
 * all is decided who goes first. So is a large folio that another page table or mapping may have
 * part of, which may not be hot yet, and would be reported once more.
 */
static void pt_table_report(struct pt_look *look, struct vm_area_struct *vma,
			    struct folio *folio, unsigned int i, bool whole)
{
	bool large = folio_test_large(folio);
	struct pt_focus *focus = look->focus;
	struct pt_slot *slot = look->slot;
	struct pghot_access access = {
		.pfn = folio_pfn(folio),
		.weight = pghot_tally_get(&slot->tally, i, large),
	};

	if (access.weight < look->least || focus->nr_hot == ARRAY_SIZE(focus->hot) ||
	    pghot_places_has(&slot->told, i))
		return;
	access.nid = pt_table_accessor(look, vma, folio);
	if (!look->last && (!whole || pghot_is_waiting(folio_nid(folio), access.nid)))
		return;
	pghot_places_add(&slot->told, i);
	if (large) {
		/* It may be reported with another page table. */
		access.interval_ms = max(pghot_now_ms() - slot->since_ms, 1U);
		pghot_pt_met_large(focus, &access);
	} else {
		focus->hot[focus->nr_hot++] = access;
	}
}

/* A huge page that was split, or made, is none that was counted. */
static void pt_table_is_huge(struct pt_look *look, bool huge)
{
	if (look->slot->huge != huge) {
		look->slot->tally = (struct pghot_tally) {};
		look->slot->told = (struct pghot_places) {};
	}
	look->slot->huge = huge;
}

/*
 * KSM merges pages of many, and they stay where they are. So do those of the kernel that it
 * shows to a process, which belong to no file.
 */
static bool pt_table_wants(struct folio *folio)
{
	return folio && !folio_test_ksm(folio) &&
	       (folio_test_anon(folio) || READ_ONCE(folio->mapping));
}

static void pt_table_look_huge(struct pt_look *look, struct vm_area_struct *vma,
			       unsigned long addr, pmd_t *pmd)
{
	struct mm_struct *mm = vma->vm_mm;
	pmd_t val = pmdp_get(pmd);
	struct folio *folio;
	bool young = false;

	if (!IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE) || !pmd_present(val) ||
	    !pt_table_is_tracked(&look->memo, pmd_pfn(val)))
		return;
	folio = vm_normal_folio_pmd(vma, addr, val);
	if (!pt_table_wants(folio))
		return;
	look->focus->looked++;
	pt_table_is_huge(look, true);
	if (pmd_young(val))
		young = pmdp_test_and_clear_young(vma, addr, pmd);
	young |= mmu_notifier_clear_young(mm, addr, addr + PMD_SIZE);
	if (young)
		pt_table_count(look, vma, folio, 0);
	if (look->least)
		pt_table_report(look, vma, folio, 0, true);
}

static void pt_table_look_entry(struct pt_look *look, struct vm_area_struct *vma,
				unsigned long addr, pte_t *pte, bool notify)
{
	pte_t val = ptep_get(pte);
	struct folio *folio;
	bool young = false;

	/* Of most that were not accessed nothing else is asked. */
	if (!pte_young(val) && !notify)
		return;
	if (!pt_table_entry_tracked(&look->memo, val))
		return;
	folio = vm_normal_folio(vma, addr, val);
	if (!pt_table_wants(folio))
		return;
	if (pte_young(val))
		young = ptep_test_and_clear_young(vma, addr, pte);
	young |= mmu_notifier_clear_young(vma->vm_mm, addr, addr + PAGE_SIZE);
	if (young)
		pt_table_count(look, vma, folio,
			       pt_table_place(folio, pte_pfn(val), pte_index(addr)));
}

static void pt_table_report_entry(struct pt_look *look, struct vm_area_struct *vma,
				  unsigned long addr, pte_t val)
{
	unsigned int i = pte_index(addr), place;
	unsigned long before;
	struct folio *folio;
	bool whole;

	if (!pt_table_entry_tracked(&look->memo, val) ||
	    pte_pfn(val) - look->known < look->nr_known)
		return;
	folio = vm_normal_folio(vma, addr, val);
	if (!pt_table_wants(folio))
		return;
	look->known = folio_pfn(folio);
	look->nr_known = folio_nr_pages(folio);
	place = pt_table_place(folio, pte_pfn(val), i);
	before = pte_pfn(val) - look->known;
	whole = i >= before && place + look->nr_known <= PTRS_PER_PTE &&
		addr - vma->vm_start >= before * PAGE_SIZE &&
		vma->vm_end - addr >= (look->nr_known - before) * PAGE_SIZE;
	pt_table_report(look, vma, folio, place, whole);
}

/*
 * Of a large folio each entry has to be looked at first. Where there is none an entry
 * that was not counted is no more than that.
 */
static void pt_table_report_entries(struct pt_look *look, struct vm_area_struct *vma,
				    unsigned long start, unsigned long end,
				    pte_t *ptes)
{
	const struct pghot_tally *tally = &look->slot->tally;
	bool large = pghot_places_any(&tally->large);
	unsigned long addr;

	for (addr = start; addr != end; addr += PAGE_SIZE, ptes++)
		if (large || pghot_tally_get(tally, pte_index(addr), false) >= look->least)
			pt_table_report_entry(look, vma, addr, ptep_get(ptes));
}

static void pt_table_look_entries(struct pt_look *look, struct vm_area_struct *vma,
				  unsigned long start, unsigned long end, pmd_t *pmd)
{
	bool notify = mm_has_notifiers(vma->vm_mm);
	unsigned long addr;
	spinlock_t *ptl;	/* of the page table */
	pte_t *ptes;

	ptes = pte_offset_map_lock(vma->vm_mm, pmd, start, &ptl);
	if (!ptes)
		return;
	pt_table_is_huge(look, false);
	look->focus->looked += (end - start) / PAGE_SIZE;
	for (addr = start; addr != end; addr += PAGE_SIZE)
		pt_table_look_entry(look, vma, addr,
				    ptes + (addr - start) / PAGE_SIZE, notify);
	if (look->least)
		pt_table_report_entries(look, vma, start, end, ptes);
	pte_unmap_unlock(ptes, ptl);
}

static int pt_table_look_pmd(pmd_t *pmd, unsigned long addr, unsigned long end,
			     struct mm_walk *walk)
{
	struct pt_look *look = walk->private;
	spinlock_t *ptl = pmd_trans_huge_lock(pmd, walk->vma);

	if (ptl) {
		pt_table_look_huge(look, walk->vma, addr & PMD_MASK, pmd);
		spin_unlock(ptl);
	} else {
		pt_table_look_entries(look, walk->vma, addr, end, pmd);
	}
	return 0;
}

static const struct mm_walk_ops look_ops = {
	.pud_entry = pghot_pt_pud,
	.pmd_entry = pt_table_look_pmd,
	.walk_lock = PGWALK_VMA_RDLOCK_VERIFY,
};

/* Return false if the VMA is being changed, or is gone. */
static bool pt_table_look_vma(struct pt_look *look, unsigned long start,
			      unsigned long *end)
{
	struct vm_area_struct *vma = lock_vma_under_rcu(look->slot->mm, start);

	if (!vma)
		return false;
	*end = min(vma->vm_end, look->slot->addr + PMD_SIZE);
	/* Two that map the same file next to each other may have a folio in different places. */
	look->nr_known = 0;
	if (pghot_pt_wants_vma(vma)) {
		look->asks = look->least && READ_ONCE(pghot_tunables.ask) &&
			     pghot_ask_vma(vma, start);
		walk_page_range_vma(vma, start, *end, &look_ops, look);
	}
	vma_end_read(vma);
	return true;
}

/* Wait for who changes a VMA. Return false if that has been done often enough. */
static bool pt_table_wait(struct pt_focus *focus, unsigned int *waits)
{
	if (!focus->waits || *waits == LOOK_WAITS)
		return false;
	focus->waits--;
	++*waits;
	pghot_pt_wait();
	return true;
}

/**
 * pghot_pt_look - look at a page table's accessed bits, and clear them
 * @focus: who looks; what is hot is gathered there
 * @slot: the page table
 * @least: gather what was counted so often, this look included; 0: nothing
 * @last: no look at it follows in this round
 *
 * A VMA that is being changed just now is left out. The first look and the last one
 * wait for it: without the one nobody knows since when a bit is set, and without the
 * other what was counted is lost.
 *
 * Context: may sleep.
 *
 * Return: true if any was set.
 */
bool pghot_pt_look(struct pt_focus *focus, struct pt_slot *slot, u32 least, bool last)
{
	unsigned long start = slot->addr, limit = slot->addr + PMD_SIZE, end;
	struct pt_look look = {
		.focus = focus,
		.slot = slot,
		.memo.section = PT_NO_SECTION,
		.least = slot->begun ? least : 0,
		.last = last,
	};
	unsigned int waits = 0;
	bool all = true;

	BUILD_BUG_ON(PGHOT_TALLY_PAGES != PTRS_PER_PTE);
	for (end = limit; pghot_pt_find_vma(slot->mm, &start, &end); end = limit) {
		if (!pt_table_look_vma(&look, start, &end)) {
			/* It is looked for anew: it may be gone. */
			if (slot->begun == last && pt_table_wait(focus, &waits))
				continue;
			all = false;
		}
		start = end;
		waits = 0;
	}
	if (all && !slot->begun) {
		slot->begun = true;
		slot->since_ms = pghot_now_ms();
	}
	return look.cleared;
}
