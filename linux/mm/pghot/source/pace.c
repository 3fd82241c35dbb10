// SPDX-License-Identifier: GPL-2.0
/*
 * Pace: the fewer pages are found, the less often page tables are looked at.
 *
 * A round of looks, a period apart, says how often each page was accessed. With a
 * short period only the hottest pages are found at each look, with a long one all
 * that are accessed as often as it takes. So a scan begins with the shortest, and
 * takes a longer one where a whole pass over all processes found nothing.
 */
#include <linux/minmax.h>

#include "pace.h"
#include "tally.h"

/* One page in so many is too little for a shorter period. */
#define PACE_FEW	1024U

/* A look is up to such a part of its period late, as timers are: see kernel/time/timer.c. */
#define PACE_LATE	8U

/* Where one access is enough it is no less slow than that. */
#define PACE_ONCE	2U

/* Of each second a thousandth, in nanoseconds. */
#define PACE_PERMILLE_NS	1000000ULL

/**
 * pghot_pace_looks - how many looks a round has
 * @freq_threshold: accesses within the window that make a page ready
 *
 * One more than it takes to be hot, so that what is hottest can be told from what
 * just is.
 *
 * Return: looks, no more than are counted.
 */
u32 pghot_pace_looks(u32 freq_threshold)
{
	return min(freq_threshold + 1, PGHOT_TALLY_MAX);
}

/**
 * pghot_pace_least - what is reported after a look
 * @look: which of the round's looks it was; the first that counts is 1
 * @freq_threshold: accesses within the window that make a page ready
 *
 * All that was accessed after the last one. What each look has found is ready one look sooner,
 * and is promoted a period sooner for being reported then.
 *
 * Return: how often a page was accessed at least that is reported; 0: none is.
 */
u32 pghot_pace_least(u32 look, u32 freq_threshold)
{
	if (look == pghot_pace_looks(freq_threshold))
		return 1;
	return look == freq_threshold ? freq_threshold : 0;
}

/*
 * More of what becomes ready stays than goes. What other sources find may be all that stays,
 * as files that are being written do. Nobody counts by source: who found no more than went is
 * taken for one who found what went. And of what was found just now nothing is known yet: what
 * stays of that before does not speak for far more than was tried.
 */
static bool pace_finds_what_stays(const struct pghot_pace_round *r)
{
	return r->stayed > r->moved && r->own > r->moved &&
	       r->own / 2 <= r->moved + r->stayed;
}

/**
 * pghot_pace_follow - a round is over
 * @p: pace
 * @r: what became of it
 *
 * Who finds what nobody promotes looks less often at once: it can be found again.
 */
void pghot_pace_follow(struct pghot_pace *p, const struct pghot_pace_round *r)
{
	bool held = r->held || pace_finds_what_stays(r), slower = held;

	p->found |= r->fresh;
	if (!held && r->fresh > r->looked / PACE_FEW)
		p->level = max(p->level / 2, p->least);
	if (r->passed) {
		slower |= !p->found;
		p->found = false;
	}
	if (slower)
		p->level = min(p->level + 1, p->most ? p->most : PGHOT_PACE_SLOWEST);
}

static u32 pace_period_ms(u32 level, u32 window_ms, u32 freq_threshold)
{
	u32 longest = max((window_ms - window_ms / PACE_LATE) / (freq_threshold + 1), 1U);
	u32 shortest = max(window_ms / PGHOT_PACE_PART, PGHOT_PACE_LEAST_MS);

	return min(shortest << min(level, PGHOT_PACE_RESTS - 1), longest);
}

/**
 * pghot_pace_period_ms - time from one look of a round to the next
 * @p: pace
 * @window_ms: the window
 * @freq_threshold: accesses within the window that make a page ready
 *
 * No longer than lets all looks of a round fall into a window, late as they are: else
 * what is accessed as often as it takes would not be found. A budget that is used up makes
 * the rest between rounds longer: a round takes as many looks either way, and one
 * that takes longer only reports later.
 *
 * Return: milliseconds, at least 1.
 */
u32 pghot_pace_period_ms(const struct pghot_pace *p, u32 window_ms,
			 u32 freq_threshold)
{
	return pace_period_ms(p->level, window_ms, freq_threshold);
}

/**
 * pghot_pace_once_ms - time from the first look of a round to the only other one
 * @p: pace
 * @window_ms: the window
 * @freq_threshold: accesses within the window that make a page ready elsewhere
 * @more: page tables wait until these have been looked at
 *
 * Where one access is enough there is one look, which takes the time of all of them. It
 * is none of the shortest: the hottest are no better than others there, and what is
 * accessed now and then is found as well, at the same cost. But where more waits, that
 * would be found later for it.
 *
 * Return: milliseconds, at least 1.
 */
u32 pghot_pace_once_ms(const struct pghot_pace *p, u32 window_ms,
		       u32 freq_threshold, bool more)
{
	u32 level = more ? p->level : max(p->level, PACE_ONCE);

	return pace_period_ms(level, window_ms, freq_threshold) *
	       pghot_pace_looks(freq_threshold);
}

/**
 * pghot_pace_rest_ms - time from one round to the next
 * @p: pace
 * @window_ms: the window
 * @owed_ms: how long until the budget of CPU time is met, or 0
 *
 * Return: milliseconds, 0 if the next round may begin.
 */
u32 pghot_pace_rest_ms(const struct pghot_pace *p, u32 window_ms, u32 owed_ms)
{
	u32 rest = 0;

	if (p->level >= PGHOT_PACE_RESTS)
		rest = window_ms << (p->level - PGHOT_PACE_RESTS);
	return max(rest, owed_ms);
}

/**
 * pghot_pace_spend - CPU time was used
 * @budget: what is left of it, in nanoseconds
 * @now_ms: the time; may wrap
 * @permille: thousandths of a CPU that may be used
 * @ns: what was used
 *
 * Return: how long until the budget is met, in milliseconds; 0 if it is.
 */
u32 pghot_pace_spend(struct pghot_bucket *budget, u32 now_ms, u32 permille,
		     u64 ns)
{
	u64 ns_per_s = permille * PACE_PERMILLE_NS;

	pghot_bucket_refill(budget, now_ms, ns_per_s);
	pghot_bucket_spend(budget, ns);
	return pghot_bucket_wait_ms(budget, ns_per_s);
}
