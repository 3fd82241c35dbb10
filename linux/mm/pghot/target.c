// SPDX-License-Identifier: GPL-2.0
/*
 * Where a hot page should go: to the node it is accessed from, if that one is
 * in the top tier and has room, else to the nearest one that has. And whether
 * it may go now: what the target's rate limit lets through.
 */
#define pr_fmt(fmt) "pghot: " fmt

#include <linux/memory-tiers.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/numa_promotion.h>
#include <linux/pghot.h>
#include <linux/slab.h>

#include "../internal.h"
#include "internal.h"

/* Counts the sources that are on and work without NUMA balancing. */
DEFINE_STATIC_KEY_FALSE(pghot_headroom_key);

/* Changed under pghot_lock. */
static struct pghot_target *targets[MAX_NUMNODES];

/**
 * pghot_target - a top-tier node
 * @nid: its ID
 *
 * Return: the node, or NULL if it never had memory in the top tier.
 */
struct pghot_target *pghot_target(int nid)
{
	/* Pairs with the release in pghot_target_sync(). */
	return smp_load_acquire(&targets[nid]);
}

/**
 * pghot_may_promote_to - is this a node of the top tier
 * @nid: the node, or NUMA_NO_NODE
 *
 * Return: true if it is, and has memory.
 */
bool pghot_may_promote_to(int nid)
{
	return nid >= 0 && node_state(nid, N_MEMORY) && node_is_toptier(nid);
}

/**
 * pghot_target_sync - bring a target in line with memory and tiers
 * @nid: node that came, went, moved to another tier, or none of these
 * @parent: where its directory goes in sysfs
 *
 * Context: pghot_lock held.
 *
 * Return: 0 or -ENOMEM.
 */
int pghot_target_sync(int nid, struct kobject *parent)
{
	struct pghot_target *target = pghot_target(nid);
	bool want = pghot_may_promote_to(nid);

	if (want && !target) {
		target = kzalloc_flex(*target, from, nr_node_ids);
		if (!target) {
			pr_warn("no memory for target %d\n", nid);
			return -ENOMEM;
		}
		target->nid = nid;
		spin_lock_init(&target->lock);
		/* Who finds it with pghot_target() finds it set up. */
		smp_store_release(&targets[nid], target);
	}
	if (!target)
		return 0;
	target->active = want;
	if (want)
		pghot_target_add_dir(target, parent);
	else
		pghot_del_dir(&target->kobj);
	return 0;
}

/**
 * pghot_target_active - is a node known to be a target
 * @nid: the node
 *
 * Context: pghot_lock held.
 *
 * Return: true if it had memory in the top tier when it was last synced.
 */
bool pghot_target_active(int nid)
{
	struct pghot_target *target = pghot_target(nid);

	return target && target->active;
}

/* Did what came to it for others gain, when that was last known? */
static bool target_gains(int nid)
{
	const struct pghot_target *target = pghot_target(nid);

	return target && READ_ONCE(target->gain_percent) >= PGHOT_GAIN_PERCENT;
}

/**
 * pghot_look_for_room - find out where one access is enough, and whether else exchange gains
 * @room: set to that; who reads it meanwhile may find some of both
 *
 * Context: any but NMI.
 */
void pghot_look_for_room(struct pghot_room *room)
{
	bool some = false, all = true, gains = true;
	int nid;

	for_each_node(nid) {
		bool target = pghot_may_promote_to(nid);

		if (target && pgdat_free_space_enough(NODE_DATA(nid)))
			node_set(nid, room->plenty);
		else
			node_clear(nid, room->plenty);
		some |= target;
		all &= !target || node_isset(nid, room->plenty);
		gains &= !target || node_isset(nid, room->plenty) || target_gains(nid);
	}
	WRITE_ONCE(room->everywhere, some && all);
	WRITE_ONCE(room->gains, some && gains);
}

/*
 * The node that says how far others are from @nid: one that has CPUs, for that is the
 * direction that firmware fills in, and others may say 255 of all. Of memory in the top
 * tier that has none it is the nearest.
 */
static int target_seen_from(int nid)
{
	int best = nid, distance = INT_MAX, n;

	if (node_state(nid, N_CPU))
		return nid;
	for_each_node_state(n, N_CPU) {
		if (node_distance(n, nid) < distance) {
			distance = node_distance(n, nid);
			best = n;
		}
	}
	return best;
}

/* How far @n is for pages on @src that @nid accesses. */
static int target_distance(int nid, int src, int n)
{
	return nid >= 0 ? node_distance(target_seen_from(nid), n) :
			  node_distance(target_seen_from(n), src);
}

/*
 * How good @n is for pages on @src that @nid accesses, the smaller the better:
 * @nid itself is best. INT_MAX if it is none.
 */
static int target_rank(int nid, int src, const nodemask_t *allowed, int n)
{
	int distance;

	if (!node_is_toptier(n) || (allowed && !node_isset(n, *allowed)))
		return INT_MAX;
	if (n == nid)
		return -1;
	distance = target_distance(nid, src, n);
	if (nid >= 0 && distance >= target_distance(nid, src, src))
		return INT_MAX;
	return distance;
}

/**
 * pghot_next_target - the next best node to promote a page to
 * @nid: node it is accessed from, or NUMA_NO_NODE
 * @src: node it is on
 * @allowed: nodes that cpuset and memory policy allow, or NULL for all
 * @last: the choice before, or NUMA_NO_NODE for the first
 *
 * @nid itself comes first, if it is in the top tier; then others that are nearer
 * to it than the page is now, the nearest first.
 *
 * Return: the node, or NUMA_NO_NODE if there are no more.
 */
