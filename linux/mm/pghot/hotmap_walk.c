// SPDX-License-Identifier: GPL-2.0
/* The hot map: finding what is ready, at a cost that follows what is hot. */
#include <linux/align.h>
#include <linux/minmax.h>

#include "hotmap_layout.h"

static __always_inline int who_decode(const struct pghot_layout *l,
				      struct pghot_section *sec,
				      unsigned long pfn, u32 who)
{
	if (l->who_bits > 1)
		return who == NO_WHO ? NUMA_NO_NODE : who;
	who = slot_nid(READ_ONCE(sec->slots[block_of(pfn)]), who);
	return who == NO_SLOT ? NUMA_NO_NODE : who;
}

/**
 * pghot_map_ready - how many records are ready
 * @node: the node
 * @hist: filled with the count of each frequency class; may be NULL
 *
 * Return: their number.
 */
unsigned long pghot_map_ready(struct pghot_map_node *node,
			      unsigned long hist[PGHOT_CLASSES])
{
	long counts[PGHOT_CLASSES] = { };
	unsigned int shard, class;
	unsigned long sum = 0;

	for (shard = 0; shard < PGHOT_HIST_SHARDS; shard++)
		for (class = 0; class < PGHOT_CLASSES; class++)
			counts[class] +=
				atomic_long_read(&node->hist[shard].class[class]);
	for (class = 0; class < PGHOT_CLASSES; class++) {
		/* A record may be seen to leave before it is seen to come. */
		long n = max(counts[class], 0L);

		if (hist)
			hist[class] = n;
		sum += n;
	}
	return sum;
}

static void cursor_move(struct pghot_cursor *c, unsigned long section)
{
	if (c->section == section)
		return;
	c->section = section;
	c->block = 0;
}

/**
 * pghot_map_next_block - the next block that has ready records
 * @map: the map
 * @node: whose blocks
 * @c: where the walk stands
 * @pfn: set to the first page of the block
 *
 * The block counts as done with unless pghot_map_mark() says otherwise. One
 * walker a node. The cost follows the number of hot blocks; what is not hot
 * costs one bit a section.
 *
 * Return: false at the end of the node.
 */
bool pghot_map_next_block(struct pghot_map *map,
			  const struct pghot_map_node *node,
			  struct pghot_cursor *c, unsigned long *pfn)
{
	unsigned long last = READ_ONCE(node->last);
	bool found = false;

	if (c->section < READ_ONCE(node->first))
		cursor_move(c, READ_ONCE(node->first));

	rcu_read_lock();
	while (c->section <= last) {
		struct pghot_leaf *leaf = leaf_of(map, c->section);
		struct pghot_section *sec;
		unsigned long i;

		if (!leaf) {
			cursor_move(c, ALIGN(c->section + 1, LEAF_SECTIONS));
			continue;
		}
		if (!c->inside) {
			i = find_next_bit(leaf->hot, LEAF_SECTIONS,
					  c->section % LEAF_SECTIONS);
			cursor_move(c, ALIGN_DOWN(c->section, LEAF_SECTIONS) + i);
			if (i == LEAF_SECTIONS)
				continue;
		}
		i = c->section % LEAF_SECTIONS;
		sec = rcu_dereference(leaf->section[i]);
		if (!sec || sec->node != node) {
			c->inside = false;
			cursor_move(c, c->section + 1);
			continue;
		}
		if (!c->inside) {
			clear_bit(i, leaf->hot);
			/* Look at the blocks' bits only now: see mark_hot(). */
			smp_mb__after_atomic();
			c->inside = true;
		}
		c->block = find_next_bit(sec->hot, SECTION_BLOCKS, c->block);
		if (c->block < SECTION_BLOCKS) {
			clear_bit(c->block, sec->hot);
			/* Have the caller read the records only now. */
			smp_mb__after_atomic();
			*pfn = section_nr_to_pfn(c->section) +
			       (c->block << PGHOT_BLOCK_ORDER);
			c->block++;
			found = true;
			break;
		}
		/* A walk that began in the middle has left some out. */
		if (!bitmap_empty(sec->hot, SECTION_BLOCKS))
			set_bit(i, leaf->hot);
		c->inside = false;
		cursor_move(c, c->section + 1);
	}
	rcu_read_unlock();
	return found;
}

