// SPDX-License-Identifier: GPL-2.0
/* The hot map: accesses go in, taken records come out. */
#include <linux/prefetch.h>

#include "hotmap_layout.h"

/*
 * Which of its block's two nodes @nid is. A third node takes the place of one
 * of them, always the same one, so that nodes do not drive each other out in
 * turn.
 */
static noinline u32 slot_claim(u32 *slot, u32 slots, int nid)
{
	u32 who;

	do {
		if (slot_nid(slots, 0) == nid)
			return 0;
		if (slot_nid(slots, 1) == nid)
			return 1;
		if (slot_nid(slots, 0) == NO_SLOT)
			who = 0;
		else if (slot_nid(slots, 1) == NO_SLOT)
			who = 1;
		else
			who = nid & 1;
	} while (!try_cmpxchg(slot, &slots,
			      who ? (slots & 0xffff) | (u32)nid << 16 :
				    (slots & 0xffff0000) | nid));
	return who;
}

static __always_inline u32 who_encode(const struct pghot_layout *l,
				      struct pghot_section *sec,
				      unsigned long pfn, int nid)
{
	u32 *slot, slots, differ;

	if (l->who_bits > 1)
		return nid < 0 ? NO_WHO : nid;
	/* An access from nowhere in particular claims nothing. */
	if (nid < 0)
		return 0;
	slot = &sec->slots[block_of(pfn)];
	slots = READ_ONCE(*slot);
	/* Zero in the half that has @nid; which one is not for a branch. */
	differ = slots ^ (nid | (u32)nid << 16);
	if (likely((differ & 0xffff) * (differ >> 16) == 0))
		return (differ & 0xffff) != 0;
	return slot_claim(slot, slots, nid);
}

/* Count a record that is ready. Return whether it was not before. */
static noinline bool ready_count(const struct pghot_layout *l,
				 struct pghot_map_node *node,
				 struct pghot_rec was, struct pghot_rec is)
{
	u32 from = pghot_class(l, was), to = pghot_class(l, is);

	if (was.ready && from == to)
		return false;
	atomic_long_inc(&node->hist[to]);
	if (was.ready)
		atomic_long_dec(&node->hist[from]);
	return !was.ready;
}

static __always_inline bool
section_record(const struct pghot_layout *l, struct pghot_section *sec,
	       unsigned long pfn, int nid, u32 weight, u32 now_ms,
	       const struct pghot_tunables *t)
{
	u32 bucket = now_ms / pghot_bucket_ms(l, READ_ONCE(t->window_ms));
	u32 threshold = READ_ONCE(t->freq_threshold);
	u32 who = who_encode(l, sec, pfn, nid);
	unsigned long i = pfn % PAGES_PER_SECTION;
	u32 old = cell_read(l, sec, i);
	struct pghot_rec was, is;
	u32 new;

	do {
		was = pghot_unpack(l, old);
		is = pghot_account(l, was, bucket, who, weight, threshold);
		new = pghot_pack(l, is);
		if (new == old)
			return false;
	} while (!cell_update(l, sec, i, &old, new));

	if (likely(!is.ready))
		return false;
	return ready_count(l, sec->node, was, is);
}

/**
 * pghot_map_prefetch - have a page's record at hand for pghot_map_record()
 * @map: the map
 * @pfn: the page
 *
 * Records are found at random, and waiting for memory is most of what one
 * costs. Who reports many accesses calls this a few of them ahead.
 *
 * Context: any, NMI included.
 */
void pghot_map_prefetch(struct pghot_map *map, unsigned long pfn)
{
	struct pghot_section *sec;

	rcu_read_lock();
	sec = section_of(map, pfn_to_section_nr(pfn));
	if (!sec)
		goto out;
	if (map->precise) {
		prefetchw((u32 *)sec->records + pfn % PAGES_PER_SECTION);
	} else {
		prefetch(&sec->slots[block_of(pfn)]);
		prefetchw(sec->records + pfn % PAGES_PER_SECTION);
	}
out:
	rcu_read_unlock();
}

/**
 * pghot_map_record - record accesses to a page
 * @map: the map
 * @pfn: the page; for a large folio its first page
 * @nid: node to promote it to, or NUMA_NO_NODE
 * @weight: how many accesses
 * @now_ms: the time; may wrap
 * @t: when a record is ready
 * @node: set to the page's node if the record became ready
 *
 * Context: any, NMI included.
 *
 * Return: what happened; PGHOT_BECAME_READY once, until the record is taken.
 */
enum pghot_recorded pghot_map_record(struct pghot_map *map, unsigned long pfn,
				     int nid, u32 weight, u32 now_ms,
				     const struct pghot_tunables *t,
				     struct pghot_map_node **node)
{
	unsigned long section = pfn_to_section_nr(pfn);
	enum pghot_recorded ret = PGHOT_UNTRACKED;
	struct pghot_section *sec;
	bool ready;

	rcu_read_lock();
	sec = section_of(map, section);
	if (!sec)
		goto out;
	if (map->precise)
		ready = section_record(&pghot_layout_precise, sec, pfn, nid,
				       weight, now_ms, t);
	else
		ready = section_record(&pghot_layout_default, sec, pfn, nid,
				       weight, now_ms, t);
	if (ready) {
		mark_hot(leaf_of(map, section), section, sec, block_of(pfn));
		*node = sec->node;
	}
	ret = ready ? PGHOT_BECAME_READY : PGHOT_COUNTED;
out:
	rcu_read_unlock();
	return ret;
}

/**
 * pghot_map_take - take a ready record out of the map
 * @map: the map
 * @pfn: the page
 *
 * Return: false if there was no ready record any more.
 */
bool pghot_map_take(struct pghot_map *map, unsigned long pfn)
{
	const struct pghot_layout *l = pghot_map_layout(map);
	unsigned long i = pfn % PAGES_PER_SECTION;
	struct pghot_rec rec = { .ready = false };
	struct pghot_section *sec;
	u32 old;

	rcu_read_lock();
	sec = section_of(map, pfn_to_section_nr(pfn));
	if (!sec)
		goto out;
	old = cell_read(l, sec, i);
	do {
		rec = pghot_unpack(l, old);
		if (!rec.ready)
			goto out;
	} while (!cell_update(l, sec, i, &old, 0));
	atomic_long_dec(&sec->node->hist[pghot_class(l, rec)]);
out:
	rcu_read_unlock();
	return rec.ready;
}
