// SPDX-License-Identifier: GPL-2.0
/* Reporting: how sources tell pghot of accesses. */
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/pghot.h>
#include <linux/rcupdate.h>

#include "stat.h"

#define CREATE_TRACE_POINTS
#include <trace/events/pghot.h>

#include "internal.h"
#include "promoter.h"
#include "fault_yield.h"

/* Pages of a range that are recorded at once, from the stack. */
#define RANGE_PAGES	16UL

static void report_ready(const struct pghot_access *access,
			 struct pghot_map_node *map_node)
{
	int nid = access->nid;

	/* What a source reports may be wrong: then nobody knows the node. */
	if (nid >= (int)nr_node_ids)
		nid = NUMA_NO_NODE;
	pghot_stat_add(PGHOT_STAT_ready, 1);
	trace_pghot_ready(access->pfn, access->nid);
	pghot_wake_kmigrated(container_of(map_node, struct pghot_node, map),
			     nid);
}

/* What an access is worth, coming from this source. */
static u32 report_worth(const struct pghot_access *access,
			const struct pghot_source *source)
{
	return pghot_evidence_weight(source->evidence, access->weight,
				     access->interval_ms,
				     READ_ONCE(pghot_tunables.window_ms),
				     READ_ONCE(pghot_tunables.freq_threshold));
}

/* One access, without the cost that a batch shares. */
static enum pghot_recorded report_one(const struct pghot_access *access,
				      struct pghot_source *source, u32 now,
				      pghot_ready_fn became_ready)
{
	struct pghot_access a = *access;
	struct pghot_map_node *map_node;
	enum pghot_recorded did;

	a.weight = report_worth(access, source);
	did = pghot_map_record(&pghot_map, &a, now, &pghot_tunables,
			       &map_node);
	if (did == PGHOT_UNTRACKED)
		return did;
	trace_pghot_record(a.pfn, a.nid, a.weight, source->name);
	if (did == PGHOT_BECAME_READY)
		became_ready(&a, map_node);
	return did;
}

/*
 * Of many pages at once, as a hotness unit lists them: hint faults are worth it near these,
 * for they tell who accesses them.
 */
static void report_found(const struct pghot_access *access,
			 struct pghot_map_node *map_node)
{
	pghot_yield_found(&pghot_fault_yield, access->pfn);
	report_ready(access, map_node);
}

/* Does each count as it is reported? Of an interval longer than the window a part does. */
static bool report_as_it_is(const struct pghot_access *accesses, unsigned int nr,
			    const struct pghot_source *source)
{
	u32 window_ms = READ_ONCE(pghot_tunables.window_ms);
	unsigned int i;

	if (source->evidence != PGHOT_ACCESSES)
		return false;
	for (i = 0; i < nr; i++)
		if (accesses[i].interval_ms > window_ms)
			return false;
	return true;
}

/* Return how many of the pages are tracked. */
static unsigned int report_many(const struct pghot_access *accesses,
				unsigned int nr, struct pghot_source *source,
				u32 now)
{
	unsigned int i, n = 0;

	if (!trace_pghot_record_enabled() && report_as_it_is(accesses, nr, source))
		return pghot_map_record_batch(&pghot_map, accesses, nr, now,
					      &pghot_tunables, report_found);
	for (i = 0; i < nr; i++)
		n += report_one(&accesses[i], source, now, report_found) !=
		     PGHOT_UNTRACKED;
	return n;
}

static void report_count(struct pghot_source *source, unsigned long n)
{
	pghot_stat_add(PGHOT_STAT_recorded, n);
	this_cpu_add(*source->accesses, n);
}

/**
 * pghot_record - report accesses to one page
 * @access: the page, and what is known of the accesses
 * @source: who reports
 *
 * Context: any, NMI included.
 *
 * Return: what happened; PGHOT_BECAME_READY once, until the page is dealt with.
 */
enum pghot_recorded pghot_record(const struct pghot_access *access,
				 struct pghot_source *source)
{
	enum pghot_recorded did = report_one(access, source, pghot_now_ms(), report_ready);

	if (did != PGHOT_UNTRACKED)
		report_count(source, 1);
	return did;
}
EXPORT_SYMBOL_GPL(pghot_record);