/**
 * pghot_map_stop - break a walk off before the end of the node
 * @map: the map
 * @c: where the walk stands
 *
 * The next walk may go on with @c as it is then.
 */
void pghot_map_stop(struct pghot_map *map, struct pghot_cursor *c)
{
	struct pghot_leaf *leaf = leaf_of(map, c->section);

	if (c->inside && leaf)
		set_bit(c->section % LEAF_SECTIONS, leaf->hot);
	c->inside = false;
}

static __always_inline unsigned int
block_collect(const struct pghot_layout *l, struct pghot_section *sec,
	      unsigned long pfn, u32 min_class, u32 now_ms,
	      const struct pghot_tunables *t, struct pghot_entry *entries,
	      bool *more)
{
	const u32 per_word = sizeof(u64) * BITS_PER_BYTE / l->bits;
	const u64 ready_bits = l->bits == 8 ? 0x8080808080808080ULL :
					      0x8000000080000000ULL;
	u32 bucket = now_ms / pghot_bucket_ms(l, READ_ONCE(t->window_ms));
	u32 slots = READ_ONCE(sec->slots[block_of(pfn)]);
	u32 threshold = READ_ONCE(t->freq_threshold);
	bool tells = era_tells(era_at(l, bucket), slots);
	unsigned long base = pfn % PAGES_PER_SECTION;
	u64 *words = (u64 *)sec->records + base / per_word;
	unsigned int n = 0, w, k;

	for (w = 0; w < PGHOT_BLOCK_PAGES / per_word; w++) {
		if (!(READ_ONCE(words[w]) & ready_bits))
			continue;
		for (k = 0; k < per_word; k++) {
			unsigned long i = base + w * per_word + k;
			u32 cell = cell_read(l, sec, i);
			struct pghot_rec rec = pghot_unpack(l, cell);
			u32 class;
			bool hot;

			if (!rec.ready)
				continue;
			class = pghot_class(l, rec);
			hot = tells && pghot_is_hot(l, rec, bucket, threshold);
			/* Stale ones go anyway, before time makes them look new. */
			if (class < min_class && hot) {
				*more = true;
				continue;
			}
			i = pfn - base + i;
			entries[n++] = (struct pghot_entry) {
				.pfn = i,
				.nid = who_decode(l, sec, i, rec.who),
				.seen = cell,
				.class = class,
				.hot = hot,
			};
		}
	}
	return n;
}

/**
 * pghot_map_collect - the ready records of a block, in PFN order
 * @map: the map
 * @pfn: first page of the block, from pghot_map_next_block()
 * @min_class: leave out those of lower classes that are still hot
 * @now_ms: the time
 * @t: what is hot
 * @entries: filled; room for PGHOT_BLOCK_PAGES
 * @more: set if any were left out
 *
 * The records stay as they are.
 *
 * Return: number of entries.
 */
unsigned int pghot_map_collect(struct pghot_map *map, unsigned long pfn,
			       u32 min_class, u32 now_ms,
			       const struct pghot_tunables *t,
			       struct pghot_entry *entries, bool *more)
{
	struct pghot_section *sec;
	unsigned int n = 0;

	rcu_read_lock();
	sec = section_of(map, pfn_to_section_nr(pfn));
	if (sec && map->precise)
		n = block_collect(&pghot_layout_precise, sec, pfn, min_class,
				  now_ms, t, entries, more);
	else if (sec)
		n = block_collect(&pghot_layout_default, sec, pfn, min_class,
				  now_ms, t, entries, more);
	rcu_read_unlock();
	return n;
}

/**
 * pghot_map_mark - a block still has ready records
 * @map: the map
 * @pfn: a page of it
 */
void pghot_map_mark(struct pghot_map *map, unsigned long pfn)
{
	unsigned long section = pfn_to_section_nr(pfn);
	struct pghot_section *sec;

	rcu_read_lock();
	sec = section_of(map, section);
	if (sec)
		mark_hot(leaf_of(map, section), section, sec, block_of(pfn));
	rcu_read_unlock();
}
