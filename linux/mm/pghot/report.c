// SPDX-License-Identifier: GPL-2.0
/* Reporting: how sources tell pghot of accesses. */
#include <linux/hardirq.h>
#include <linux/irq_work.h>
#include <linux/pghot.h>
#include <linux/wait.h>

#define CREATE_TRACE_POINTS
#include <trace/events/pghot.h>

#include "internal.h"

/* Pages of a range that are recorded at once, from the stack. */
#define RANGE_PAGES	16UL

static const enum pghot_stat source_stat[NR_PGHOT_SOURCES] = {
	[PGHOT_SOURCE_HINT_FAULT] = PGHOT_STAT_recorded_hint_fault,
};

static void wake_work(struct irq_work *work)
{
	wake_up(&container_of(work, struct pghot_node, wake_work)->wait);
}

/**
 * pghot_wake_init - prepare a node for being woken
 * @node: the node
 */
void pghot_wake_init(struct pghot_node *node)
{
	init_waitqueue_head(&node->wait);
	init_irq_work(&node->wake_work, wake_work);
}

/* A record became ready for @nid. From any context, NMI included. */
static void wake_kmigrated(struct pghot_node *node, int nid)
{
	/*
	 * Pairs with the barriers in kmigrated() and open_targets(): either
	 * they see the hot bits that were set before, or what they cleared is
	 * seen here.
	 */
	smp_mb();
	if (READ_ONCE(node->kick) || READ_ONCE(node->all_closed))
		return;
	/* The thread looks again when the target may take something. */
	if (nid >= 0 && node_isset(nid, node->closed))
		return;
	WRITE_ONCE(node->kick, true);
	pghot_stat_add(PGHOT_STAT_wakeups, 1);
	/* With interrupts off the caller may hold a lock that waking up takes. */
	if (in_nmi() || irqs_disabled())
		irq_work_queue(&node->wake_work);
	else if (wq_has_sleeper(&node->wait))
		wake_up(&node->wait);
}

static void became_ready(const struct pghot_access *access,
			 struct pghot_map_node *map_node)
{
	pghot_stat_add(PGHOT_STAT_ready, 1);
	trace_pghot_ready(access->pfn, access->nid);
	wake_kmigrated(container_of(map_node, struct pghot_node, map),
		       access->nid);
}

/* One access, without the cost that a batch shares. */
static enum pghot_recorded record_one(const struct pghot_access *access,
				      enum pghot_source source, u32 now)
{
	struct pghot_map_node *map_node;
	enum pghot_recorded did;

	did = pghot_map_record(&pghot_map, access, now, &pghot_tunables,
			       &map_node);
	if (did == PGHOT_UNTRACKED)
		return did;
	trace_pghot_record(access->pfn, access->nid, access->weight, source);
	if (did == PGHOT_BECAME_READY)
		became_ready(access, map_node);
	return did;
}

/* Return how many of the pages are tracked. */
static unsigned int record_many(const struct pghot_access *accesses,
				unsigned int nr, enum pghot_source source,
				u32 now)
{
	unsigned int i, n = 0;

	if (!trace_pghot_record_enabled())
		return pghot_map_record_batch(&pghot_map, accesses, nr, now,
					      &pghot_tunables, became_ready);
	for (i = 0; i < nr; i++)
		n += record_one(&accesses[i], source, now) != PGHOT_UNTRACKED;
	return n;
}

static void count_records(enum pghot_source source, unsigned long n)
{
	pghot_stat_add(PGHOT_STAT_recorded, n);
	pghot_stat_add(source_stat[source], n);
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
				 enum pghot_source source)
{
	enum pghot_recorded did = record_one(access, source, pghot_now_ms());

	if (did != PGHOT_UNTRACKED)
		count_records(source, 1);
	return did;
}

/**
 * pghot_record_range - report the same accesses to each page of a range
 * @pfn: first page
 * @nr: number of pages
 * @nid: node to promote them to, or NUMA_NO_NODE
 * @weight: how many accesses to each
 * @source: who reports
 *
 * Context: any; the time taken grows with @nr.
 *
 * Return: true if any of the pages is tracked.
 */
bool pghot_record_range(unsigned long pfn, unsigned long nr, int nid,
			unsigned int weight, enum pghot_source source)
{
	struct pghot_access accesses[RANGE_PAGES];
	u32 now = pghot_now_ms();
	unsigned long n = 0;
	unsigned int i;

	for (; nr; nr -= i) {
		for (i = 0; i < min(nr, RANGE_PAGES); i++)
			accesses[i] = (struct pghot_access) {
				.pfn = pfn++, .nid = nid, .weight = weight,
			};
		n += record_many(accesses, i, source, now);
	}
	count_records(source, n);
	return n;
}

/**
 * pghot_record_batch - report accesses to many pages
 * @accesses: pages, and where they are accessed from
 * @nr: their number
 * @source: who reports
 *
 * Context: any; the time taken grows with @nr.
 *
 * Return: true if any of the pages is tracked.
 */
bool pghot_record_batch(const struct pghot_access *accesses, unsigned int nr,
			enum pghot_source source)
{
	unsigned int n = record_many(accesses, nr, source, pghot_now_ms());

	count_records(source, n);
	return n;
}