/**
 * pghot_record_folio - report accesses to a folio
 * @folio: the folio, which cannot go away meanwhile
 * @access: what is known of the accesses; its page does not matter
 * @source: who reports
 *
 * Whatever its size, a folio has one record.
 *
 * Context: any, NMI included.
 *
 * Return: as pghot_record().
 */
enum pghot_recorded pghot_record_folio(struct folio *folio,
				       const struct pghot_access *access,
				       struct pghot_source *source)
{
	struct pghot_access a = *access;

	a.pfn = folio_pfn(folio);
	return pghot_record(&a, source);
}
EXPORT_SYMBOL_GPL(pghot_record_folio);

/**
 * pghot_tracked_folio - the folio that a tracked page belongs to
 * @pfn: the page
 * @node: node that must track it, or NULL for any
 * @verdict: set to why there is none, as by pghot_folio_get(); PGHOT_GONE if the
 *	     page is not tracked
 *
 * Inside the RCU read-side critical section a tracked page has a struct page:
 * pghot_map_remove() waits before memory goes away.
 *
 * Context: any but NMI.
 *
 * Return: the folio with a reference, or NULL.
 */
struct folio *pghot_tracked_folio(unsigned long pfn,
				  const struct pghot_map_node *node,
				  enum pghot_verdict *verdict)
{
	const struct pghot_map_node *owner;
	struct folio *folio = NULL;

	*verdict = PGHOT_GONE;
	rcu_read_lock();
	owner = pghot_map_owner(&pghot_map, pfn);
	if (owner && (!node || owner == node))
		folio = pghot_folio_get(pfn, verdict);
	rcu_read_unlock();
	return folio;
}

/**
 * pghot_record_pfn - find the page whose record stands for a page
 * @pfn: the page; set to the first one of its folio, if that can be known
 * @nr: set to how many pages from @pfn on have the same record
 *
 * The folio may be another one a moment later; then the record belongs to a page
 * that was not accessed, as with each page that is freed after it was reported.
 *
 * A page that is free was accessed before. Those that were just promoted are: who
 * reports late reports what they left behind.
 *
 * Context: any but NMI.
 *
 * Return: false if the page is free, or not tracked.
 */
bool pghot_record_pfn(unsigned long *pfn, unsigned long *nr)
{
	enum pghot_verdict verdict;
	struct folio *folio;

	*nr = 1;
	folio = pghot_tracked_folio(*pfn, NULL, &verdict);
	if (!folio)
		return verdict != PGHOT_GONE;
	*nr = folio_pfn(folio) + folio_nr_pages(folio) - *pfn;
	*pfn = folio_pfn(folio);
	folio_put(folio);
	return true;
}

/**
 * pghot_record_range - report accesses to each page of a range
 * @access: the first page, and what is known of the accesses to each
 * @nr: number of pages
 * @source: who reports
 * @weigh: how much counts of what is reported of each folio
 * @data: what @weigh is given
 *
 * A folio that has several of the pages is reported once; pages that are free are
 * not.
 *
 * Context: any but NMI, as far as @weigh can be called there; the time taken grows with @nr.
 *
 * Return: true if any of the pages was reported: it is tracked, not free, and counts.
 */
bool pghot_record_range(const struct pghot_access *access, unsigned long nr,
			struct pghot_source *source, pghot_weigh_fn weigh, void *data)
{
	unsigned long pfn = access->pfn, end = pfn + nr, same, n = 0;
	struct pghot_access accesses[RANGE_PAGES];
	unsigned int i;

	while (pfn < end) {
		/* A sweep may have come by meanwhile: what becomes ready is of now. */
		u32 now = pghot_now_ms();

		for (i = 0; i < RANGE_PAGES && pfn < end; pfn += min(same, end - pfn)) {
			struct pghot_access *a = &accesses[i];

			*a = *access;
			a->pfn = pfn;
			if (!pghot_record_pfn(&a->pfn, &same))
				continue;
			a->weight = weigh(a, data);
			i += a->weight > 0;
		}
		n += report_many(accesses, i, source, now);
	}
	report_count(source, n);
	return n;
}
EXPORT_SYMBOL_GPL(pghot_record_range);
