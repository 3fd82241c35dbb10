/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is reported several times of the same interval, and is to count once. No kernel
 * state.
 */
#ifndef _MM_PGHOT_SOURCE_ONCE_H
#define _MM_PGHOT_SOURCE_ONCE_H

#include <linux/hash.h>
#include <linux/types.h>

/* Two that share a slot, and take turns, count more than once. */
#define PGHOT_ONCE_BITS		13U

/**
 * struct pghot_once - folios that were reported of late
 * @slot: by a hash of the PFN
 */
struct pghot_once {
	struct pghot_reported {
		unsigned long pfn;
		u32 since_ms;
		u32 weight;
	} slot[1U << PGHOT_ONCE_BITS];
};

/**
 * pghot_once_more - how much of a report has not been counted yet
 * @o: what was reported
 * @pfn: first page of the folio, which is not 0
 * @weight: what is reported of it
 * @now_ms: the time; may wrap
 * @interval_ms: for so long it is of the same interval
 *
 * Return: what @weight is more than those before; 0 if it is not.
 */
static inline u32 pghot_once_more(struct pghot_once *o, unsigned long pfn, u32 weight,
				  u32 now_ms, u32 interval_ms)
{
	struct pghot_reported *r = &o->slot[hash_long(pfn, PGHOT_ONCE_BITS)];
	u32 was = r->weight;

	if (r->pfn != pfn || now_ms - r->since_ms >= interval_ms) {
		*r = (struct pghot_reported) {
			.pfn = pfn, .since_ms = now_ms, .weight = weight,
		};
		return weight;
	}
	if (weight <= was)
		return 0;
	r->weight = weight;
	return weight - was;
}

#endif /* _MM_PGHOT_SOURCE_ONCE_H */
