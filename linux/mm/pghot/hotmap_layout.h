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
#include <linux/topology.h>
#include <linux/smp.h>

#include "hotmap.h"

#define LEAF_SHIFT		9
#define LEAF_SECTIONS		BIT(LEAF_SHIFT)
#define SECTION_BLOCKS		(PAGES_PER_SECTION >> PGHOT_BLOCK_ORDER)

/*
 * The word of a block: the two nodes that its accesses come from, and the era
 * in which its records were last gone through.
 *
 *	era   second node   first node
 *	12    10            10		bits
 */
#define NID_BITS		10
#define NID_MASK		1023U
#define ERA_SHIFT		(2 * NID_BITS)
/* Eras count round and round; a block with none has no records that count. */
#define NR_ERAS			4095U
#define NO_ERA			4095U

/* A node slot of a block that no access has claimed yet. */
#define NO_SLOT			NID_MASK
/* NUMA_NO_NODE as the precise layout stores it. */
#define NO_WHO			1023U

/*
 * struct pghot_section - records of one memory section
 * @node: owner
 * @next: links sections on their way out
 * @hot: blocks that have ready records
 * @held: blocks whose ready records wait for targets that take nothing
 * @slots: of each block the era of its records and, for the default layout,
 *	   the two nodes its accesses come from
 * @records: one record a page, in PFN order
 */
struct pghot_section {
	struct pghot_map_node *node;
	struct pghot_section *next;
	DECLARE_BITMAP(hot, SECTION_BLOCKS);
	DECLARE_BITMAP(held, SECTION_BLOCKS);
	u32 slots[SECTION_BLOCKS];
	u8 records[] __aligned(SMP_CACHE_BYTES);
};

/*
 * struct pghot_leaf - sections with neighbouring numbers
 * @section: the sections
 * @hot: those that have hot blocks
 * @held: those that may have held blocks
 * @waits: what these wait for, PGHOT_WAIT_BIT() of each target
 *
 * Only the walker of a section's node changes what is held.
 */
struct pghot_leaf {
	struct pghot_section __rcu *section[LEAF_SECTIONS];
	DECLARE_BITMAP(hot, LEAF_SECTIONS);
	DECLARE_BITMAP(held, LEAF_SECTIONS);
	u8 waits[LEAF_SECTIONS];
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

/*
 * The shard that a CPU counts in. A line that CPUs of several nodes change goes
 * to and fro between sockets, which takes many times as long as between the
 * caches of one; where its memory is matters little beside that. So CPUs of one
 * node share shards before those of several do.
 */
static inline unsigned int hist_shard(unsigned int nid, unsigned int cpu)
{
	return nid % PGHOT_HIST_NODES * PGHOT_HIST_CPUS + cpu % PGHOT_HIST_CPUS;
}

/* Count ready records of a class. */
static inline void hist_add(struct pghot_map_node *node, u32 class, long n)
{
	unsigned int shard = hist_shard(numa_node_id(), raw_smp_processor_id());

	atomic_long_add(n, &node->hist[shard].class[class]);
}

static inline u32 slot_nid(u32 slots, u32 who)
{
	return slots >> (who ? NID_BITS : 0) & NID_MASK;
}

static inline u32 slot_era(u32 slots)
{
	return slots >> ERA_SHIFT;
}

static inline u32 era_at(const struct pghot_layout *l, u32 bucket)
{
	return bucket / pghot_era_buckets(l) % NR_ERAS;
}

/*
 * Do the bucket numbers of a block's records say how old they are: was anything
 * accounted in this era or the one before it, or in the next one, by a CPU that
 * knew of it first.
 */
static inline bool era_tells(u32 era, u32 slots)
{
	return slot_era(slots) != NO_ERA &&
	       (era + 1 + NR_ERAS - slot_era(slots)) % NR_ERAS <= 2;
}

/* hotmap_era.c */
u32 block_enter_era(const struct pghot_layout *l, struct pghot_section *sec,
		    unsigned int block, u32 bucket);

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