int pghot_next_target(int nid, int src, const nodemask_t *allowed, int last)
{
	int best = NUMA_NO_NODE, best_rank = INT_MAX, last_rank = -1;
	int n;

	if (last != NUMA_NO_NODE)
		last_rank = target_rank(nid, src, allowed, last);
	for_each_node_state(n, N_MEMORY) {
		int rank = target_rank(nid, src, allowed, n);

		if (rank < last_rank || (rank == last_rank && n <= last))
			continue;
		if (rank < best_rank) {
			best = n;
			best_rank = rank;
		}
	}
	return best;
}

/**
 * pghot_target_slowed - is promotion slower than the rate limit lets it be
 * @nid: target, or NUMA_NO_NODE
 *
 * Return: true if so.
 */
bool pghot_target_slowed(int nid)
{
	const struct pghot_target *target = nid >= 0 ? pghot_target(nid) : NULL;

	return target && pghot_target_rate(target) < pghot_rate_bytes();
}

/**
 * pghot_take_tokens - ask the target's rate limit for leave
 * @nid: target
 * @src: node that the pages are on
 * @nr_pages: how much is to move
 * @paid: set to how many of these pages tokens were taken for
 * @wait_ms: set to how long there will be no leave, if it is refused
 *
 * A target with plenty of free memory sets no limit.
 *
 * Return: true if the move may go ahead.
 */
bool pghot_take_tokens(int nid, int src, unsigned long nr_pages,
		       unsigned long *paid, u32 *wait_ms)
{
	struct pghot_target *target = pghot_target(nid);
	u64 rate;
	bool ok;

	*paid = 0;
	if (!target || pgdat_free_space_enough(NODE_DATA(nid)))
		return true;

	rate = pghot_target_rate(target);
	spin_lock(&target->lock);
	pghot_bucket_refill(&target->bucket, pghot_now_ms(), rate);
	ok = pghot_bucket_take(&target->bucket, nr_pages << PAGE_SHIFT);
	if (ok) {
		*paid = nr_pages;
		target->from[src].had += nr_pages;
	} else {
		*wait_ms = pghot_bucket_wait_ms(&target->bucket, rate);
	}
	spin_unlock(&target->lock);
	return ok;
}

/**
 * pghot_return_tokens - a move that tokens were taken for did not happen
 * @nid: target
 * @src: node that the pages are on
 * @nr_pages: how many pages were paid for and did not move
 */
void pghot_return_tokens(int nid, int src, unsigned long nr_pages)
{
	struct pghot_target *target = pghot_target(nid);

	if (!target || !nr_pages)
		return;
	spin_lock(&target->lock);
	pghot_bucket_return(&target->bucket, nr_pages << PAGE_SHIFT);
	target->from[src].had -= nr_pages;
	spin_unlock(&target->lock);
}

/*
 * How many other nodes claim a target. Of what they had, the least; as it is
 * where there are none.
 */
static unsigned int target_other_claims(struct pghot_target *target, int src,
					long *least)
{
	unsigned int nr = 0;
	int n;

	for_each_node_state(n, N_MEMORY) {
		const struct pghot_from *from = &target->from[n];

		if (n == src || !from->claims)
			continue;
		*least = nr++ ? min(*least, from->had) : from->had;
	}
	return nr;
}

/**
 * pghot_target_claim - a promoter was refused by a target and waits, or waits no more
 * @nid: target
 * @src: the promoter's node
 * @claims: which; not the same twice for one promoter
 *
 * From its first claim on, a node gets as much as others that claim, not more for
 * what it did without before.
 */
void pghot_target_claim(int nid, int src, bool claims)
{
	struct pghot_target *target = pghot_target(nid);
	struct pghot_from *from;

	if (!target)
		return;
	from = &target->from[src];
	spin_lock(&target->lock);
	if (!claims)
		from->claims--;
	else if (!from->claims++)
		target_other_claims(target, src, &from->had);
	spin_unlock(&target->lock);
}

/**
 * pghot_target_share - how much a target takes from a node just now
 * @nid: target
 * @src: the node
 * @share: filled
 *
 * By rate limit and room together. Nodes that claim the same target get equal
 * parts of it; who had less of late gets the difference too.
 */
void pghot_target_share(int nid, int src, struct pghot_share *share)
{
	struct pghot_target *target = pghot_target(nid);
	unsigned long tokens = 0, room;
	long least, takes, had;
	unsigned int others;
	s64 level;

	*share = (struct pghot_share) { .pages = ULONG_MAX };
	if (!target || pgdat_free_space_enough(NODE_DATA(nid)))
		return;

	spin_lock(&target->lock);
	pghot_bucket_refill(&target->bucket, pghot_now_ms(),
			    pghot_target_rate(target));
	level = target->bucket.level;
	had = target->from[src].had;
	others = target_other_claims(target, src, &least);
	spin_unlock(&target->lock);

	if (level > 0)
		tokens = div_u64(level, 1000) >> PAGE_SHIFT;
	room = pghot_room_pages(nid);
	takes = min(tokens, room);
	share->full = room < tokens;
	share->others = others;
	share->pages = takes;
	if (others)
		share->pages = clamp(DIV_ROUND_UP(takes, others + 1) +
				     least - had, 0L, takes);
}
