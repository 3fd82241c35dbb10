// SPDX-License-Identifier: GPL-2.0
/* The hot map: accesses go in, taken records come out. */
#include <linux/minmax.h>

#include "hotmap_layout.h"

/*
 * How many accesses ahead a batch fetches records: it takes some 5 ns to record
 * one that is at hand and 100 to 200 ns to fetch one. With half as many, a record
 * takes a tenth longer, with twice as many no less. A power of two.
 */
#define BATCH_AHEAD		32U

/*
 * Which of its group's two nodes @nid is. A third node takes the place of one
 * of them, always the same one, so that nodes do not drive each other out in
 * turn.
 */
static noinline bool hotmap_record_claim_slot(u32 *slot, u32 slots, u32 nid)
{
	u32 shift;
	bool who;

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
		shift = who ? NID_BITS : 0;
	} while (!try_cmpxchg(slot, &slots,
			      (slots & ~(NID_MASK << shift)) | nid << shift));
	return who;
}

/* 1023 stands for none, and no place is left for larger numbers. */
static __always_inline bool from_nowhere(int nid)
{
	return (u32)nid >= NO_WHO;
}

static __always_inline u32 who_encode(const struct pghot_layout *l, u32 *slot,
				      u32 slots, int nid)
{
	u32 differ;

	if (l->who_bits > 1)
		return from_nowhere(nid) ? NO_WHO : nid;
	/* An access from nowhere in particular claims nothing. */
	if (from_nowhere(nid))
		return 0;
	/* Zero in the part that has @nid; which one is not for a branch. */
	differ = slots ^ (nid | (u32)nid << NID_BITS);
	if (likely((differ & NID_MASK) * (differ >> NID_BITS & NID_MASK) == 0))
		return (differ & NID_MASK) != 0;
	return hotmap_record_claim_slot(slot, slots, nid);
}

/*
 * A record was updated and is ready: count it by its class and mark its block,
 * which may be held for the target that the record had before. Return whether
 * it was not ready before. Out of line, for few are.
 */
static noinline bool hotmap_record_update_ready(const struct pghot_layout *l,
						struct pghot_map *map,
						struct pghot_section *sec, unsigned long pfn,
						u32 old, u32 new, u32 sure)
{
	struct pghot_rec was = pghot_unpack(l, old), is = pghot_unpack(l, new);
	u32 from = pghot_class(l, was), to = pghot_class(l, is);
	unsigned long section = pfn_to_section_nr(pfn);

	if (was.ready && from == to && was.who == is.who)
		return false;
	hist_add(sec->node, to, 1);
	if (was.ready)
		hist_add(sec->node, from, -1);
	if (!was.ready || was.who != is.who ||
	    rec_unsure(was, sure) != rec_unsure(is, sure))
		mark_hot(map, section, sec, block_of(pfn));
	return !was.ready;
}

/* What records are judged by: the same for a whole batch. */
struct rule {
	u32 now_ms;
	u32 bucket_ms;
	u32 bucket;
	u32 era;
	u32 threshold;
	u32 sure;
};

static __always_inline struct rule rule_at(const struct pghot_layout *l,
					   const struct pghot_tunables *t,
					   u32 now_ms)
{
	u32 bucket_ms = pghot_bucket_ms(l, READ_ONCE(t->window_ms));
	u32 threshold = READ_ONCE(t->freq_threshold);
	u32 bucket = now_ms / bucket_ms;

	return (struct rule) {
		.now_ms = now_ms,
		.bucket_ms = bucket_ms,
		.bucket = bucket,
		.era = era_at(l, bucket),
		.threshold = threshold,
		.sure = sure_count(l, t, threshold),
	};
}

/*
 * The count of a record that is ready after an access says whether its node is known.
 * Of one that was not ready before, nobody can tell whether that is somebody's word.
 */
static __always_inline u32 count_told(const struct pghot_layout *l,
				      struct pghot_rec was, struct pghot_rec is,
				      int nid, const struct rule *rule)
{
	if (!from_nowhere(nid))
		return max(is.freq, rule->sure);
	if (was.ready && !rec_unsure(was, rule->sure) &&
	    pghot_in_window(l, was, rule->bucket))
		return is.freq;
	return rule->sure - 1;
}

/*
 * Where counts say whether the node is known, one of a ready record has no room for less
 * than makes it hot. What has gone stale, or was emptied, stays as it is until there is as
 * much as that: it is dropped before long.
 */
static __always_inline bool count_too_low(struct pghot_rec was, struct pghot_rec is,
					  bool forget, const struct rule *rule)
{
	return was.ready && is.freq < rule->sure &&
	       (forget || was.freq + 1 < rule->sure);
}

