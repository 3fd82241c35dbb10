// SPDX-License-Identifier: GPL-2.0
/*
 * Asking who accesses a page. Accessed bits and memory devices do not say from which
 * node a page was accessed, and on a machine with several targets what comes to the
 * wrong one stays there. A hint fault says it. So a page that is hot, and of which
 * nobody knows more, is unmapped for one: the next access names its node, and is the
 * report that promotes the page.
 *
 * That costs a fault for each page, and no scan: the pages are those that other
 * sources have found hot. It needs somebody to take the faults for reports, so it is
 * done while hint faults are a source, and where there is a choice of targets.
 *
 * Nothing here waits for a lock that may be held for long; see owners.c. mmap_lock
 * is tried with nothing else held. A question that cannot be put just now is
 * forgotten: the page is found again if it is used.
 */
#include <linux/memcontrol.h>
#include <linux/mempolicy.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/pghot.h>
#include <linux/rmap.h>
#include <linux/sched/mm.h>
#include <linux/userfaultfd_k.h>
#include <linux/vmstat.h>

#include <asm/tlb.h>

#include "../internal.h"
#include "internal.h"
#include "promoter.h"

/* Hint faults are a source. Protected by pghot_lock. */
static bool ask_faults;

/**
 * pghot_ask_sync - see whether it matters who accesses a page
 *
 * For when nodes have come or gone.
 *
 * Context: pghot_lock held.
 */
void pghot_ask_sync(void)
{
	int nid, targets = 0;

	lockdep_assert_held(&pghot_lock);
	for_each_node(nid)
		targets += pghot_target_active(nid);
	WRITE_ONCE(pghot_tunables.ask, ask_faults && targets > 1);
}

/**
 * pghot_ask_enable - hint faults are a source from now on, or not any more
 * @enable: which
 *
 * Context: Process context. May sleep.
 */
void pghot_ask_enable(bool enable)
{
	guard(mutex)(&pghot_lock);
	ask_faults = enable;
	pghot_ask_sync();
}

/**
 * pghot_ask_vma - may accesses to memory be made to fault
 * @vma: who has it mapped
 * @addr: where
 *
 * As for the NUMA scanner: not where it takes no hint faults. Not where somebody else
 * does the same, for whom the fault would be. And not where there is a memory policy:
 * then a fault may go by what that names, and tell pghot nothing.
 *
 * Context: @vma stays, by mmap_lock, its own lock or one of the reverse map. With the
 *	    last alone the answer may be wrong by the time that it is known; what is done
 *	    about it is asked again, with mmap_lock.
 *
 * Return: true if so.
 */
bool pghot_ask_vma(struct vm_area_struct *vma, unsigned long addr)
{
	struct mempolicy *pol = NULL;
	struct task_struct *task;
	bool own;

	if (!vma_migratable(vma) || is_vm_hugetlb_page(vma) ||
	    (vma->vm_flags & VM_MIXEDMAP) || !vma_is_accessible(vma) ||
	    userfaultfd_rwp(vma))
		return false;
	if (vma->vm_file && (vma->vm_flags & (VM_READ | VM_WRITE)) == VM_READ)
		return false;
	rcu_read_lock();
	if (vma->vm_ops && vma->vm_ops->get_policy) {
		pgoff_t unused;

		/* Mostly with a reference; else RCU keeps it. */
		pol = vma->vm_ops->get_policy(vma, addr, &unused);
		mpol_cond_put(pol);
	}
	task = rcu_dereference(vma->vm_mm->owner);
	own = pol || READ_ONCE(vma->vm_policy) || !task || READ_ONCE(task->mempolicy);
	rcu_read_unlock();
	return !own;
}

/**
 * pghot_ask_folio - may accesses to a folio be made to fault
 * @folio: the folio
 * @vma: who has it mapped
 *
 * change_protection() leaves out what several processes have until one of them writes
 * to it (folio_can_map_prot_numa()). Who asked for such a page would do so each time
 * that it is found hot, and never move it. What else is left out there is not offered
 * to a promoter, or has been asked already.
 *
 * Return: true if so.
 */
bool pghot_ask_folio(struct folio *folio, struct vm_area_struct *vma)
{
	return !vma_is_cow_mapping(vma) || !folio_maybe_mapped_shared(folio);
}

/**
 * struct asking - a folio while those are looked for who have it mapped
 * @ask: takes them
 * @not: one cannot be asked
 * @full: there are more than it takes
 */
struct asking {
	struct pghot_ask *ask;
	bool not;
	bool full;
};

