// SPDX-License-Identifier: GPL-2.0
/*
 * The pace of hardware samples. A sample is an interrupt on the CPU of a program, so
 * what it costs is bounded first, and what it brings is asked then: where hardly any
 * is of a page that could be promoted, a fraction of the budget is enough to see that
 * this has changed.
 */
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "sample_pace.h"

/* Fewer samples say nothing of what they are of. */
#define SAMPLE_ROUND	16U
/* One in so many is too little. */
#define SAMPLE_FEW	64U
/*
 * What a round says that may cost less than some twenty samples is by chance: one sample
 * may be ten times what a CPU may spend from one look to the next.
 */
#define SAMPLE_ROUND_NS	65536U
/* From so long a period on a sample stands for more than one access. */
#define SAMPLE_LONG	1024U

/**
 * pghot_sample_allowed_ns - what a CPU may spend
 * @p: pace
 * @elapsed_ns: in how much time
 * @permille: the budget
 *
 * Return: nanoseconds.
 */
u64 pghot_sample_allowed_ns(const struct pghot_sample_pace *p, u64 elapsed_ns,
			    u32 permille)
{
	return div_u64(elapsed_ns * permille, 1000) >> p->level;
}

static void sample_pace_slower(struct pghot_sample_pace *p)
{
	p->level = min(p->level + 1, PGHOT_SAMPLE_SLOWEST);
}

static u32 sample_pace_bound(const struct pghot_sample_pace *p, u64 period)
{
	return clamp(period, (u64)p->min, (u64)p->max);
}

/**
 * pghot_sample_follow - it is looked at what samples cost and bring
 * @p: pace
 * @r: what there was in this round so far
 * @permille: the budget
 *
 * Too much is mended at once, too little by half in a round: who was idle may not be
 * in the next one. A round in which nobody spent anything says nothing.
 *
 * Return: false if the round is to go on, as so little says nothing yet.
 */
bool pghot_sample_follow(struct pghot_sample_pace *p,
			 const struct pghot_sample_round *r, u32 permille)
{
	bool few = r->samples >= SAMPLE_ROUND && r->tracked * SAMPLE_FEW < r->samples;
	u64 allowed, period;
	/* More than four seconds are as bad: then a period times that is a u64. */
	u64 spent = min_t(u64, r->spent_ns, U32_MAX);

	if (r->held)
		sample_pace_slower(p);
	else if (r->tracked && !few)
		p->level = 0;

	allowed = pghot_sample_allowed_ns(p, r->elapsed_ns, permille);
	if (max(allowed, spent) < SAMPLE_ROUND_NS)
		return false;
	if (few && !r->held)
		sample_pace_slower(p);
	if (!spent)
		return true;
	allowed = max_t(u64, pghot_sample_allowed_ns(p, r->elapsed_ns, permille), 1);
	period = div64_u64(p->period * spent, allowed);
	p->period = sample_pace_bound(p, max(period, (u64)p->period / 2));
	return true;
}

/**
 * pghot_sample_weight - what a sample of a page is worth
 * @period: what is sampled is one in so many
 * @freq_threshold: accesses within the window that make a page ready
 * @plenty: the target has plenty of free memory
 *
 * Whoever is sampled once may have been accessed once: a page that is accessed once in
 * a while has as good a chance as a hot one, at its turn. Two samples within a window
 * are no chance any more, however many accesses were between them: the longer the
 * period, the more. Where nothing has to go for it one is enough, as with hint faults:
 * those that are accessed most are sampled first.
 *
 * Return: accesses: all that it takes to be ready, half of that, or one if the period
 *	   is short.
 */
u32 pghot_sample_weight(u32 period, u32 freq_threshold, bool plenty)
{
	if (plenty)
		return freq_threshold;
	return period < SAMPLE_LONG ? 1 : DIV_ROUND_UP(freq_threshold, 2U);
}
