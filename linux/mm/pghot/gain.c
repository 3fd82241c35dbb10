// SPDX-License-Identifier: GPL-2.0
/*
 * Whether it gains anything that pages are exchanged between two tiers, and how
 * fast to promote, for that.
 *
 * A few of the pages that were just promoted are watched, and a few of those that
 * were demoted, for the same time and in the same way. If those that came are not
 * accessed clearly more often than those that went, all that is promoted costs
 * time for nothing. Then only the hottest are to come: where a few pages are hot it
 * is these that promotion is for. If that is no better, promotion is slowed down to
 * an eighth, again and again, until it is so rare that it does no harm. It gets
 * faster by the same steps where it gains, or where nothing has to go for it.
 */
#include <linux/compiler.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "gain.h"

#define SPEED_STEP	8U
#define HELD_STEP	((u32)ilog2(SPEED_STEP))
/* By which power of two a loss makes it more choosy. */
#define SPEED_CHOICE	3U
/* Beyond so many folios old ones count half, so that new ones count at all. */
#define USE_FOLIOS_MAX	(4U * PGHOT_GAIN_FOLIOS)
/* An access in a millisecond has the root of this for its weight. */
#define USE_WEIGHT	100000000U
/* The root of a single page. */
#define USE_ROOT	16U

/**
 * pghot_use_halve - what is known of pages counts half from now on
 * @use: what is known
 */
void pghot_use_halve(struct pghot_use *use)
{
	use->folios /= 2;
	use->roots /= 2;
	use->largest /= 2;
	use->weight /= 2;
	use->idle /= 2;
	use->idle_roots /= 2;
}

/**
 * pghot_use_add - one more folio was watched
 * @use: what is known of such
 * @ms: after how long it was accessed, or for how long it was watched
 * @nr_pages: its size
 * @accessed: it was
 *
 * The root of how often it is accessed: by that, those few count that are
 * accessed much more often than most, as they should. By the rate itself they would
 * count too much for what chance does to them: of pages that are alike, one in a
 * hundred is seen a hundred times as soon as the others.
 *
 * Who was not accessed is taken for accessed at the end: how rarely it is nobody
 * knows, and of pages that are hardly accessed one is as good as the other.
 */
void pghot_use_add(struct pghot_use *use, u32 ms, unsigned long nr_pages, bool accessed)
{
	u32 root = int_sqrt(nr_pages * USE_ROOT * USE_ROOT);
	u64 weight = int_sqrt(USE_WEIGHT / max(ms, 1U));

	if (use->folios >= USE_FOLIOS_MAX)
		pghot_use_halve(use);
	use->folios++;
	use->roots += root;
	use->largest = max(use->largest, root);
	if (accessed) {
		use->weight += weight;
	} else {
		use->idle += weight;
		use->idle_roots += weight * root;
	}
}

/**
 * pghot_use_known - were enough folios watched
 * @use: what is known of them
 *
 * Return: true if so.
 */
bool pghot_use_known(const struct pghot_use *use)
{
	return use->folios >= PGHOT_GAIN_FOLIOS;
}

static u32 gain_percent(u64 came, u32 of_came, u64 went, u32 of_went)
{
	u64 less = went * max(of_came, 1U);

	return min_t(u64, div64_u64(100 * came * max(of_went, 1U), max(less, 1ULL)),
		     PGHOT_GAIN_PERCENT_MAX);
}

/* Whoever accesses a folio accesses all of it. */
static u32 gain_if_dense(const struct pghot_use *came, const struct pghot_use *went)
{
	return gain_percent(came->weight + came->idle, came->folios,
			    went->weight + went->idle, went->folios);
}

/*
 * Each access is to one page of a folio. So of n pages each has the nth part of the accesses,
 * and the root of it. For all to count, and one folio not to count for more than all the
 * others, it counts as the root of n pages: together that is what the folio has.
 *
 * A page that was not accessed may be as cold as those of the largest folio that was not.
 */
static u32 gain_if_sparse(const struct pghot_use *came, const struct pghot_use *went)
{
	u32 largest = max(max(came->largest, went->largest), USE_ROOT);

	return gain_percent(came->weight + div_u64(came->idle_roots, largest), came->roots,
			    went->weight + div_u64(went->idle_roots, largest), went->roots);
}

/**
 * pghot_gain - what pages are worth that came, beside those that went
 * @came: pages that were promoted
 * @went: pages that were demoted
 *
 * An accessed bit does not tell how much of a folio was accessed. Where those that came
 * and those that went differ in size, what they are worth is in between: if each access
 * is to all of a folio, and if it is to one page.
 *
 * Return: between how many percent, each at most %PGHOT_GAIN_PERCENT_MAX.
 */
struct pghot_gain pghot_gain(const struct pghot_use *came, const struct pghot_use *went)
{
	u32 dense = gain_if_dense(came, went), sparse = gain_if_sparse(came, went);

	return (struct pghot_gain) {
		.least = min(dense, sparse), .most = max(dense, sparse),
	};
}

/**
 * pghot_gain_early - is it clear already that what came is worth it
 * @least: pages that were promoted; those that are watched yet as if they were not
 *	   accessed any more
 * @went: pages that were demoted
 *
 * Return: true if so.
 */
