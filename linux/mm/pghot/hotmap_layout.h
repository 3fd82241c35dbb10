/* SPDX-License-Identifier: GPL-2.0 */
/* How the hot map is laid out; for hotmap*.c alone. */
#ifndef _MM_PGHOT_HOTMAP_LAYOUT_H
#define _MM_PGHOT_HOTMAP_LAYOUT_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/mmzone.h>
#include <linux/numa.h>
#include <linux/prefetch.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/topology.h>

#include "hotmap.h"

#define LEAF_SHIFT		9
#define LEAF_SECTIONS		BIT(LEAF_SHIFT)
#define SECTION_BLOCKS		(PAGES_PER_SECTION >> PGHOT_BLOCK_ORDER)

/*
 * Blocks that have one word together, a group. With a word for each, a TiB would
 * need another 1.5 MiB; with fewer, it would take longer to go through a group's
 * records when an era begins.
 */
#define GROUP_ORDER		(PGHOT_BLOCK_ORDER + 2)
#define GROUP_PAGES		BIT(GROUP_ORDER)
#define SECTION_GROUPS		(PAGES_PER_SECTION >> GROUP_ORDER)

/*
 * The word of a group: the two nodes that its accesses come from, and the era
 * in which its records were last gone through.
 *
 *	era   second node   first node
 *	12    10            10		bits
 */
#define NID_BITS		10
#define NID_MASK		1023U
#define ERA_SHIFT		(2 * NID_BITS)
/* Eras count round and round; a group with none has no records that count. */
#define NR_ERAS			4095U
#define NO_ERA			4095U

/* A node slot of a group that no access has claimed yet. */
#define NO_SLOT			NID_MASK
/* NUMA_NO_NODE as the precise layout stores it. */
#define NO_WHO			1023U

/*
 * struct pghot_section - what goes with the records of one memory section
 * @node: owner
 * @records: the records, until nobody uses them any more
 * @next: links sections on their way out
 * @hot: blocks that have ready records
 * @held: blocks whose ready records wait for targets that take nothing
 * @slots: of each group the era of its records and, for the default layout,
 *	   the two nodes its accesses come from
 */
struct pghot_section {
	struct pghot_map_node *node;
	u8 *records;
	struct pghot_section *next;
	DECLARE_BITMAP(hot, SECTION_BLOCKS);
	DECLARE_BITMAP(held, SECTION_BLOCKS);
	u32 slots[SECTION_GROUPS];
};

/*
 * struct pghot_leaf - sections with neighbouring numbers
 * @records: of each section that is tracked one record a page, in PFN order;
 *	     close together, to be at hand when a record is to be fetched
 * @section: the sections; valid while they have @records
 * @hot: those that have hot blocks
 * @held: those that may have held blocks
 * @waits: what these wait for, PGHOT_WAIT_BIT() of each target
 * @sections: how many there are; the leaf goes with the last one
 * @next: links leaves on their way out
 *
 * Only the walker of a section's node changes what is held.
 */
struct pghot_leaf {
	u8 __rcu *records[LEAF_SECTIONS];
	struct pghot_section section[LEAF_SECTIONS];
	DECLARE_BITMAP(hot, LEAF_SECTIONS);
	DECLARE_BITMAP(held, LEAF_SECTIONS);
	u8 waits[LEAF_SECTIONS];
	unsigned int sections;
	struct pghot_leaf *next;
};

static inline struct pghot_leaf *leaf_of(struct pghot_map *map, unsigned long section)
{
	unsigned long root = section >> LEAF_SHIFT;

	if (unlikely(root >= map->nr_roots))
		return NULL;
	return rcu_dereference(map->roots[root]);
}

static inline struct pghot_section *section_in(struct pghot_leaf *leaf,
					       unsigned long section,
					       u8 **records)
{
	*records = rcu_dereference(leaf->records[section % LEAF_SECTIONS]);
	if (unlikely(!*records))
		return NULL;
	/* The section was set up before the pointer, which is not in it. */
	smp_acquire__after_ctrl_dep();
	return &leaf->section[section % LEAF_SECTIONS];
}

