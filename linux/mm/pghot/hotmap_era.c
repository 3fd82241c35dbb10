// SPDX-License-Identifier: GPL-2.0
/*
 * The hot map: forgetting. A record's clock is short and wraps, so that an old
 * access would look recent one day. Instead of going through all records from
 * time to time, whoever records something in a group of blocks for the first time
 * in an era goes through that group: pghot_era_buckets() says why that is enough.
 * What nobody records anything beside is not looked at, and costs nothing.
 *
 * Eras wrap too, after 4095: pghot_map_expire() has to come before that.
 */
#include <linux/mm.h>

#include "hotmap_layout.h"

/* How far eras may be apart before pghot_map_expire() is due. */
#define EXPIRE_ERAS		(NR_ERAS / 4)

/*
 * Go through the records of a group, as long as its era is that in @slots. An
 * access that another CPU counts meanwhile stays: it has changed the record, or
 * the era. What is lost at worst is one that is counted between the look at the
 * era and that at a record which it leaves as it was.
 */
static __always_inline void group_forget(const struct pghot_layout *l,
					 struct pghot_section *sec,
					 unsigned int group, u32 slots,
					 u32 bucket, bool all, bool ready_too)
{
	const u32 per_word = cells_per_word(l);
	unsigned long base = group * GROUP_PAGES, i;
	u64 *words = (u64 *)sec->records + base / per_word;
	unsigned int w;

	for (w = 0; w < GROUP_PAGES / per_word; w++) {
		if (!READ_ONCE(words[w]))
			continue;
		if (slot_era(READ_ONCE(sec->slots[group])) != slot_era(slots))
			return;
		for (i = base + w * per_word; i < base + (w + 1) * per_word; i++) {
			u32 old = cell_read(l, sec->records, i);
			struct pghot_rec was = pghot_unpack(l, old), rec;
			u32 new;

			rec = pghot_forget(l, was, bucket, all);
			if (ready_too)
				rec.freq = 0;
			new = pghot_pack(l, rec);
			if (new == old ||
			    !cell_update(l, sec->records, i, &old, new))
				continue;
			if (rec.ready && rec.freq != was.freq) {
				hist_add(sec->node, pghot_class(l, rec), 1);
				hist_add(sec->node, pghot_class(l, was), -1);
			}
		}
	}
}

/* Return the group's word with this era, unless another CPU was faster. */
static u32 hotmap_era_set_group(u32 *slot, u32 slots, u32 era)
{
	u32 was = slot_era(slots), new;

	do {
		if (slot_era(slots) != was)
			return slots;
		new = (slots & (BIT(ERA_SHIFT) - 1)) | era << ERA_SHIFT;
	} while (!try_cmpxchg(slot, &slots, new));
	return new;
}

/*
 * A group whose era is not the present one: forget what is out of the window
 * before anything is added. Return its word. Any context, NMI included; it takes
 * as long as reading 2 or 8 KiB does.
 */
noinline u32 group_enter_era(const struct pghot_layout *l,
			     struct pghot_section *sec, unsigned int group,
			     u32 bucket)
{
	u32 slots = READ_ONCE(sec->slots[group]), era = era_at(l, bucket);
	bool tells = era_tells(era, slots);

	/* Another CPU knew of the next era first. */
	if (tells && slot_era(slots) == (era + 1) % NR_ERAS)
		return slots;
	if (slot_era(slots) == era)
		return slots;
	/* In a group without an era there is nothing to forget. */
	if (slot_era(slots) != NO_ERA && l->bits == 8)
		group_forget(&pghot_layout_default, sec, group, slots, bucket,
			     !tells, false);
	else if (slot_era(slots) != NO_ERA)
		group_forget(&pghot_layout_precise, sec, group, slots, bucket,
			     !tells, false);
	return hotmap_era_set_group(&sec->slots[group], slots, era);
}

static void hotmap_era_expire_section(const struct pghot_layout *l,
				      struct pghot_section *sec, u32 bucket, bool all)
{
	unsigned int group;

	for (group = 0; group < SECTION_GROUPS; group++) {
		u32 slots = READ_ONCE(sec->slots[group]);

		if (slot_era(slots) == NO_ERA ||
		    (!all && era_tells(era_at(l, bucket), slots)))
			continue;
		group_forget(l, sec, group, slots, bucket, true, true);
		hotmap_era_set_group(&sec->slots[group], slots, NO_ERA);
	}
}

/**
 * pghot_map_expire - forget what is so old that eras would come round again
 * @map: the map
 * @node: the node
 * @now_ms: the time; may wrap
 * @t: how long the window is
 * @all: forget everything: the window was another one, or the time has wrapped
 *
 * Ready records stay, and are not hot. To be called at least every
 * pghot_map_expire_ms(); reads 4 bytes per group, 512 KiB for 1 TiB, and
 * the records of groups to which nothing was accounted for two eras. May sleep, and
 * may run beside everything else but pghot_map_exit().
 */
void pghot_map_expire(struct pghot_map *map, struct pghot_map_node *node,
		      u32 now_ms, const struct pghot_tunables *t, bool all)
{
	const struct pghot_layout *l = pghot_map_layout(map);
	u32 bucket = now_ms / pghot_bucket_ms(l, READ_ONCE(t->window_ms));
	unsigned long section;

	for (section = READ_ONCE(node->first);
	     section <= READ_ONCE(node->last); section++) {
		struct pghot_section *sec;

		rcu_read_lock();
		sec = section_of(map, section);
		if (sec && sec->node == node)
			hotmap_era_expire_section(l, sec, bucket, all);
		rcu_read_unlock();
		cond_resched();
	}
}

/**
 * pghot_map_expire_ms - how often pghot_map_expire() is to be called
 * @map: the map
 * @t: how long the window is
 *
 * Return: milliseconds; 85 minutes in the default layout with a window of 4 s.
 */
u32 pghot_map_expire_ms(const struct pghot_map *map,
			const struct pghot_tunables *t)
{
	const struct pghot_layout *l = pghot_map_layout(map);
	u64 ms = (u64)pghot_bucket_ms(l, READ_ONCE(t->window_ms)) *
		 pghot_era_buckets(l) * EXPIRE_ERAS;

	return min_t(u64, ms, U32_MAX / 4);
}

/**
 * pghot_map_expire_due - is pghot_map_expire() to be called
 * @map: the map
 * @t: how long the window is
 * @last_ms: when it was called last, or the map set up
 * @now_ms: the time
 * @all: set to what it is to be called with, if the window has not changed
 *
 * Return: true if so.
 */
bool pghot_map_expire_due(const struct pghot_map *map,
			  const struct pghot_tunables *t, u32 last_ms,
			  u32 now_ms, bool *all)
{
	*all = now_ms < last_ms;
	return *all || now_ms - last_ms >= pghot_map_expire_ms(map, t);
}
