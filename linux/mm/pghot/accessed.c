// SPDX-License-Identifier: GPL-2.0
/*
 * The accessed bits of all page table entries that map a folio: CPUs set them,
 * whether a source looks or not.
 *
 * A bit that is set says nothing of when it was cleared before, if ever. Who asks
 * has to know that: see sweep.c.
 *
 * Accesses by a translation that is in a TLB leave the bit clear. Of small pages
 * hardly any stays there between two looks, half a window apart, and as in idle
 * page tracking no TLB is flushed. Of the entry of a huge page that does not hold:
 * the more it is used, the longer it stays, and the hottest would look cold. It is
 * flushed where its bit was set, as in reclaim.
 *
 * Nothing here waits for a lock that may be held for long; see owners.c.
 */
#include <linux/memory-tiers.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/mmu_notifier.h>
#include <linux/nodemask.h>
#include <linux/page_idle.h>
#include <linux/pghot.h>
#include <linux/pgtable.h>
#include <linux/rmap.h>

#include "internal.h"
#include "tlb.h"

/* What a look takes that flushes TLBs: interrupts to the CPUs that have them. */
#define ACCESSED_FLUSH_LOOKS	8U

/**
 * struct accessed - what was found in the page tables
 * @left: how many more entries may be looked at; a VMA without counts as one
 * @flush: a bit that was set and is cleared is to be set by the next access
 * @any: a bit was set
 * @recent: reclaim takes it for use
 * @unknown: there was more to look at
 */
struct accessed {
	unsigned int left;
	bool flush;
	bool any;
	bool recent;
	bool unknown;
};

/* An entry that is not present says nothing, but a device may have used it. */
static bool accessed_pte(struct page_vma_mapped_walk *pvmw)
{
	struct vm_area_struct *vma = pvmw->vma;
	unsigned long addr = pvmw->address;
	bool young = false;

	if (pte_present(ptep_get(pvmw->pte)))
		young = ptep_test_and_clear_young(vma, addr, pvmw->pte);
	return mmu_notifier_clear_young(vma->vm_mm, addr, addr + PAGE_SIZE) ||
	       young;
}

static bool accessed_pmd(struct page_vma_mapped_walk *pvmw)
{
	struct vm_area_struct *vma = pvmw->vma;
	unsigned long addr = pvmw->address;
	bool young = false;

	if (!IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE))
		return false;
	if (pmd_present(pmdp_get(pvmw->pmd)))
		young = pmdp_clear_flush_young(vma, addr, pvmw->pmd);
	return mmu_notifier_clear_flush_young(vma->vm_mm, addr,
					      addr + PMD_SIZE) || young;
}

/*
 * All of the folio that the VMA maps, at once: with a flush for each entry all others would
 * wait for its page table meanwhile, and where several entries are read together they are
 * cleared together, too.
 */
static void accessed_flush(const struct folio *folio, struct vm_area_struct *vma,
			   unsigned long addr)
{
	unsigned long end = addr + folio_nr_pages(folio) * PAGE_SIZE;

	pghot_flush_tlb_range(vma, addr, min(end, vma->vm_end));
}

/* Return false when no more may be looked at. */
static bool accessed_rmap_one(struct folio *folio, struct vm_area_struct *vma,
			      unsigned long addr, void *arg)
{
	/* mprotect() and the NUMA scanner leave an entry empty for a moment. */
	DEFINE_FOLIO_VMA_WALK(pvmw, folio, vma, addr, PVMW_SYNC);
	struct accessed *a = arg;
	unsigned int looks = 0;
	bool stale = false;

	/* Nobody flushes the TLBs of guests and devices to know: KVM leaves that out. */
	if (!a->left || (a->flush && mm_has_notifiers(vma->vm_mm))) {
		a->unknown = true;
		return false;
	}
	while (page_vma_mapped_walk(&pvmw)) {
		bool young = pvmw.pte ? accessed_pte(&pvmw) : accessed_pmd(&pvmw);

		looks += young && !pvmw.pte ? ACCESSED_FLUSH_LOOKS : 1;
		stale |= young && pvmw.pte;
		a->any |= young;
		a->recent |= young && vma_has_recency(vma);
	}
	if (a->flush && stale) {
		accessed_flush(folio, vma, addr);
		looks += ACCESSED_FLUSH_LOOKS;
	}
	a->left -= clamp(looks, 1, a->left);
	return true;
}

/*
 * Nodes that have had folios with a mark: only of those does aging ask for one.
 * It says so for good, as marks stay until somebody takes them.
 */
static nodemask_t accessed_nodes;

