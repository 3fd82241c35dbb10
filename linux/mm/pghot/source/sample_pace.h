/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How often the hardware samples accesses, and what a sample is worth. No kernel
 * state: what there was comes in as arguments.
 */
#ifndef _MM_PGHOT_SOURCE_SAMPLE_PACE_H
#define _MM_PGHOT_SOURCE_SAMPLE_PACE_H

#include <linux/types.h>

/* Thousandths of the time of the CPU that spends most on it. */
#define PGHOT_SAMPLE_PERMILLE		5
#define PGHOT_SAMPLE_PERMILLE_MIN	1
#define PGHOT_SAMPLE_PERMILLE_MAX	500

/* Between two looks no CPU spends more than so many times what it may. */
#define PGHOT_SAMPLE_BURST		4U

/* The budget is halved so often where samples are of no use. */
#define PGHOT_SAMPLE_SLOWEST		6U

/**
 * struct pghot_sample_pace - how often is sampled
 * @period: of what the counter counts, one is sampled in so many
 * @min: the least that makes sense
 * @max: the most that the counter has room for
 * @level: how often the budget is halved
 */
struct pghot_sample_pace {
	u32 period;
	u32 min;
	u32 max;
	u32 level;
};

/**
 * struct pghot_sample_round - what there was since the last round ended
 * @elapsed_ns: time
 * @spent_ns: what the CPU spent that spent most
 * @samples: taken by all, of accesses to memory
 * @tracked: those of them that were of pages of lower tiers
 * @held: what is found is not promoted just now
 */
struct pghot_sample_round {
	u64 elapsed_ns;
	u64 spent_ns;
	unsigned long samples;
	unsigned long tracked;
	bool held;
};

u64 pghot_sample_allowed_ns(const struct pghot_sample_pace *p, u64 elapsed_ns,
			    u32 permille);
bool pghot_sample_follow(struct pghot_sample_pace *p,
			 const struct pghot_sample_round *r, u32 permille);
u32 pghot_sample_weight(u32 period, u32 freq_threshold, bool plenty);

#endif /* _MM_PGHOT_SOURCE_SAMPLE_PACE_H */
