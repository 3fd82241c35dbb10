// SPDX-License-Identifier: GPL-2.0
/*
 * Promotion policy: the rate a target node takes pages at, what a hint fault
 * says, and who goes first when not all can.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>

#include "policy.h"

/* Milliseconds times bytes a second give thousandths of a byte. */
#define LEVEL_PER_BYTE		1000

/* How far behind another CPU's a reading of the clock may be. */
#define SKEW_MS			1000U

/*
 * Time since @stamp_ms. Only a stamp just ahead is one that another CPU left
 * with a later time; one half the clock's range back is that old, and taking it
 * for a later one would stop the policy for weeks.
 */
static u32 policy_elapsed_ms(u32 now_ms, u32 stamp_ms)
{
	return stamp_ms - now_ms <= SKEW_MS ? 0 : now_ms - stamp_ms;
}

static s64 policy_bucket_size(u64 bytes_per_s)
{
	return bytes_per_s * PGHOT_BURST_MS;
}

/**
 * pghot_bucket_refill - add the tokens that time has earned
 * @b: bucket
 * @now_ms: the time; may wrap
 * @bytes_per_s: rate, at most PGHOT_RATE_MBPS_MAX MiB a second
 *
 * A new bucket is full. A rate lowered meanwhile lowers the level at once.
 */
void pghot_bucket_refill(struct pghot_bucket *b, u32 now_ms, u64 bytes_per_s)
{
	s64 size = policy_bucket_size(bytes_per_s);
	u32 elapsed = policy_elapsed_ms(now_ms, b->stamp_ms);
	s64 earned;

	if (!b->started) {
		b->started = true;
		b->level = size;
		b->stamp_ms = now_ms;
		return;
	}
	if (elapsed)
		b->stamp_ms = now_ms;
	if (check_mul_overflow((s64)bytes_per_s, (s64)elapsed, &earned) ||
	    check_add_overflow(b->level, earned, &b->level))
		b->level = size;
	b->level = min(b->level, size);
}

/**
 * pghot_bucket_take - ask to move @bytes now
 * @b: bucket, refilled
 * @bytes: size of the move
 *
 * Return: true if it may go ahead; its tokens are taken.
 */
bool pghot_bucket_take(struct pghot_bucket *b, u64 bytes)
{
	if (b->level <= 0)
		return false;
	pghot_bucket_spend(b, bytes);
	return true;
}

/**
 * pghot_bucket_spend - take tokens for what is done already
 * @b: bucket, refilled
 * @bytes: how many
 *
 * What is not there is a debt.
 */
void pghot_bucket_spend(struct pghot_bucket *b, u64 bytes)
{
	b->level -= bytes * LEVEL_PER_BYTE;
}

/**
 * pghot_bucket_return - give back the tokens of a move that did not happen
 * @b: bucket
 * @bytes: size of the move
 */
void pghot_bucket_return(struct pghot_bucket *b, u64 bytes)
{
	b->level += bytes * LEVEL_PER_BYTE;
}

/**
 * pghot_bucket_wait_ms - how long until a move is let through again
 * @b: bucket
 * @bytes_per_s: rate
 *
 * Return: milliseconds; U32_MAX if never.
 */
u32 pghot_bucket_wait_ms(const struct pghot_bucket *b, u64 bytes_per_s)
{
	if (b->level > 0)
		return 0;
	if (!bytes_per_s)
		return U32_MAX;
	return min_t(u64, div64_u64(-b->level, bytes_per_s) + 1, U32_MAX);
}

/**
 * pghot_fault_weight - how many accesses a hint fault stands for
 * @latency_ms: time from unmapping the page to the fault
 * @threshold_ms: hot threshold in force for the target
 * @ref_ms: its reference
 * @freq_threshold: accesses that make a page ready
 * @room: the target has so much free memory that any accessed page may come
 *
 * A fault that the stock kernel would promote at once makes the page ready at
 * once. A slower one is one plain access, unless the threshold was lowered
 * because there are too many candidates already: then it says nothing.
 *
 * Return: weight for pghot_account(), 0 if the fault is no evidence.
 */
u32 pghot_fault_weight(u32 latency_ms, u32 threshold_ms, u32 ref_ms,
		       u32 freq_threshold, bool room)
{
	if (room || latency_ms < threshold_ms)
		return freq_threshold;
	return threshold_ms >= ref_ms ? 1 : 0;
}

/**
 * pghot_evidence_weight - how many accesses within the window a report stands for
 * @evidence: what the source's reports are worth
 * @weight: how many accesses it reports
 * @interval_ms: time in which it counted these, or 0
 * @window_ms: the window
 * @freq_threshold: accesses within the window that make a page ready
 *
 * What was counted in more than a window counts in part, rounded down.
 *
 * Return: weight for the record, 0 if the report is no evidence.
 */
u32 pghot_evidence_weight(enum pghot_evidence evidence, u32 weight,
			  u32 interval_ms, u32 window_ms, u32 freq_threshold)
{
	if (evidence == PGHOT_PROOF && weight)
		return max(weight, freq_threshold);
	if (interval_ms > window_ms)
		return div_u64((u64)weight * window_ms, interval_ms);
	return weight;
}

/**
 * pghot_min_class - who may go when not all ready pages can
 * @hist: ready records of each class
 * @budget: how many may go
 *
 * Return: the lowest class that may go now. It may fit only in part; classes
 * below it would not fit at all.
 */
u32 pghot_min_class(const unsigned long hist[PGHOT_CLASSES],
		    unsigned long budget)
{
	unsigned long sum = 0;
	u32 class;

	for (class = PGHOT_CLASSES - 1; class > 0; class--) {
		sum += hist[class];
		if (sum >= budget)
			break;
	}
	return class;
}