/* A source that goes through page tables runs: aging has to ask for marks. */
DEFINE_STATIC_KEY_FALSE(pghot_young_key);

/**
 * pghot_tell_accessed - leave a mark on a folio whose accessed bit was cleared
 * @folio: the folio, which cannot go away meanwhile
 * @recency: the mapping is not one that is said to be accessed in order, or at random: of
 *	     such reclaim takes no accessed bit for use (vma_has_recency())
 *
 * Reclaim and idle page tracking will not find the bit: there is a flag to tell
 * them. Of the top tier so few are looked at, see exchange.c, that aging is not to
 * read the struct pages of all others for them.
 *
 * Context: any but NMI.
 */
void pghot_tell_accessed(struct folio *folio, bool recency)
{
	/* What many look at is not to be written for nothing. */
	if (folio_test_idle(folio))
		folio_clear_idle(folio);
	/* Of what nobody else maps reclaim leaves the mark as it would leave the bit. */
	if (!recency && folio_maybe_mapped_shared(folio))
		return;
	if (!folio_test_young(folio))
		folio_set_young(folio);
	if (!node_isset(folio_nid(folio), accessed_nodes) &&
	    !node_is_toptier(folio_nid(folio)))
		node_set(folio_nid(folio), accessed_nodes);
}

bool __pghot_marks_young(int nid)
{
	return node_isset(nid, accessed_nodes);
}

bool __pghot_take_young(struct folio *folio)
{
	/*
	 * Aging asks of each page that is mapped: most have no mark to be written. The
	 * mark of a folio that idle page tracking or DAMON made idle since, or their own,
	 * is of an access before that: rmap.c takes it once it has seen to the other flag.
	 */
	return folio_test_young(folio) && !folio_test_idle(folio) &&
	       folio_test_clear_young(folio);
}

bool __pghot_zap_young(struct folio *folio, int nr)
{
	return folio_mapcount(folio) == nr && __pghot_take_young(folio);
}

static enum pghot_accessed accessed_clear(struct folio *folio, struct accessed *a)
{
	struct rmap_walk_control rwc = {
		.arg = a,
		.try_lock = true,
		.rmap_one = accessed_rmap_one,
		.anon_lock = folio_lock_anon_vma_read,
	};

	/* Of other memory the reverse map must not be asked. */
	if (!folio_test_lru(folio) || !folio_trylock(folio))
		return PGHOT_ACCESS_UNKNOWN;
	if (folio_test_ksm(folio))
		a->unknown = true;
	else if (folio_mapped(folio))
		rmap_walk(folio, &rwc);
	folio_unlock(folio);

	if (a->any)
		pghot_tell_accessed(folio, a->recent);
	if (rwc.contended || a->unknown)
		return PGHOT_ACCESS_UNKNOWN;
	return a->any ? PGHOT_ACCESSED : PGHOT_NOT_ACCESSED;
}

/**
 * pghot_clear_accessed - was a folio accessed since this was last asked
 * @folio: the folio, with a reference
 * @left: how many page table entries may be looked at; what was is taken off. A
 *	  folio counts as one at least, and so does a VMA; a TLB flush as some
 *
 * A folio that more than %PGHOT_OWNERS_MAX VMAs may map goes nowhere, and is not
 * looked at to the end. No bit says that a file is read or written otherwise
 * than through a mapping.
 *
 * Context: Process context. May reschedule; waits for no lock that sleeps.
 *
 * Return: whether it was, unless that cannot be known just now.
 */
enum pghot_accessed pghot_clear_accessed(struct folio *folio,
					 unsigned int *left)
{
	unsigned int most = min(*left, PGHOT_OWNERS_MAX);
	struct accessed a = { .left = most };
	enum pghot_accessed did = accessed_clear(folio, &a);

	/* One at least, for those that nobody has mapped. */
	*left -= min(*left, max(most - a.left, 1));
	return did;
}

/**
 * pghot_flush_accessed - was a folio accessed, by whatever translation
 * @folio: the folio, with a reference
 *
 * As pghot_clear_accessed(), but each access from now on sets a bit, also where a
 * TLB has the translation. That interrupts who uses the folio, if anybody did
 * since it was last asked: it is for few folios. Of memory that a guest or a device
 * maps too it cannot be known.
 *
 * Context: Process context. May reschedule; waits for no lock that sleeps.
 *
 * Return: whether it was, unless that cannot be known just now.
 */
enum pghot_accessed pghot_flush_accessed(struct folio *folio)
{
	struct accessed a = { .left = PGHOT_OWNERS_MAX, .flush = true };

	return accessed_clear(folio, &a);
}
