// SPDX-License-Identifier: GPL-2.0
/*
 * Misplaced folios move to the node where they should be, several at once, and what was
 * moved is counted for each memory cgroup and node.
 */
#include <linux/list.h>
#include <linux/memcontrol.h>
#include <linux/memory-tiers.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/vmstat.h>

#include "internal.h"

/*
 * Misplaced folios of one memory cgroup and node, that move with others. What they
 * are charged to stays what it is while they are isolated, even where another memory
 * cgroup becomes its owner.
 */
struct misplaced_part {
	struct mem_cgroup *memcg;
	unsigned long charged;
	int nid;
	unsigned int nr_pages;
};

/* So many move at once. */
#define MISPLACED_PARTS	8U

static unsigned long misplaced_charged(struct folio *folio)
{
#ifdef CONFIG_MEMCG
	return folio->memcg_data;
#else
	return 0;
#endif
}

static struct misplaced_part *misplaced_part_of(struct misplaced_part *parts,
						unsigned int nr_parts,
						struct folio *folio)
{
	unsigned long charged = misplaced_charged(folio);
	unsigned int i;

	for (i = 0; i < nr_parts; i++)
		if (parts[i].nid == folio_nid(folio) && parts[i].charged == charged)
			return &parts[i];
	return NULL;
}

/* Take as many folios as MISPLACED_PARTS have. Returns the number of parts. */
static unsigned int misplaced_gather(struct list_head *folios,
				     struct list_head *batch,
				     struct misplaced_part *parts)
{
	struct misplaced_part *part;
	struct folio *folio, *next;
	unsigned int nr_parts = 0;

	list_for_each_entry_safe(folio, next, folios, lru) {
		part = misplaced_part_of(parts, nr_parts, folio);
		if (!part) {
			if (nr_parts == MISPLACED_PARTS)
				break;
			part = &parts[nr_parts++];
			part->memcg = get_mem_cgroup_from_folio(folio);
			part->charged = misplaced_charged(folio);
			part->nid = folio_nid(folio);
			part->nr_pages = 0;
		}
		part->nr_pages += folio_nr_pages(folio);
		list_move_tail(&folio->lru, batch);
	}
	return nr_parts;
}

/* Count what of a part was moved. */
static void misplaced_account(const struct misplaced_part *part, int node,
			      bool promote)
{
	if (!part->nr_pages)
		return;
	count_vm_numa_events(NUMA_PAGE_MIGRATE, part->nr_pages);
	count_memcg_events(part->memcg, NUMA_PAGE_MIGRATE, part->nr_pages);
	if (promote && !node_is_toptier(part->nid) && node_is_toptier(node))
		mod_lruvec_state(mem_cgroup_lruvec(part->memcg, NODE_DATA(node)),
				 PGPROMOTE_SUCCESS, part->nr_pages);
}

/**
 * migrate_misplaced_folios - move misplaced folios to another node
 * @folios: folios isolated by migrate_misplaced_folio_prepare(), linked by lru;
 *	    empty on return
 * @node: where to
 * @promote: count moves into the top tier as promotions
 * @nr_pages: set to the number of pages moved
 *
 * The references that isolation took are dropped. What cannot be moved is put
 * back where it came from. Folios move in list order, those of several memory
 * cgroups and nodes together, and statistics are kept for each.
 *
 * Return: number of folios that were not moved.
 */
unsigned int migrate_misplaced_folios(struct list_head *folios, int node,
				      bool promote, unsigned int *nr_pages)
{
	struct misplaced_part parts[MISPLACED_PARTS], *part;
	unsigned int nr_left = 0, nr_parts;
	struct folio *folio;

	*nr_pages = 0;
	while (!list_empty(folios)) {
		LIST_HEAD(batch);

		nr_parts = misplaced_gather(folios, &batch, parts);
		migrate_pages(&batch, alloc_misplaced_dst_folio, NULL, node,
			      MIGRATE_ASYNC, MR_NUMA_MISPLACED, NULL);
		list_for_each_entry(folio, &batch, lru) {
			nr_left++;
			part = misplaced_part_of(parts, nr_parts, folio);
			if (!WARN_ON_ONCE(!part))
				part->nr_pages -= folio_nr_pages(folio);
		}
		if (!list_empty(&batch))
			putback_movable_pages(&batch);
		for (part = parts; part < parts + nr_parts; part++) {
			misplaced_account(part, node, promote);
			*nr_pages += part->nr_pages;
			mem_cgroup_put(part->memcg);
		}
	}
	return nr_left;
}
