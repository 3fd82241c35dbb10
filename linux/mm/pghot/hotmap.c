// SPDX-License-Identifier: GPL-2.0
/*
 * The hot map.
 *
 *	roots[] -> leaf (512 sections) -> section -> records (32768 on x86-64)
 *	           one hot bit a section  one hot bit a 2 MiB block
 *
 * Recording is lock-free and may run in any context, NMI included: it follows
 * three pointers under RCU and updates one record with compare-and-exchange. A
 * record that becomes ready sets its block's bit and then its section's bit.
 * Whoever consumes does the reverse: it clears the section's bit, the block's
 * bit, and only then reads the records. There is a full barrier between each
 * two steps on both sides, so no ready record is ever without its bits while
 * nobody is looking at it.
 *
 * Sections come and go under the map's lock. A section that goes is first
 * unpublished; after a grace period nobody updates it any more and its ready
 * records can be counted. A leaf goes with its last section.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "hotmap_layout.h"

static size_t hotmap_records_bytes(const struct pghot_map *map)
{
	return PAGES_PER_SECTION *
	       (pghot_map_layout(map)->bits / BITS_PER_BYTE);
}

/**
 * pghot_map_section_bytes - memory that one section takes
 * @map: the map
 *
 * Return: bytes.
 */
size_t pghot_map_section_bytes(const struct pghot_map *map)
{
	return hotmap_records_bytes(map) + sizeof(u8 *) + sizeof(struct pghot_section);
}

/*
 * Directly mapped memory spares a TLB miss on each record. It has to be
 * contiguous, which after a while nothing may be; what is left of a power of two
 * pages is given back. Neither way is worth killing a process for.
 */
static void *hotmap_alloc(size_t bytes, int nid)
{
	gfp_t gfp = GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN;
	gfp_t hard = __GFP_RETRY_MAYFAIL;
	void *p;

	/* There are others, and each section begins with the nearest again. */
	if (nid != NUMA_NO_NODE) {
		gfp |= __GFP_THISNODE;
		hard = __GFP_NORETRY;
	}
	p = alloc_pages_exact_nid(nid, bytes, gfp | __GFP_NORETRY);
	if (!p)
		p = __vmalloc_node(bytes, 1, gfp | hard, nid,
				   __builtin_return_address(0));
	return p;
}

static void hotmap_free(void *p, size_t bytes)
{
	if (is_vmalloc_addr(p))
		vfree(p);
	else
		free_pages_exact(p, bytes);
}

/* Take what is ready in a section out of the counts. Return how many it is. */
static unsigned long hotmap_uncount_section(const struct pghot_layout *l,
					    struct pghot_section *sec)
{
	const u32 per_word = cells_per_word(l);
	u64 *words = (u64 *)sec->records;
	unsigned long i, ready = 0;

	for (i = 0; i < PAGES_PER_SECTION; i++) {
		struct pghot_rec rec;

		if (i % per_word == 0 && word_idle(l, words[i / per_word])) {
			i += per_word - 1;
			continue;
		}
		rec = pghot_unpack(l, cell_read(l, sec->records, i));
		if (!rec.ready)
			continue;
		hist_add(sec->node, pghot_class(l, rec), -1);
		ready++;
	}
	return ready;
}

/* The leaf of a section as who changes the map sees it. */
static struct pghot_leaf *hotmap_leaf_locked(struct pghot_map *map,
					     unsigned long section)
{
	unsigned long root = section >> LEAF_SHIFT;

	if (root >= map->nr_roots)
		return NULL;
	return rcu_dereference_protected(map->roots[root],
					 lockdep_is_held(&map->lock));
}

/**
 * pghot_map_init - make an empty map
 * @map: the map
 * @max_sections: section numbers it must reach to
 * @precise: layout of its records
 *
 * Return: 0 or -ENOMEM.
 */
int pghot_map_init(struct pghot_map *map, unsigned long max_sections,
		   bool precise)
{
	mutex_init(&map->lock);
	map->precise = precise;
	map->nr_roots = DIV_ROUND_UP(max_sections, LEAF_SECTIONS);
	map->roots = kvcalloc(map->nr_roots, sizeof(*map->roots), GFP_KERNEL);
	return map->roots ? 0 : -ENOMEM;
}

/**
 * pghot_map_exit - free a map that nobody uses any more
 * @map: the map
 */
void pghot_map_exit(struct pghot_map *map)
{
	if (!map->roots)
		return;
	pghot_map_remove(map, 0, map->nr_roots << LEAF_SHIFT);
	kvfree(map->roots);
	map->roots = NULL;
	map->nr_roots = 0;
}

/**
 * pghot_map_node_init - a node without sections
 * @node: the node's part of the map
 * @nid: its ID
 */
void pghot_map_node_init(struct pghot_map_node *node, int nid)
{
	unsigned int shard, class;

	node->nid = nid;
	node->sections = 0;
	node->first = ULONG_MAX;
	node->last = 0;
	for (shard = 0; shard < PGHOT_HIST_SHARDS; shard++)
		for (class = 0; class < PGHOT_CLASSES; class++)
			atomic_long_set(&node->hist[shard].class[class], 0);
}

