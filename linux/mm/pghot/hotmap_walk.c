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
	who = slot_nid(READ_ONCE(sec->slots[group_of(pfn)]), who);
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

static void hotmap_walk_move(struct pghot_cursor *c, unsigned long section)
{
	if (c->section == section)
		return;
	c->section = section;
	c->block = 0;
}

/* The next section with hot blocks, or with held ones that are wanted. */
static unsigned long hotmap_walk_next_section(const struct pghot_leaf *leaf,
					      const struct pghot_cursor *c)
{
	unsigned long from = c->section % LEAF_SECTIONS, i;
	unsigned long hot = LEAF_SECTIONS;

	if (!c->held_only)
		hot = find_next_bit(leaf->hot, LEAF_SECTIONS, from);
	for (i = c->wanted ? from : hot; i < hot; i++) {
		i = find_next_bit(leaf->held, hot, i);
		if (i < hot && READ_ONCE(leaf->waits[i]) & c->wanted)
			return i;
	}
	return hot;
}

/* The next block that is hot, or held and wanted. */
static unsigned int hotmap_walk_next_in_section(const struct pghot_section *sec,
						struct pghot_cursor *c)
{
	unsigned int hot = SECTION_BLOCKS, held;

	if (!c->held_only)
		hot = find_next_bit(sec->hot, SECTION_BLOCKS, c->block);
	held = find_next_bit(sec->held, hot, c->block);
	if (held == hot)
		return hot;
	if (c->waits & c->wanted)
		return held;
	c->skipped = true;
	return hot;
}

/*
 * What a section's held blocks wait for is known for all of them together. It
 * is taken down on the way in; each that is held again adds to what is then
 * right, and those that were not looked at keep what it was.
 */
static void hotmap_walk_enter_section(struct pghot_leaf *leaf, struct pghot_section *sec,
				      struct pghot_cursor *c)
{
	unsigned long i = c->section % LEAF_SECTIONS;

	clear_bit(i, leaf->hot);
	clear_bit(i, leaf->held);
	/* Look at the blocks' bits only now: see mark_hot(). */
	smp_mb__after_atomic();
	c->waits = READ_ONCE(leaf->waits[i]);
	WRITE_ONCE(leaf->waits[i], 0);
	c->skipped = find_next_bit(sec->held, SECTION_BLOCKS, 0) < c->block;
	c->inside = true;
}

static void hotmap_walk_add_waits(struct pghot_leaf *leaf, unsigned long section, u8 waits)
{
	unsigned long i = section % LEAF_SECTIONS;

	WRITE_ONCE(leaf->waits[i], READ_ONCE(leaf->waits[i]) | waits);
	set_bit(i, leaf->held);
}

static void hotmap_walk_leave_section(struct pghot_leaf *leaf, struct pghot_cursor *c)
{
	if (c->skipped)
		hotmap_walk_add_waits(leaf, c->section, c->waits);
	c->inside = false;
}

/**
 * pghot_map_next_block - the next block that has ready records
 * @map: the map
 * @node: whose blocks
 * @c: where the walk stands
 * @pfn: set to the first page of the block
 *
 * The block counts as done with unless pghot_map_mark() or pghot_map_hold()
 * says otherwise. Blocks that are held for targets not in @c->wanted are passed
 * over. One walker a node. The cost follows the number of hot blocks; what is
 * neither hot nor held costs one bit a section, what is held a byte more.
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
		hotmap_walk_move(c, READ_ONCE(node->first));

	rcu_read_lock();
	while (c->section <= last) {
		struct pghot_leaf *leaf = leaf_of(map, c->section);
		struct pghot_section *sec;
		unsigned long i;
		u8 *records;

		if (!leaf) {
			hotmap_walk_move(c, ALIGN(c->section + 1, LEAF_SECTIONS));
			continue;
		}
		if (!c->inside) {
			i = hotmap_walk_next_section(leaf, c);
			hotmap_walk_move(c, ALIGN_DOWN(c->section, LEAF_SECTIONS) + i);
			if (i == LEAF_SECTIONS)
				continue;
		}
		i = c->section % LEAF_SECTIONS;
		sec = section_in(leaf, i, &records);
		if (!sec || sec->node != node) {
			c->inside = false;
			hotmap_walk_move(c, c->section + 1);
			continue;
		}
		if (!c->inside)
			hotmap_walk_enter_section(leaf, sec, c);
		c->block = hotmap_walk_next_in_section(sec, c);
		if (c->block < SECTION_BLOCKS) {
			clear_bit(c->block, sec->held);
			clear_bit(c->block, sec->hot);
			/* Have the caller read the records only now. */
			smp_mb__after_atomic();
			*pfn = section_nr_to_pfn(c->section) +
			       (c->block << PGHOT_BLOCK_ORDER);
			c->block++;
			found = true;
			break;
		}
		/* A walk that began in the middle, or was for held ones, has left some out. */
		if (!bitmap_empty(sec->hot, SECTION_BLOCKS))
			set_bit(i, leaf->hot);
		hotmap_walk_leave_section(leaf, c);
		hotmap_walk_move(c, c->section + 1);
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
	struct pghot_leaf *leaf;

	rcu_read_lock();
	leaf = leaf_of(map, c->section);
	if (c->inside && leaf) {
		set_bit(c->section % LEAF_SECTIONS, leaf->hot);
		c->skipped = true;
		hotmap_walk_leave_section(leaf, c);
	}
	rcu_read_unlock();
	c->inside = false;
}

