/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hot map: one small record for each page of the lower tiers, found in
 * O(1) from a PFN, and above the records one bit for each 2 MiB block and one
 * for each section that has ready pages.
 */
#ifndef _MM_PGHOT_HOTMAP_H
#define _MM_PGHOT_HOTMAP_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/mutex.h>
#include <linux/pghot.h>
#include <linux/types.h>

#include "record.h"

#define PGHOT_BLOCK_ORDER	9	/* 2 MiB of 4 KiB pages */
#define PGHOT_BLOCK_PAGES	BIT(PGHOT_BLOCK_ORDER)

struct pghot_leaf;

/**
 * struct pghot_map - a hot map
 * @roots: leaves, by section number; RCU
 * @nr_roots: entries in @roots
 * @precise: which layout the records have
 * @lock: serialises changes of which sections there are
 *
 * The kernel has one; tests make their own.
 */
struct pghot_map {
	struct pghot_leaf __rcu **roots;
	unsigned long nr_roots;
	bool precise;
	/* Readers of roots, leaves and sections need RCU only. */
	struct mutex lock;
};

/**
 * struct pghot_tunables - what decides when a record becomes ready
 * @freq_threshold: accesses within the window
 * @window_ms: the window, in milliseconds
 * @ask: of a ready record it matters whether anybody said who accesses its page
 */
struct pghot_tunables {
	u32 freq_threshold;
	u32 window_ms;
	bool ask;
};

/*
 * CPUs that make records ready at once would pass one cache line of counts
 * around for longer than all the rest takes; few share one of these, and those
 * of up to eight nodes none with another node's.
 */
#define PGHOT_HIST_NODES	8U
#define PGHOT_HIST_CPUS		8U
#define PGHOT_HIST_SHARDS	(PGHOT_HIST_NODES * PGHOT_HIST_CPUS)

/* Ready records of each frequency class; of one shard, it may be below 0. */
struct pghot_hist {
	atomic_long_t class[PGHOT_CLASSES];
} ____cacheline_aligned_in_smp;

/**
 * struct pghot_map_node - the part of the hot map that one lower-tier node owns
 * @nid: the node
 * @sections: sections with records
 * @first: lowest section number that ever had records
 * @last: highest one
 * @hist: ready records of each frequency class, in parts to be summed
 *
 * @hist changes with the record that it counts, without a lock; its sum is the
 * number of ready records. The node must outlive its sections.
 */
struct pghot_map_node {
	int nid;
	unsigned long sections;
	unsigned long first;
	unsigned long last;
	struct pghot_hist hist[PGHOT_HIST_SHARDS];
};

/**
 * struct pghot_entry - one ready record as kmigrated sees it
 * @pfn: the page
 * @nid: node that accesses it, or NUMA_NO_NODE
 * @seen: the record as it is stored
 * @class: frequency class
 * @hot: still hot by now
 */
struct pghot_entry {
	unsigned long pfn;
	int nid;
	u32 seen;
	u8 class;
	bool hot;
};

/**
 * struct pghot_cursor - where a walk over the hot blocks stands
 * @section: section number
 * @block: block within it to look at next
 * @wanted: targets whose held blocks are wanted too; the walker may change it
 * @held_only: but no others
 * @inside: the section's own bit was taken; it is put back if the walk stops
 * @waits: what the section's held blocks waited for when it was entered
 * @skipped: held blocks of the section were left alone
 *
 * All zero starts a walk; pghot_map_stop() leaves where to go on.
 */
struct pghot_cursor {
	unsigned long section;
	unsigned int block;
	u8 wanted;
	bool held_only;
	bool inside;
	u8 waits;
	bool skipped;
};

/* Targets as held blocks name them: two that share a bit cost a look more. */
#define PGHOT_WAIT_BIT(nid)	((u8)BIT((nid) % 7))
/* And so are those that wait for memory in one piece, at whichever target. */
#define PGHOT_WAIT_LARGE	((u8)BIT(7))

typedef void (*pghot_ready_fn)(const struct pghot_access *access,
			       struct pghot_map_node *node);

int pghot_map_init(struct pghot_map *map, unsigned long max_sections,
		   bool precise);
void pghot_map_exit(struct pghot_map *map);
size_t pghot_map_section_bytes(const struct pghot_map *map);

void pghot_map_node_init(struct pghot_map_node *node, int nid);
int pghot_map_add(struct pghot_map *map, struct pghot_map_node *node,
		  unsigned long section, int alloc_nid);
unsigned long pghot_map_remove(struct pghot_map *map, unsigned long section,
			       unsigned long nr);
struct pghot_map_node *pghot_map_owner(struct pghot_map *map,
				       unsigned long pfn);

enum pghot_recorded pghot_map_record(struct pghot_map *map,
				     const struct pghot_access *access,
				     u32 now_ms, const struct pghot_tunables *t,
				     struct pghot_map_node **node);
unsigned int pghot_map_record_batch(struct pghot_map *map,
				    const struct pghot_access *accesses,
				    unsigned int nr, u32 now_ms,
				    const struct pghot_tunables *t,
				    pghot_ready_fn became_ready);

void pghot_map_expire(struct pghot_map *map, struct pghot_map_node *node,
		      u32 now_ms, const struct pghot_tunables *t, bool all);
u32 pghot_map_expire_ms(const struct pghot_map *map,
			const struct pghot_tunables *t);
bool pghot_map_expire_due(const struct pghot_map *map,
			  const struct pghot_tunables *t, u32 last_ms,
			  u32 now_ms, bool *all);

unsigned long pghot_map_ready(struct pghot_map_node *node,
			      unsigned long hist[PGHOT_CLASSES]);
bool pghot_map_next_block(struct pghot_map *map,
			  const struct pghot_map_node *node,
			  struct pghot_cursor *c, unsigned long *pfn);
void pghot_map_stop(struct pghot_map *map, struct pghot_cursor *c);
unsigned int pghot_map_collect(struct pghot_map *map, unsigned long pfn,
			       u32 min_class, u32 now_ms,
			       const struct pghot_tunables *t,
			       struct pghot_entry *entries, bool *more);
bool pghot_map_renew(struct pghot_map *map, struct pghot_entry *e,
		     u32 since_ms, u32 now_ms, const struct pghot_tunables *t);
bool pghot_map_take(struct pghot_map *map, unsigned long pfn);
bool pghot_map_take_seen(struct pghot_map *map, const struct pghot_entry *e);
void pghot_map_mark(struct pghot_map *map, unsigned long pfn);
void pghot_map_hold(struct pghot_map *map, unsigned long pfn, u8 waits);
bool pghot_map_peek_block(struct pghot_map *map,
			  const struct pghot_map_node *node,
			  struct pghot_cursor *c, unsigned long *pfn);

/**
 * pghot_map_layout - the layout of a map's records
 * @map: the map
 *
 * Return: a constant.
 */
static inline const struct pghot_layout *
pghot_map_layout(const struct pghot_map *map)
{
	return map->precise ? &pghot_layout_precise : &pghot_layout_default;
}

#endif /* _MM_PGHOT_HOTMAP_H */