static inline struct pghot_section *section_of(struct pghot_map *map,
					       unsigned long section)
{
	struct pghot_leaf *leaf = leaf_of(map, section);
	u8 *records;

	return leaf ? section_in(leaf, section, &records) : NULL;
}

static inline unsigned int block_of(unsigned long pfn)
{
	return (pfn % PAGES_PER_SECTION) >> PGHOT_BLOCK_ORDER;
}

static inline unsigned int group_of(unsigned long pfn)
{
	return (pfn % PAGES_PER_SECTION) >> GROUP_ORDER;
}

/* Records are looked through by words of 64 bits. */
static __always_inline u32 cells_per_word(const struct pghot_layout *l)
{
	return sizeof(u64) * BITS_PER_BYTE / l->bits;
}

/* Has none of the records of a word its ready bit. */
static __always_inline bool word_idle(const struct pghot_layout *l, u64 word)
{
	return !(word & (l->bits == 8 ? 0x8080808080808080ULL :
					0x8000000080000000ULL));
}

static __always_inline u32 cell_read(const struct pghot_layout *l, u8 *records,
				     unsigned long i)
{
	if (l->bits == 8)
		return READ_ONCE(records[i]);
	return READ_ONCE(((u32 *)records)[i]);
}

/* To be read and then updated. */
static __always_inline void cell_prefetch(const struct pghot_layout *l,
					  u8 *records, unsigned long i)
{
	if (l->bits == 8)
		prefetchw(&records[i]);
	else
		prefetchw((u32 *)records + i);
}

static __always_inline bool cell_update(const struct pghot_layout *l,
					u8 *records, unsigned long i, u32 *old,
					u32 new)
{
	if (l->bits == 8) {
		u8 old8 = *old;
		bool done = try_cmpxchg(&records[i], &old8, (u8)new);

		*old = old8;
		return done;
	}
	return try_cmpxchg((u32 *)records + i, old, new);
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

/*
 * How many accesses a ready record must have for its node to be known, 0 for any. The
 * default layout has no room for a node that nobody knows: it says so by the count,
 * one less than makes a record ready. Such a page is hot with that count, too. Where
 * one access makes it ready, there is no such count.
 */
static __always_inline u32 sure_count(const struct pghot_layout *l,
				      const struct pghot_tunables *t, u32 threshold)
{
	return l->who_bits == 1 && threshold > 1 && READ_ONCE(t->ask) ? threshold : 0;
}

static __always_inline bool rec_unsure(struct pghot_rec rec, u32 sure)
{
	return rec.ready && rec.freq < sure;
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
 * Do the bucket numbers of a group's records say how old they are: was anything
 * accounted in this era or the one before it, or in the next one, by a CPU that
 * knew of it first.
 */
static inline bool era_tells(u32 era, u32 slots)
{
	return slot_era(slots) != NO_ERA &&
	       (era + 1 + NR_ERAS - slot_era(slots)) % NR_ERAS <= 2;
}

/* hotmap_era.c */
u32 group_enter_era(const struct pghot_layout *l, struct pghot_section *sec,
		    unsigned int group, u32 bucket);

/*
 * The record that made this necessary was updated with a full barrier, which
 * the reader's barrier in pghot_map_next_block() pairs with.
 */
static inline void mark_hot(struct pghot_map *map, unsigned long section,
			    struct pghot_section *sec, unsigned int block)
{
	struct pghot_leaf *leaf = leaf_of(map, section);

	if (!test_bit(block, sec->hot)) {
		set_bit(block, sec->hot);
		/* The section's bit must not be seen before the block's. */
		smp_mb__after_atomic();
	}
	/* Without a leaf the section is on its way out. */
	if (leaf && !test_bit(section % LEAF_SECTIONS, leaf->hot))
		set_bit(section % LEAF_SECTIONS, leaf->hot);
}

#endif /* _MM_PGHOT_HOTMAP_LAYOUT_H */