bool pghot_gain_early(const struct pghot_use *least, const struct pghot_use *went)
{
	return least->folios >= PGHOT_GAIN_EARLY_FOLIOS &&
	       went->folios >= PGHOT_GAIN_EARLY_FOLIOS &&
	       pghot_gain(least, went).least >= PGHOT_GAIN_EARLY;
}

/**
 * pghot_speed_try - promote faster
 * @s: the speed
 *
 * Once it is as fast as before it was slowed down it is not held back any more.
 */
void pghot_speed_try(struct pghot_speed *s)
{
	u64 rate = SPEED_STEP * s->rate;

	WRITE_ONCE(s->rate, rate < s->top ? rate : 0);
}

/**
 * pghot_speed_relax - be less choosy, if it is time to
 * @s: the speed
 * @ms: since when it is as choosy as it is
 * @idle: nothing came since
 * @window_ms: the window
 *
 * That promotion gains may be for being choosy. But what is hot by less may be all
 * that there is: so that is tried, the more rarely the more often it was a loss, and
 * soon where nothing is hot enough to come.
 *
 * Return: true if it is less choosy now.
 */
bool pghot_speed_relax(struct pghot_speed *s, u32 ms, bool idle, u32 window_ms)
{
	u32 patience = idle ? 1 : max(s->patience, PGHOT_SPEED_PATIENCE);

	if (!s->choosy || ms / patience < window_ms)
		return false;
	WRITE_ONCE(s->choosy, s->choosy - 1);
	return true;
}

/**
 * pghot_speed_judge - it is known what exchanging pages gains
 * @s: the speed
 * @percent: by pghot_gain()
 * @bytes: what was promoted since the last time
 * @ms: how long ago that was
 * @window_ms: the window
 */
void pghot_speed_judge(struct pghot_speed *s, u32 percent, u64 bytes, u32 ms,
		       u32 window_ms)
{
	u64 least = max(PGHOT_SPEED_BYTES * 1000U / window_ms, PGHOT_SPEED_LEAST);
	u64 was = div_u64(bytes * 1000, max(ms, 1U));

	if (percent >= PGHOT_GAIN_AGAIN) {
		s->wait_ms = 0;
		if (!s->choosy)
			s->patience = 0;
		pghot_speed_try(s);
	}
	if (percent >= PGHOT_GAIN_PERCENT)
		return;
	s->patience = clamp(2 * s->patience, PGHOT_SPEED_PATIENCE,
			    PGHOT_SPEED_WINDOWS);
	/* It may be enough to take the hottest. */
	if (s->choosy < PGHOT_SPEED_CHOOSY) {
		WRITE_ONCE(s->choosy, min(s->choosy + SPEED_CHOICE,
					  PGHOT_SPEED_CHOOSY));
		return;
	}
	if (!s->rate)
		s->top = was;
	else
		was = min(was, s->rate);
	WRITE_ONCE(s->rate, max(was / SPEED_STEP, least));
	s->wait_ms = clamp(2 * s->wait_ms, window_ms,
			   PGHOT_SPEED_WINDOWS * window_ms);
}

/**
 * pghot_speed_held - how far promotion is slowed down
 * @s: the speed
 *
 * Who finds pages need not find more than are promoted. To take the hottest all have
 * to be found, but that was tried before the rate is held.
 *
 * Return: by which power of two, at most %PGHOT_SPEED_HELD_MAX.
 */
u32 pghot_speed_held(const struct pghot_speed *s)
{
	u32 held = 0;

	while (s->rate && held < PGHOT_SPEED_HELD_MAX &&
	       s->rate << (held + 1) <= s->top)
		held++;
	return held;
}

/**
 * pghot_held_try - let more of what was held back come
 * @held: by which power of two less comes
 *
 * Return: by which from now on.
 */
u32 pghot_held_try(u32 held)
{
	return held - min(held, HELD_STEP);
}

/**
 * pghot_held_judge - it is known what exchanging pages gains that are held back at their
 *		      source
 * @held: by which power of two fewer of them are looked at
 * @percent: by pghot_gain()
 *
 * Nobody is choosy about them: how often a file is read is known as a count within the
 * window, and those that are read in turn have it all alike.
 *
 * Return: by which from now on, at most %PGHOT_SPEED_HELD_MAX.
 */
u32 pghot_held_judge(u32 held, u32 percent)
{
	if (percent >= PGHOT_CACHE_GAIN_AGAIN)
		return pghot_held_try(held);
	if (percent < PGHOT_CACHE_GAIN_PERCENT)
		return min(held + HELD_STEP, PGHOT_SPEED_HELD_MAX);
	return held;
}

/**
 * pghot_speed_threshold - how soon after it was scanned a hot page is accessed
 * @s: the speed
 * @threshold_ms: the hot threshold in force
 * @least_ms: what can be told by the clock
 *
 * Return: the threshold for what is promoted just now.
 */
u32 pghot_speed_threshold(const struct pghot_speed *s, u32 threshold_ms,
			  u32 least_ms)
{
	return max(threshold_ms >> READ_ONCE(s->choosy),
		   min(threshold_ms, least_ms));
}