/* The record after an access to a page, of which @rec is known. */
static __always_inline struct pghot_rec
rec_after(const struct pghot_layout *l, struct pghot_rec rec,
	  const struct pghot_access *a, u32 who, const struct rule *rule,
	  u32 back)
{
	struct pghot_rec was = rec;
	bool forget;

	/* What waits may have been used where the one who says so cannot see it. */
	forget = a->anew && (!rec.ready || !pghot_in_window(l, rec, rule->bucket));
	if (forget)
		rec.freq = 0;
	/* Who says nothing of the node does not take back what another said. */
	if (from_nowhere(a->nid) && pghot_in_window(l, rec, rule->bucket))
		who = rec.who;
	if (unlikely(a->interval_ms))
		rec = pghot_account_interval(l, rec, rule->bucket, back, who,
					     a->weight, rule->threshold);
	else
		rec = pghot_account(l, rec, rule->bucket, who, a->weight,
				    rule->threshold);
	if (!rule->sure || !rec.ready)
		return rec;
	if (unlikely(count_too_low(was, rec, forget, rule)))
		return was;
	rec.freq = count_told(l, was, rec, a->nid, rule);
	return rec;
}

/* How many buckets ago the interval began that was looked at. */
static noinline u32 hotmap_record_buckets_back(const struct pghot_layout *l,
					       const struct rule *rule, u32 interval_ms)
{
	u32 since_ms = rule->now_ms - min(interval_ms, rule->now_ms);

	return min(rule->bucket - since_ms / rule->bucket_ms,
		   (u32)l->window_buckets);
}

static __always_inline bool
section_record(const struct pghot_layout *l, struct pghot_map *map,
	       struct pghot_section *sec, u8 *records,
	       const struct pghot_access *a, struct rule rule)
{
	u32 *slot = &sec->slots[group_of(a->pfn)], slots = READ_ONCE(*slot);
	unsigned long i = a->pfn % PAGES_PER_SECTION;
	u32 old, new, who, back = 0;

	if (unlikely(slot_era(slots) != rule.era))
		slots = group_enter_era(l, sec, group_of(a->pfn), rule.bucket);
	who = who_encode(l, slot, slots, a->nid);
	/* Nothing would change; asked here, the loop has less to keep. */
	if (!a->weight)
		return false;
	if (unlikely(a->interval_ms))
		back = hotmap_record_buckets_back(l, &rule, a->interval_ms);
	old = cell_read(l, records, i);
	do {
		new = pghot_pack(l, rec_after(l, pghot_unpack(l, old), a, who,
					      &rule, back));
		if (new == old)
			return false;
	} while (!cell_update(l, records, i, &old, new));

	if (likely(!(new & pghot_ready_bit(l))))
		return false;
	return hotmap_record_update_ready(l, map, sec, a->pfn, old, new, rule.sure);
}

/* Find a page's section, and have what recording needs on its way. */
static __always_inline struct pghot_section *
section_fetch(const struct pghot_layout *l, struct pghot_map *map,
	      unsigned long pfn, u8 **records)
{
	struct pghot_leaf *leaf = leaf_of(map, pfn_to_section_nr(pfn));
	struct pghot_section *sec;

	if (unlikely(!leaf))
		return NULL;
	sec = section_in(leaf, pfn_to_section_nr(pfn), records);
	if (unlikely(!sec))
		return NULL;
	prefetch(&sec->slots[group_of(pfn)]);
	cell_prefetch(l, *records, pfn % PAGES_PER_SECTION);
	return sec;
}

static __always_inline enum pghot_recorded
map_record(const struct pghot_layout *l, struct pghot_map *map,
	   const struct pghot_access *access, u32 now_ms,
	   const struct pghot_tunables *t, struct pghot_map_node **node)
{
	struct pghot_section *sec;
	u8 *records;

	sec = section_fetch(l, map, access->pfn, &records);
	if (!sec)
		return PGHOT_UNTRACKED;
	if (!section_record(l, map, sec, records, access, rule_at(l, t, now_ms)))
		return PGHOT_COUNTED;
	*node = sec->node;
	return PGHOT_BECAME_READY;
}

/**
 * pghot_map_record - record accesses to a page
 * @map: the map
 * @access: the page, and what is known of the accesses
 * @now_ms: the time; may wrap
 * @t: when a record is ready
 * @node: set to the page's node if the record became ready
 *
 * Context: any, NMI included.
 *
 * Return: what happened; PGHOT_BECAME_READY once, until the record is taken.
 */
enum pghot_recorded pghot_map_record(struct pghot_map *map,
				     const struct pghot_access *access,
				     u32 now_ms, const struct pghot_tunables *t,
				     struct pghot_map_node **node)
{
	enum pghot_recorded ret;

	rcu_read_lock();
	if (map->precise)
		ret = map_record(&pghot_layout_precise, map, access, now_ms, t,
				 node);
	else
		ret = map_record(&pghot_layout_default, map, access, now_ms, t,
				 node);
	rcu_read_unlock();
	return ret;
}

/*
 * Atomic operations wait for all stores before them, so that no more is kept of
 * the accesses ahead than their sections.
 */
