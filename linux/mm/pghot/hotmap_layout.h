/* SPDX-License-Identifier: GPL-2.0 */
/* How the hot map is laid out; for hotmap*.c alone. */
#ifndef _MM_PGHOT_HOTMAP_LAYOUT_H
#define _MM_PGHOT_HOTMAP_LAYOUT_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/mmzone.h>
#include <linux/numa.h>
#include <linux/prefetch.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>

#include "hotmap.h"

#define LEAF_SHIFT		9
#define LEAF_SECTIONS		BIT(LEAF_SHIFT)
#define SECTION_BLOCKS		(PAGES_PER_SECTION >> PGHOT_BLOCK_ORDER)

/* A node slot of a block that no access has claimed yet. */
#define NO_SLOT			0xffffU
/* NUMA_NO_NODE as the precise layout stores it. */
#define NO_WHO			1023U

/*
 * struct pghot_section - records of one memory section
 * @node: owner
 * @next: links sections on their way out
 * @hot: blocks that have ready records
 * @slots: for the default layout, the two nodes each block's accesses come
 *	   from; two 16-bit node IDs a word
 * @records: one record a page, in PFN order
 */
struct pghot_section {
	struct pghot_map_node *node;
	struct pghot_section *next;
	DECLARE_BITMAP(hot, SECTION_BLOCKS);
	u32 slots[SECTION_BLOCKS];
	u8 records[] __aligned(SMP_CACHE_BYTES);
};

struct pghot_leaf {
	struct pghot_section __rcu *section[LEAF_SECTIONS];
	DECLARE_BITMAP(hot, LEAF_SECTIONS);
};

static inline struct pghot_leaf *leaf_of(struct pghot_map *map, unsigned long section)
{
	unsigned long root = section >> LEAF_SHIFT;

	if (unlikely(root >= map->nr_roots))
		return NULL;
	/* A leaf stays until the map goes. */
	return rcu_dereference_check(map->roots[root], true);
}

static inline struct pghot_section *section_of(struct pghot_map *map,
					       unsigned long section)
{
	struct pghot_leaf *leaf = leaf_of(map, section);

	if (unlikely(!leaf))
		return NULL;
	return rcu_dereference(leaf->section[section % LEAF_SECTIONS]);
}

static inline unsigned int block_of(unsigned long pfn)
{
	return (pfn % PAGES_PER_SECTION) >> PGHOT_BLOCK_ORDER;
}

static __always_inline u32 cell_read(const struct pghot_layout *l,
				     struct pghot_section *sec,
				     unsigned long i)
{
	if (l->bits == 8)
		return READ_ONCE(sec->records[i]);
	return READ_ONCE(((u32 *)sec->records)[i]);
}

/* To be read and then updated. */
static __always_inline void cell_prefetch(const struct pghot_layout *l,
					  struct pghot_section *sec,
					  unsigned long i)
{
	if (l->bits == 8)
		prefetchw(&sec->records[i]);
	else
		prefetchw((u32 *)sec->records + i);
}

static __always_inline bool cell_update(const struct pghot_layout *l,
					struct pghot_section *sec,
					unsigned long i, u32 *old, u32 new)
{
	if (l->bits == 8) {
		u8 old8 = *old;
		bool done = try_cmpxchg(&sec->records[i], &old8, (u8)new);

		*old = old8;
		return done;
	}
	return try_cmpxchg((u32 *)sec->records + i, old, new);
}

/* Count ready records of a class. */
static inline void hist_add(struct pghot_map_node *node, u32 class, long n)
{
	unsigned int shard = raw_smp_processor_id() % PGHOT_HIST_SHARDS;

	atomic_long_add(n, &node->hist[shard].class[class]);
}

static inline u32 slot_nid(u32 slots, u32 who)
{
	return who ? slots >> 16 : slots & 0xffff;
}

/*
 * The record that made this necessary was updated with a full barrier, which
 * the reader's barrier in pghot_map_next_block() pairs with.
 */
static inline void mark_hot(struct pghot_leaf *leaf, unsigned long section,
			    struct pghot_section *sec, unsigned int block)
{
	if (!test_bit(block, sec->hot)) {
		set_bit(block, sec->hot);
		/* The section's bit must not be seen before the block's. */
		smp_mb__after_atomic();
	}
	if (!test_bit(section % LEAF_SECTIONS, leaf->hot))
		set_bit(section % LEAF_SECTIONS, leaf->hot);
}

#endif /* _MM_PGHOT_HOTMAP_LAYOUT_H */
