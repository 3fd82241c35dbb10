/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much a hotness monitoring unit is asked to say: by what it said last, what
 * promotion takes, and what reading it costs. No kernel state.
 */
#ifndef _MM_PGHOT_CHMU_PACE_H
#define _MM_PGHOT_CHMU_PACE_H

#include <linux/types.h>

/*
 * While nothing can be promoted so many entries are enough, and while what is listed
 * is mostly known epochs are up to so many times as long.
 */
#define CHMU_WAITING_ENTRIES	64U
#define CHMU_LONGER_EPOCHS	8U

/*
 * One request may be a line that was read ahead, or one that is written back where only
 * all requests can be counted: not yet a use. Of no page more is asked than of another,
 * however large a unit is.
 */
#define CHMU_THRESHOLD_MIN	2U
#define CHMU_THRESHOLD_MAX	1000000U

/* What reading may cost: 1/64 of a CPU, and so much of it at once. */
#define CHMU_BUDGET_SHIFT	6
#define CHMU_BUDGET_BURST_NS	200000000ULL

/**
 * struct chmu_pace - settings that follow what becomes of reports
 * @epoch_us: length of an epoch
 * @threshold: requests in an epoch that make a unit of memory hot
 */
struct chmu_pace {
	u32 epoch_us;
	u32 threshold;
};

/**
 * struct chmu_yield - what an epoch brought
 * @listed: entries
 * @room: entries that the hotlist has room for
 * @overflow: there were more
 * @waiting: no target takes pages just now
 * @ready: pages that are known to be hot, and have not been promoted yet
 */
struct chmu_yield {
	u32 listed;
	u32 room;
	bool overflow;
	bool waiting;
	unsigned long ready;
};

/**
 * struct chmu_limits - within which settings move
 * @epoch_us: an epoch while promotion takes pages
 * @epoch_max_us: the longest epoch; not less
 * @threshold_min: lowest threshold
 * @threshold_max: highest threshold
 */
struct chmu_limits {
	u32 epoch_us;
	u32 epoch_max_us;
	u32 threshold_min;
	u32 threshold_max;
};

/**
 * struct chmu_budget - time that reading may take
 * @credit_ns: how much is left; below zero there is none
 * @last_ns: when it was last added to
 */
struct chmu_budget {
	s64 credit_ns;
	u64 last_ns;
};

u32 chmu_pace_least(unsigned int unit_shift);
bool chmu_pace_step(struct chmu_pace *pace, const struct chmu_yield *yield,
		    const struct chmu_limits *limits);
void chmu_budget_init(struct chmu_budget *budget, u64 now_ns);
u64 chmu_budget_spend(struct chmu_budget *budget, u64 now_ns, u64 spent_ns);

#endif /* _MM_PGHOT_CHMU_PACE_H */