static __always_inline unsigned int
map_record_batch(const struct pghot_layout *l, struct pghot_map *map,
		 const struct pghot_access *accesses, unsigned int nr,
		 u32 now_ms, const struct pghot_tunables *t,
		 pghot_ready_fn became_ready)
{
	struct rule rule = rule_at(l, t, now_ms);
	struct pghot_section *ahead[BATCH_AHEAD];
	u8 *records_ahead[BATCH_AHEAD];
	unsigned int i, tracked = nr;

	for (i = 0; i < min(nr, BATCH_AHEAD); i++)
		ahead[i] = section_fetch(l, map, accesses[i].pfn,
					 &records_ahead[i]);
	for (i = 0; i < nr; i++) {
		const struct pghot_access *a = &accesses[i];
		unsigned int k = i % BATCH_AHEAD;
		struct pghot_section *sec = ahead[k];
		u8 *records = records_ahead[k];

		if (nr - i > BATCH_AHEAD)
			ahead[k] = section_fetch(l, map, a[BATCH_AHEAD].pfn,
						 &records_ahead[k]);
		if (unlikely(!sec)) {
			tracked--;
			continue;
		}
		if (unlikely(section_record(l, map, sec, records, a, rule)))
			became_ready(a, sec->node);
	}
	return tracked;
}

/**
 * pghot_map_record_batch - record accesses to many pages
 * @map: the map
 * @accesses: pages, and where they are accessed from
 * @nr: their number
 * @now_ms: the time; may wrap
 * @t: when a record is ready
 * @became_ready: called for each access that made its record ready, with the
 *		  page's node, inside an RCU read-side critical section
 *
 * As pghot_map_record() for each in turn. Most of what a record costs is waiting
 * for memory, which many records at once can share.
 *
 * Context: any, NMI included; the time taken grows with @nr.
 *
 * Return: how many of the pages are tracked.
 */
unsigned int pghot_map_record_batch(struct pghot_map *map,
				    const struct pghot_access *accesses,
				    unsigned int nr, u32 now_ms,
				    const struct pghot_tunables *t,
				    pghot_ready_fn became_ready)
{
	unsigned int tracked;

	rcu_read_lock();
	if (map->precise)
		tracked = map_record_batch(&pghot_layout_precise, map, accesses,
					   nr, now_ms, t, became_ready);
	else
		tracked = map_record_batch(&pghot_layout_default, map, accesses,
					   nr, now_ms, t, became_ready);
	rcu_read_unlock();
	return tracked;
}

/**
 * pghot_map_renew - a ready record's page was accessed after the last report
 * @map: the map
 * @e: the record as pghot_map_collect() saw it; what changes is set
 * @since_ms: it was accessed after that
 * @now_ms: the time
 * @t: what is hot
 *
 * Return: true if the record is renewed: it was not as recent before.
 */
bool pghot_map_renew(struct pghot_map *map, struct pghot_entry *e,
		     u32 since_ms, u32 now_ms, const struct pghot_tunables *t)
{
	const struct pghot_layout *l = pghot_map_layout(map);
	struct rule rule = rule_at(l, t, now_ms);
	u32 back = rule.bucket - since_ms / rule.bucket_ms;
	unsigned long i = e->pfn % PAGES_PER_SECTION;
	struct pghot_section *sec;
	struct pghot_rec rec;
	bool renewed = false;
	u32 old, new;

	rcu_read_lock();
	sec = section_of(map, pfn_to_section_nr(e->pfn));
	if (!sec)
		goto out;
	if (slot_era(READ_ONCE(sec->slots[group_of(e->pfn)])) != rule.era)
		group_enter_era(l, sec, group_of(e->pfn), rule.bucket);
	old = cell_read(l, sec->records, i);
	do {
		rec = pghot_renew(l, pghot_unpack(l, old), rule.bucket, back,
				  rule.threshold - !!rule.sure);
		new = pghot_pack(l, rec);
		if (new == old)
			goto out;
	} while (!cell_update(l, sec->records, i, &old, new));
	e->seen = new;
	e->class = pghot_class(l, rec);
	e->hot = true;
	renewed = true;
out:
	rcu_read_unlock();
	return renewed;
}

static bool hotmap_record_take(struct pghot_map *map, unsigned long pfn, const u32 *only)
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
	old = cell_read(l, sec->records, i);
	do {
		rec = pghot_unpack(l, old);
		if (only && old != *only)
			rec.ready = false;
		if (!rec.ready)
			goto out;
	} while (!cell_update(l, sec->records, i, &old, 0));
	hist_add(sec->node, pghot_class(l, rec), -1);
out:
	rcu_read_unlock();
	return rec.ready;
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
	return hotmap_record_take(map, pfn, NULL);
}

/**
 * pghot_map_take_seen - take a ready record that nobody has updated
 * @map: the map
 * @e: the record as pghot_map_collect() saw it
 *
 * For what is to go because of its content, such as its age: an access that has
 * come meanwhile is not lost.
 *
 * Return: false if the record has changed or is gone.
 */
bool pghot_map_take_seen(struct pghot_map *map, const struct pghot_entry *e)
{
	return hotmap_record_take(map, e->pfn, &e->seen);
}
