// SPDX-License-Identifier: GPL-2.0
/*
 * The hot map.
 *
 *	roots[] -> leaf (512 sections) -> section (32768 records on x86-64)
 *	           one hot bit a section  one hot bit a 2 MiB block
 *
 * Recording is lock-free and may run in any context, NMI included: it follows
 * two pointers under RCU and updates one record with compare-and-exchange. A
 * record that becomes ready sets its block's bit and then its section's bit.
 * Whoever consumes does the reverse: it clears the section's bit, the block's
 * bit, and only then reads the records. There is a full barrier between each
 * two steps on both sides, so no ready record is ever without its bits while
 * nobody is looking at it.
 *
 * Sections come and go under the caller's lock. A section that goes is first
 * unpublished; after a grace period nobody updates it any more and its ready
 * records can be counted.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "hotmap_layout.h"

/**
 * pghot_map_section_bytes - memory that the records of one section take
 * @map: the map
 *
 * Return: bytes.
 */
size_t pghot_map_section_bytes(const struct pghot_map *map)
{
	return struct_size_t(struct pghot_section, records,
			     PAGES_PER_SECTION *
			     (pghot_map_layout(map)->bits / BITS_PER_BYTE));
}

/*
 * Directly mapped memory spares a TLB miss on each record, and the exact
 * allocation does not round 33 KiB up to 64 KiB. Neither way is worth killing a
 * process for.
 */
static struct pghot_section *section_alloc(struct pghot_map *map, int nid)
{
	size_t bytes = pghot_map_section_bytes(map);
	struct pghot_section *sec;

	sec = alloc_pages_exact_nid(nid, bytes, GFP_KERNEL | __GFP_ZERO |
				    __GFP_NORETRY | __GFP_NOWARN);
	if (!sec)
		sec = __vmalloc_node(bytes, 1, GFP_KERNEL | __GFP_ZERO |
				     __GFP_RETRY_MAYFAIL | __GFP_NOWARN, nid,
				     __builtin_return_address(0));
	return sec;
}

static void section_free(struct pghot_map *map, struct pghot_section *sec)
{
	if (is_vmalloc_addr(sec))
		vfree(sec);
	else
		free_pages_exact(sec, pghot_map_section_bytes(map));
}

/* Empty all records of a section. Return how many were ready. */
static __always_inline unsigned long
section_clear(const struct pghot_layout *l, struct pghot_section *sec)
{
	unsigned long i, ready = 0;

	for (i = 0; i < SECTION_BLOCKS; i++) {
		clear_bit(i, sec->hot);
		clear_bit(i, sec->held);
	}
	/*
	 * Bits before records: who makes a record ready after it was emptied
	 * sets its bit again. Pairs with the barrier in cell_update().
	 */
	smp_mb__after_atomic();
	for (i = 0; i < PAGES_PER_SECTION; i++) {
		u32 old = cell_read(l, sec, i);
		struct pghot_rec rec;

		do {
			if (!old)
				break;
		} while (!cell_update(l, sec, i, &old, 0));
		rec = pghot_unpack(l, old);
		if (rec.ready) {
			hist_add(sec->node, pghot_class(l, rec), -1);
			ready++;
		}
	}
	return ready;
}

static unsigned long section_empty(struct pghot_map *map,
				   struct pghot_section *sec)
{
	return map->precise ? section_clear(&pghot_layout_precise, sec) :
			      section_clear(&pghot_layout_default, sec);
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
	unsigned long root, i;

	for (root = 0; root < map->nr_roots; root++) {
		struct pghot_leaf *leaf = leaf_of(map, root << LEAF_SHIFT);

		if (!leaf)
			continue;
		for (i = 0; i < LEAF_SECTIONS; i++) {
			struct pghot_section *sec =
				rcu_dereference_protected(leaf->section[i], 1);

			if (sec)
				section_free(map, sec);
		}
		kvfree(leaf);
	}
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
 * @alloc_nid: node to take the records' memory from, where it has some
 *
 * The caller serialises changes of the map. A section that is tracked already
 * is left alone.
 *
 * Return: 0, -ENOMEM, or -ERANGE if the map does not reach that far.
 */
int pghot_map_add(struct pghot_map *map, struct pghot_map_node *node,
		  unsigned long section, int alloc_nid)
{
	struct pghot_leaf *leaf = leaf_of(map, section);
	struct pghot_section *sec;

	if (section >> LEAF_SHIFT >= map->nr_roots)
		return -ERANGE;
	if (!leaf) {
		leaf = kvzalloc_obj(*leaf);
		if (!leaf)
			return -ENOMEM;
		rcu_assign_pointer(map->roots[section >> LEAF_SHIFT], leaf);
	}
	if (rcu_access_pointer(leaf->section[section % LEAF_SECTIONS]))
		return 0;

	sec = section_alloc(map, alloc_nid);
	if (!sec)
		return -ENOMEM;
	sec->node = node;
	memset(sec->slots, 0xff, sizeof(sec->slots));
	WRITE_ONCE(node->first, min(node->first, section));
	WRITE_ONCE(node->last, max(node->last, section));
	node->sections++;
	rcu_assign_pointer(leaf->section[section % LEAF_SECTIONS], sec);
	return 0;
}

/**
 * pghot_map_remove - stop tracking sections
 * @map: the map
 * @section: first section number
 * @nr: how many; those that are not tracked are skipped
 *
 * May sleep. When it returns, no reader that began before it sees the sections
 * any more. The caller serialises changes of the map.
 *
 * Return: how many ready records went with them.
 */
unsigned long pghot_map_remove(struct pghot_map *map, unsigned long section,
			       unsigned long nr)
{
	struct pghot_section *gone = NULL, *sec;
	unsigned long ready = 0;

	for (; nr; nr--, section++) {
		struct pghot_leaf *leaf = leaf_of(map, section);
		unsigned long i = section % LEAF_SECTIONS;

		if (!leaf)
			continue;
		sec = rcu_replace_pointer(leaf->section[i], NULL, true);
		if (!sec)
			continue;
		sec->next = gone;
		gone = sec;
	}
	if (!gone)
		return 0;

	synchronize_rcu();
	while (gone) {
		sec = gone;
		gone = sec->next;
		ready += section_empty(map, sec);
		sec->node->sections--;
		section_free(map, sec);
	}
	return ready;
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
