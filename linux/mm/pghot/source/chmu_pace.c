// SPDX-License-Identifier: GPL-2.0
/* How much a hotness monitoring unit is asked to say. No kernel state. */
#include <linux/minmax.h>
#include <linux/mmzone.h>
#include <linux/types.h>

#include "chmu_pace.h"

/*
 * Half of the hotlist leaves room for an epoch that has more. While nothing can be
 * promoted, page tables tell whether what waits is in use, and only what is hotter
 * is news.
 */
static u32 chmu_pace_entries_wanted(const struct chmu_yield *yield)
{
	u32 half = yield->room / 2;

	return yield->waiting ? min(half, CHMU_WAITING_ENTRIES) : half;
}

/* Nothing goes, or what was listed is mostly what waits already. */
static bool chmu_pace_nothing_new(const struct chmu_yield *yield)
{
	return yield->waiting ||
	       (yield->ready && yield->ready >= yield->listed / 2);
}

/**
 * chmu_pace_least - the lowest threshold that makes sense
 * @unit_shift: size of a unit of memory
 *
 * Where a unit has many pages, all of them become hot by what one of them has.
 *
 * Return: requests in an epoch.
 */
u32 chmu_pace_least(unsigned int unit_shift)
{
	u64 pages = 1ULL << (max_t(unsigned int, unit_shift, PAGE_SHIFT) - PAGE_SHIFT);

	return min(CHMU_THRESHOLD_MIN * pages, (u64)CHMU_THRESHOLD_MAX);
}

/**
 * chmu_pace_step - settings for the next epochs
 * @pace: settings so far, which are set to the next ones
 * @yield: what the last epoch brought
 * @limits: within which they move
 *
 * The threshold doubles while there are more entries than wanted, and is halved
 * while there are less than a quarter of that: between them it stays.
 *
 * Return: true if any has changed.
 */
bool chmu_pace_step(struct chmu_pace *pace, const struct chmu_yield *yield,
		    const struct chmu_limits *limits)
{
	u32 wanted = chmu_pace_entries_wanted(yield);
	u64 threshold = pace->threshold, epoch = limits->epoch_us;
	struct chmu_pace before = *pace;

	if (yield->overflow || yield->listed > wanted)
		threshold *= 2;
	else if (yield->listed < wanted / 4)
		threshold /= 2;
	if (chmu_pace_nothing_new(yield))
		epoch = min((u64)pace->epoch_us * 2, epoch * CHMU_LONGER_EPOCHS);
	pace->threshold = clamp(threshold, (u64)limits->threshold_min,
				(u64)limits->threshold_max);
	pace->epoch_us = clamp(epoch, (u64)limits->epoch_us, (u64)limits->epoch_max_us);
	return pace->threshold != before.threshold ||
	       pace->epoch_us != before.epoch_us;
}

/**
 * chmu_budget_init - begin with all that may be spent at once
 * @budget: the budget
 * @now_ns: the time
 */
void chmu_budget_init(struct chmu_budget *budget, u64 now_ns)
{
	budget->credit_ns = CHMU_BUDGET_BURST_NS;
	budget->last_ns = now_ns;
}

/**
 * chmu_budget_spend - account for time that was spent on reading
 * @budget: the budget
 * @now_ns: the time
 * @spent_ns: of that, since the last time
 *
 * Return: for how long nothing is left, in nanoseconds.
 */
u64 chmu_budget_spend(struct chmu_budget *budget, u64 now_ns, u64 spent_ns)
{
	u64 earned = (now_ns - budget->last_ns) >> CHMU_BUDGET_SHIFT;

	earned = min(earned, CHMU_BUDGET_BURST_NS);
	spent_ns = min(spent_ns, CHMU_BUDGET_BURST_NS);
	budget->last_ns = now_ns;
	budget->credit_ns = min_t(s64, budget->credit_ns + earned,
				  CHMU_BUDGET_BURST_NS);
	budget->credit_ns -= spent_ns;
	if (budget->credit_ns >= 0)
		return 0;
	return (u64)-budget->credit_ns << CHMU_BUDGET_SHIFT;
}