/* Return false when there is no use to go on. */
static bool ask_rmap_one(struct folio *folio, struct vm_area_struct *vma,
			 unsigned long addr, void *arg)
{
	/* mprotect() and the NUMA scanner leave an entry empty for a moment. */
	DEFINE_FOLIO_VMA_WALK(pvmw, folio, vma, addr, PVMW_SYNC);
	struct asking *a = arg;
	struct pghot_ask_page *page;

	if (!page_vma_mapped_walk(&pvmw))
		return true;
	a->not = !pghot_ask_vma(vma, pvmw.address) || !pghot_ask_folio(folio, vma);
	a->full = a->ask->nr == PGHOT_ASK_PAGES;
	if (!a->not && !a->full) {
		page = &a->ask->page[a->ask->nr++];
		page->mm = vma->vm_mm;
		page->start = pvmw.address;
		page->end = vma_address_end(&pvmw);
		/* The process may end; what the reverse map leads to is there now. */
		mmgrab(page->mm);
	}
	page_vma_mapped_walk_done(&pvmw);
	return !a->not && !a->full;
}

static void ask_forget(struct pghot_ask *ask, unsigned int nr)
{
	while (ask->nr > nr)
		mmdrop(ask->page[--ask->nr].mm);
}

/**
 * pghot_ask - have the next access to a folio say where it comes from
 * @ask: pages that are to be asked about; pghot_ask_flush() is to follow
 * @folio: the folio, with a reference
 *
 * All who have it mapped are asked, or nobody: who cannot be could be the one that
 * uses it. Where there is no place for them all, who waits is asked first.
 *
 * Context: Process context. May sleep; waits for no lock that does.
 *
 * Return: PGHOT_ASKED; PGHOT_BUSY if that cannot be done just now; PGHOT_PROMOTED if
 *	   it cannot be done at all.
 */
enum pghot_verdict pghot_ask(struct pghot_ask *ask, struct folio *folio)
{
	unsigned int nr = ask->nr;
	struct asking a = { .ask = ask };
	struct rmap_walk_control rwc = {
		.arg = &a,
		.try_lock = true,
		.rmap_one = ask_rmap_one,
		.anon_lock = folio_lock_anon_vma_read,
	};

	/* No hint fault is taken on what KSM has merged, or while they are too many. */
	if (!folio_mapped(folio) || folio_test_ksm(folio) || !pghot_hint_wanted(folio))
		return PGHOT_PROMOTED;
	if (!folio_trylock(folio))
		return PGHOT_BUSY;
	rmap_walk(folio, &rwc);
	folio_unlock(folio);
	if (!a.not && !a.full && !rwc.contended)
		return ask->nr > nr ? PGHOT_ASKED : PGHOT_PROMOTED;
	ask_forget(ask, nr);
	if (rwc.contended)
		return PGHOT_BUSY;
	if (a.full && nr) {
		/* The room may be enough without those of others. */
		pghot_ask_flush(ask);
		return pghot_ask(ask, folio);
	}
	return PGHOT_PROMOTED;
}

/* Where khugepaged has made a huge page of it since, to ask would split that. */
static bool ask_would_split(struct mm_struct *mm, const struct pghot_ask_page *page)
{
	pmd_t *pmd = mm_find_pmd(mm, page->start);

	return page->end - page->start < PMD_SIZE && pmd && pmd_is_huge(pmdp_get_lockless(pmd));
}

/* What is mapped there may be something else by now: then that is asked about. */
static void ask_process(struct mm_struct *mm, const struct pghot_ask_page *page,
			unsigned int nr)
{
	struct mmu_gather tlb;
	long updated = 0;

	tlb_gather_mmu(&tlb, mm);
	for (; nr; nr--, page++) {
		struct vm_area_struct *vma = vma_lookup(mm, page->start);

		if (vma && pghot_ask_vma(vma, page->start) && !ask_would_split(mm, page))
			updated += change_protection(&tlb, vma, page->start,
						     min(page->end, vma->vm_end),
						     MM_CP_PROT_NUMA);
	}
	tlb_finish_mmu(&tlb);
	if (updated <= 0)
		return;
	count_vm_numa_events(NUMA_PTE_UPDATES, updated);
	count_memcg_events_mm(mm, NUMA_PTE_UPDATES, updated);
}

/**
 * pghot_ask_flush - unmap the pages that are to be asked about
 * @ask: the pages; none are left
 *
 * Those of a process together: what costs most is to tell its CPUs.
 *
 * Context: Process context. May sleep.
 */
void pghot_ask_flush(struct pghot_ask *ask)
{
	unsigned int from, to;

	for (from = 0; from < ask->nr; from = to) {
		struct mm_struct *mm = ask->page[from].mm;

		for (to = from; to < ask->nr && ask->page[to].mm == mm;)
			to++;
		if (!mmget_not_zero(mm))
			continue;
		if (mmap_read_trylock(mm)) {
			ask_process(mm, &ask->page[from], to - from);
			mmap_read_unlock(mm);
		}
		mmput_async(mm);
	}
	ask_forget(ask, 0);
}
