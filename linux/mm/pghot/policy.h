/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What makes a page hot and how fast hot pages may move. Pure: time and counts
 * come in as arguments, nothing is read from the kernel.
 */
#ifndef _MM_PGHOT_POLICY_H
#define _MM_PGHOT_POLICY_H

#include <linux/pghot.h>
#include <linux/types.h>

#include "record.h"

/* Bounds and defaults of the tunables, read by sysfs and by the tests. */
#define PGHOT_FREQ_THRESHOLD	2
#define PGHOT_WINDOW_MS		4000
#define PGHOT_WINDOW_MS_MIN	100
#define PGHOT_WINDOW_MS_MAX	60000
#define PGHOT_BATCH_PAGES	16
#define PGHOT_BATCH_PAGES_MAX	8192
#define PGHOT_PERIOD_MS		100
#define PGHOT_PERIOD_MS_MIN	10
#define PGHOT_PERIOD_MS_MAX	10000
#define PGHOT_RATE_MBPS_MAX	(4U << 20)
#define PGHOT_HOT_MS_MIN	1
#define PGHOT_HOT_MS_MAX	60000

/* The bucket holds what a quarter of a second lets through. */
#define PGHOT_BURST_MS		250

/**
 * struct pghot_bucket - token bucket of one target node
 * @level: tokens, in thousandths of a byte; below zero is a debt
 * @stamp_ms: when @level was last brought up to date
 * @started: @stamp_ms is valid
 *
 * It counts the bytes that a thread moves, and what waits keeps its place; the
 * limit in numa_promotion.c counts the candidates that faults find, and turns
 * away all that come after it is reached, for the rest of the second.
 *
 * A move is let through while the level is above zero and its whole size is
 * taken then, so that a huge page passes however small the rate is, and later
 * moves wait for it. The caller serialises.
 */
struct pghot_bucket {
	s64 level;
	u32 stamp_ms;
	bool started;
};

void pghot_bucket_refill(struct pghot_bucket *b, u32 now_ms, u64 bytes_per_s);
bool pghot_bucket_take(struct pghot_bucket *b, u64 bytes);
void pghot_bucket_spend(struct pghot_bucket *b, u64 bytes);
void pghot_bucket_return(struct pghot_bucket *b, u64 bytes);
u32 pghot_bucket_wait_ms(const struct pghot_bucket *b, u64 bytes_per_s);

/**
 * pghot_fault_anew - did nobody access the page for a window before a hint fault
 * @latency_ms: time from unmapping the page to the fault
 * @window_ms: the window
 *
 * Only of the mapping that the fault came by; of a page with others it says
 * nothing.
 *
 * Return: true if so: then what was counted before says nothing any more.
 */
static inline bool pghot_fault_anew(u32 latency_ms, u32 window_ms)
{
	return latency_ms >= window_ms;
}

u32 pghot_fault_weight(u32 latency_ms, u32 threshold_ms, u32 ref_ms,
		       u32 freq_threshold, bool room);
u32 pghot_evidence_weight(enum pghot_evidence evidence, u32 weight,
			  u32 interval_ms, u32 window_ms, u32 freq_threshold);
u32 pghot_min_class(const unsigned long hist[PGHOT_CLASSES],
		    unsigned long budget);

#endif /* _MM_PGHOT_POLICY_H */