/**
 * pghot_map_add - begin to track a section
 * @map: the map
 * @node: its owner
 * @section: section number
 * @alloc_nid: node to take the records' memory from, or NUMA_NO_NODE for any
 *
 * May sleep. A section that is tracked already is left alone.
 *
 * Return: 0, -ENOMEM, or -ERANGE if the map does not reach that far.
 */
int pghot_map_add(struct pghot_map *map, struct pghot_map_node *node,
		  unsigned long section, int alloc_nid)
{
	unsigned long i = section % LEAF_SECTIONS;
	struct pghot_leaf *leaf;
	u8 *records;

	if (section >> LEAF_SHIFT >= map->nr_roots)
		return -ERANGE;
	guard(mutex)(&map->lock);
	leaf = hotmap_leaf_locked(map, section);
	if (leaf && rcu_access_pointer(leaf->records[i]))
		return 0;

	records = hotmap_alloc(hotmap_records_bytes(map), alloc_nid);
	if (!records)
		return -ENOMEM;
	if (!leaf) {
		leaf = hotmap_alloc(sizeof(*leaf), alloc_nid);
		if (!leaf) {
			hotmap_free(records, hotmap_records_bytes(map));
			return -ENOMEM;
		}
		rcu_assign_pointer(map->roots[section >> LEAF_SHIFT], leaf);
	}
	leaf->sections++;
	leaf->section[i] = (struct pghot_section) {
		.node = node, .records = records,
	};
	memset(leaf->section[i].slots, 0xff, sizeof(leaf->section[i].slots));
	WRITE_ONCE(node->first, min(node->first, section));
	WRITE_ONCE(node->last, max(node->last, section));
	WRITE_ONCE(node->sections, node->sections + 1);
	rcu_assign_pointer(leaf->records[i], records);
	return 0;
}

/* Sections and leaves that nobody finds any more. */
struct gone {
	struct pghot_section *sections;
	struct pghot_leaf *leaves;
};

static void hotmap_unpublish_section(struct pghot_map *map, unsigned long section,
				     struct gone *gone)
{
	struct pghot_leaf *leaf = hotmap_leaf_locked(map, section);
	unsigned long i = section % LEAF_SECTIONS;

	if (!leaf || !rcu_replace_pointer(leaf->records[i], NULL,
					  lockdep_is_held(&map->lock)))
		return;
	leaf->section[i].next = gone->sections;
	gone->sections = &leaf->section[i];
	if (--leaf->sections)
		return;
	RCU_INIT_POINTER(map->roots[section >> LEAF_SHIFT], NULL);
	leaf->next = gone->leaves;
	gone->leaves = leaf;
}

/* After a grace period. Return how many records were ready. */
static unsigned long hotmap_free_gone(struct pghot_map *map, struct gone *gone)
{
	const struct pghot_layout *l = pghot_map_layout(map);
	struct pghot_section *sec;
	struct pghot_leaf *leaf;
	unsigned long ready = 0;

	while ((sec = gone->sections)) {
		gone->sections = sec->next;
		ready += hotmap_uncount_section(l, sec);
		WRITE_ONCE(sec->node->sections, sec->node->sections - 1);
		hotmap_free(sec->records, hotmap_records_bytes(map));
		cond_resched();
	}
	while ((leaf = gone->leaves)) {
		gone->leaves = leaf->next;
		hotmap_free(leaf, sizeof(*leaf));
	}
	return ready;
}

/**
 * pghot_map_remove - stop tracking sections
 * @map: the map
 * @section: first section number
 * @nr: how many; those that are not tracked are skipped
 *
 * May sleep. When it returns, no reader that began before it sees the sections
 * any more, and their memory is free.
 *
 * Return: how many ready records went with them.
 */
unsigned long pghot_map_remove(struct pghot_map *map, unsigned long section,
			       unsigned long nr)
{
	struct gone gone = { };

	guard(mutex)(&map->lock);
	for (; nr; nr--, section++) {
		hotmap_unpublish_section(map, section, &gone);
		cond_resched();
	}
	if (!gone.sections)
		return 0;
	synchronize_rcu();
	return hotmap_free_gone(map, &gone);
}

/**
 * pghot_map_owner - who tracks a page
 * @map: the map
 * @pfn: the page
 *
 * A page that is tracked inside an RCU read-side critical section is online
 * until its end: pghot_map_remove() waits.
 *
 * Return: the node, or NULL if the page is not tracked.
 */
struct pghot_map_node *pghot_map_owner(struct pghot_map *map,
				       unsigned long pfn)
{
	struct pghot_map_node *node = NULL;
	struct pghot_section *sec;

	rcu_read_lock();
	sec = section_of(map, pfn_to_section_nr(pfn));
	if (sec)
		node = sec->node;
	rcu_read_unlock();
	return node;
}
