/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hot page tracking and promotion: what other kernel code calls.
 *
 * See Documentation/mm/pghot.rst.
 */
#ifndef _LINUX_PGHOT_H
#define _LINUX_PGHOT_H

#include <linux/jump_label.h>
#include <linux/mm.h>
#include <linux/types.h>

struct mempolicy;
struct seq_file;

/* Where a report of an access comes from. */
enum pghot_source {
	PGHOT_SOURCE_HINT_FAULT,
	NR_PGHOT_SOURCES,
};

/* What recording an access did. */
enum pghot_recorded {
	PGHOT_UNTRACKED,	/* no map for this page: not in a lower tier */
	PGHOT_COUNTED,
	PGHOT_BECAME_READY,
};

/**
 * struct pghot_access - accesses to one page
 * @pfn: the page; for a large folio its first page
 * @nid: node to promote it to, or NUMA_NO_NODE
 * @weight: how many accesses
 * @anew: nobody accessed the page for a window before: what was counted up to
 *	  then is forgotten
 */
struct pghot_access {
	unsigned long pfn;
	int nid;
	unsigned int weight;
	bool anew;
};

#ifdef CONFIG_PGHOT

DECLARE_STATIC_KEY_FALSE(pghot_hint_fault_key);
DECLARE_STATIC_KEY_FALSE(pghot_headroom_key);

enum pghot_recorded pghot_record(const struct pghot_access *access,
				 enum pghot_source source);
bool pghot_record_range(unsigned long pfn, unsigned long nr, int nid,
			unsigned int weight, enum pghot_source source);
bool pghot_record_batch(const struct pghot_access *accesses, unsigned int nr,
			enum pghot_source source);

bool __pghot_hint_fault(struct folio *folio, struct vm_area_struct *vma,
			struct mempolicy *pol, int nid);
void pghot_tiers_changed(void);
void pghot_reset_thresholds(void);
void pghot_vmstat_show(struct seq_file *m);

/**
 * pghot_hint_fault - let pghot decide about a page that a hint fault found
 * @folio: the folio
 * @vma: where it is mapped
 * @pol: memory policy that asks for migration to the accessing node
 * @nid: the accessing node
 *
 * Context: page table lock held; does not sleep.
 *
 * Return: true if pghot took the decision over, false if it is the caller's.
 */
static inline bool pghot_hint_fault(struct folio *folio,
				    struct vm_area_struct *vma,
				    struct mempolicy *pol, int nid)
{
	return static_branch_unlikely(&pghot_hint_fault_key) &&
	       folio_use_access_time(folio) &&
	       __pghot_hint_fault(folio, vma, pol, nid);
}

/**
 * pghot_needs_headroom - do pages come to the top tier without NUMA balancing
 *
 * NUMA balancing's memory tiering mode makes kswapd keep free memory for
 * promotion. So must any other source of promotion.
 *
 * Return: true if a source is on that works without it.
 */
static inline bool pghot_needs_headroom(void)
{
	return static_branch_unlikely(&pghot_headroom_key);
}

#else /* !CONFIG_PGHOT */

static inline bool pghot_hint_fault(struct folio *folio,
				    struct vm_area_struct *vma,
				    struct mempolicy *pol, int nid)
{
	return false;
}

static inline bool pghot_needs_headroom(void)
{
	return false;
}

static inline void pghot_tiers_changed(void)
{
}

static inline void pghot_reset_thresholds(void)
{
}

static inline void pghot_vmstat_show(struct seq_file *m)
{
}

#endif /* CONFIG_PGHOT */

#endif /* _LINUX_PGHOT_H */