/**
 * pghot_map_peek_block - the next block that has ready records, to look at
 * @map: the map
 * @node: whose blocks
 * @c: where the walk stands
 * @pfn: set to the first page of the block
 *
 * As pghot_map_next_block() for all that is hot or held, but the block stays as
 * it is. Not between that one's calls.
 *
 * Return: false at the end of the node.
 */
bool pghot_map_peek_block(struct pghot_map *map,
			  const struct pghot_map_node *node,
			  struct pghot_cursor *c, unsigned long *pfn)
{
	unsigned long last = READ_ONCE(node->last);
	bool found = false;

	hotmap_walk_move(c, max(c->section, READ_ONCE(node->first)));
	rcu_read_lock();
	while (c->section <= last && !found) {
		struct pghot_leaf *leaf = leaf_of(map, c->section);
		unsigned long i = c->section % LEAF_SECTIONS;
		struct pghot_section *sec;
		u8 *records;

		if (!leaf) {
			hotmap_walk_move(c, ALIGN(c->section + 1, LEAF_SECTIONS));
			continue;
		}
		/* Where nothing is ready, many at a time. */
		i = find_next_or_bit(leaf->hot, leaf->held, LEAF_SECTIONS, i);
		hotmap_walk_move(c, ALIGN_DOWN(c->section, LEAF_SECTIONS) + i);
		if (i == LEAF_SECTIONS)
			continue;
		sec = section_in(leaf, i, &records);
		if (sec && sec->node == node)
			c->block = min(find_next_bit(sec->hot, SECTION_BLOCKS,
						     c->block),
				       find_next_bit(sec->held, SECTION_BLOCKS,
						     c->block));
		found = sec && sec->node == node && c->block < SECTION_BLOCKS;
		if (found)
			*pfn = section_nr_to_pfn(c->section) +
			       ((unsigned long)c->block++ << PGHOT_BLOCK_ORDER);
		else
			hotmap_walk_move(c, c->section + 1);
	}
	rcu_read_unlock();
	return found;
}

static __always_inline unsigned int
block_collect(const struct pghot_layout *l, struct pghot_section *sec,
	      unsigned long pfn, u32 min_class, u32 now_ms,
	      const struct pghot_tunables *t, struct pghot_entry *entries,
	      bool *more)
{
	const u32 per_word = cells_per_word(l);
	u32 bucket = now_ms / pghot_bucket_ms(l, READ_ONCE(t->window_ms));
	u32 slots = READ_ONCE(sec->slots[group_of(pfn)]);
	u32 threshold = READ_ONCE(t->freq_threshold);
	u32 sure = sure_count(l, t, threshold);
	bool tells = era_tells(era_at(l, bucket), slots);
	unsigned long base = pfn % PAGES_PER_SECTION;
	u64 *words = (u64 *)sec->records + base / per_word;
	unsigned int n = 0, w, k;

	for (w = 0; w < PGHOT_BLOCK_PAGES / per_word; w++) {
		if (word_idle(l, READ_ONCE(words[w])))
			continue;
		for (k = 0; k < per_word; k++) {
			unsigned long i = base + w * per_word + k;
			u32 cell = cell_read(l, sec->records, i);
			struct pghot_rec rec = pghot_unpack(l, cell);
			u32 class;
			bool hot;

			if (!rec.ready)
				continue;
			class = pghot_class(l, rec);
			hot = tells && pghot_is_hot(l, rec, bucket,
						    threshold - !!sure);
			/* Stale ones go anyway, before time makes them look new. */
			if (class < min_class && hot) {
				*more = true;
				continue;
			}
			i = pfn - base + i;
			entries[n++] = (struct pghot_entry) {
				.pfn = i,
				.nid = rec_unsure(rec, sure) ? NUMA_NO_NODE :
						who_decode(l, sec, i, rec.who),
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
		mark_hot(map, section, sec, block_of(pfn));
	rcu_read_unlock();
}

/**
 * pghot_map_hold - a block's ready records wait for targets that take nothing
 * @map: the map
 * @pfn: a page of it
 * @waits: PGHOT_WAIT_BIT() of each of the targets
 *
 * Until a walk wants one of them, or another record becomes ready, walks pass
 * the block over. For the node's walker.
 */
void pghot_map_hold(struct pghot_map *map, unsigned long pfn, u8 waits)
{
	unsigned long section = pfn_to_section_nr(pfn);
	struct pghot_section *sec;
	struct pghot_leaf *leaf;

	rcu_read_lock();
	sec = section_of(map, section);
	leaf = leaf_of(map, section);
	if (sec && leaf) {
		set_bit(block_of(pfn), sec->held);
		hotmap_walk_add_waits(leaf, section, waits);
	}
	rcu_read_unlock();
}
