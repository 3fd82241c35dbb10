/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How often page tables are looked at. No kernel state: what there was comes in
 * as arguments.
 */
#ifndef _MM_PGHOT_SOURCE_PACE_H
#define _MM_PGHOT_SOURCE_PACE_H

#include <linux/types.h>

#include "../policy.h"

/* Thousandths of one CPU. */
#define PGHOT_CPU_PERMILLE	10
#define PGHOT_CPU_PERMILLE_MIN	1
#define PGHOT_CPU_PERMILLE_MAX	1000

/* The shortest period is this part of a window, and no less than so long. */
#define PGHOT_PACE_PART		64U
#define PGHOT_PACE_LEAST_MS	4U
/* So often the period doubles. Then the scan rests between its rounds. */
#define PGHOT_PACE_RESTS	6U
/* The longest rest has 4 windows. */
#define PGHOT_PACE_SLOWEST	8U

/**
 * struct pghot_pace - how often page tables are looked at
 * @level: 0 is as often as can be; the period doubles with each
 * @least: it is no lower than that
 * @most: nor any higher; 0 for %PGHOT_PACE_SLOWEST
 * @found: this pass has found something
 */
struct pghot_pace {
	u32 level;
	u32 least;
	u32 most;
	bool found;
};

/**
 * struct pghot_pace_round - what became of a round of looks
 * @looked: page table entries that were looked at
 * @fresh: records that it made ready
 * @own: the same, since @moved and @stayed were last counted: that may be some rounds
 * @moved: records of all sources whose folio was promoted by then
 * @stayed: those whose folio has to stay where it is
 * @held: nothing is promoted just now
 * @passed: it was the last one of a pass over all processes
 */
struct pghot_pace_round {
	unsigned long looked;
	unsigned long fresh;
	unsigned long own;
	unsigned long moved;
	unsigned long stayed;
	bool held;
	bool passed;
};

u32 pghot_pace_looks(u32 freq_threshold);
u32 pghot_pace_least(u32 look, u32 freq_threshold);
void pghot_pace_follow(struct pghot_pace *p, const struct pghot_pace_round *r);
u32 pghot_pace_period_ms(const struct pghot_pace *p, u32 window_ms,
			 u32 freq_threshold);
u32 pghot_pace_once_ms(const struct pghot_pace *p, u32 window_ms,
		       u32 freq_threshold, bool more);
u32 pghot_pace_rest_ms(const struct pghot_pace *p, u32 window_ms, u32 owed_ms);
u32 pghot_pace_spend(struct pghot_bucket *budget, u32 now_ms, u32 permille,
		     u64 ns);

#endif /* _MM_PGHOT_SOURCE_PACE_H */
