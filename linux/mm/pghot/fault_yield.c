// SPDX-License-Identifier: GPL-2.0
/*
 * Whether hint faults tell of what is hot, by area of memory.
 *
 * A page that is used now and then costs a fault with each scan, for as long as it is
 * used, and is never hot: what is scanned for is not there. So where faults tell
 * nothing fewer pages are unmapped, others in each window, which is enough to see when
 * they do again.
 *
 * A page is scanned at any time between two of its uses. Of the faults that come within
 * four hot thresholds, which is the window as shipped, one in 4 comes within one if the
 * page is used once in these four or more rarely, half of them if it is used once in two,
 * and all if it is used once in one. A sequential test (Wald 1945) tells one in 4 from
 * one in 2: a fault that comes so soon speaks as loud as ln 2 / ln (3/2), some 2, that do
 * not. What comes later than all that says nothing: it may be the first use for long, and
 * the next ones follow at once. First uses that come sooner after a scan are not told from
 * others. But when a program begins to use an area they all come at once, where those of
 * an area that is used now and then are spread over seconds: so of those that come in a
 * 128th of the threshold one counts. And what is hot then is found by other sources as
 * well: what a hotness unit lists speaks as loud. Page tables and samples say nothing here:
 * what they find needs no fault to be found.
 *
 * Of an area where no fault has told yet, what faults told of all areas is the best guess:
 * a scan of much memory that is cold costs few faults then, once it is known. An area
 * counts for that once in a 16th of a threshold, and twice then: whoever goes through
 * memory in turn meets all of what was scanned together soon or late, by chance.
 */
#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "fault_yield.h"

#define LATE_SHIFT	2
#define OFTEN_STEP	2U
/* Of a threshold in milliseconds, so many nanoseconds are a 128th, or nearly so. */
#define SLOT_NS_SHIFT	13
/* A 16th of a threshold. */
#define ALL_SLOTS_SHIFT	3
/* From the first on in steps, each of which halves. */
#define FUTILE_FIRST	64U
#define FUTILE_SHIFT	4
/* What is left of a guess with the first that tells of something hot: half are unmapped. */
#define FUTILE_GUESS	(FUTILE_FIRST + OFTEN_STEP)
#define FUTILE_MAX	(FUTILE_FIRST + (PGHOT_YIELD_HELD_MAX << FUTILE_SHIFT) - 1)

struct pghot_fault_yield pghot_fault_yield;

/**
 * pghot_fault_says - what a hint fault says of how often its page is used
 * @latency_ms: time from unmapping the page to the fault
 * @ref_ms: the hot threshold
 *
 * Return: what it says.
 */
enum pghot_fault_says pghot_fault_says(u32 latency_ms, u32 ref_ms)
{
	if (latency_ms < ref_ms)
		return PGHOT_FAULT_OFTEN;
	return latency_ms >> LATE_SHIFT < ref_ms ? PGHOT_FAULT_SELDOM :
						   PGHOT_FAULT_NOTHING;
}

/**
 * pghot_fault_slot - the time, in which one fault counts for an area
 * @now_ns: the time
 * @ref_ms: the hot threshold
 *
 * Return: a number that comes again after 512 thresholds.
 */
u16 pghot_fault_slot(u64 now_ns, u32 ref_ms)
{
	return div64_u64(now_ns, (u64)max(ref_ms, 1U) << SLOT_NS_SHIFT);
}

static unsigned long yield_area_of(unsigned long pfn)
{
	return (pfn >> PGHOT_YIELD_ORDER) % PGHOT_YIELD_AREAS;
}

static u32 yield_level(u32 futile)
{
	if (likely(futile < FUTILE_FIRST))
		return 0;
	return ((futile - FUTILE_FIRST) >> FUTILE_SHIFT) + 1;
}

/* What was told of an area, or else of all. */
static u32 yield_futile(const struct pghot_fault_yield *y, unsigned long area)
{
	u32 told = READ_ONCE(y->futile[area]);

	return told ? told - 1 : READ_ONCE(y->all);
}

static u32 yield_next(u32 futile, enum pghot_fault_says says)
{
	if (says == PGHOT_FAULT_OFTEN)
		return futile - min(futile, OFTEN_STEP);
	return min(futile + 1, FUTILE_MAX);
}

static void yield_tell(struct pghot_fault_yield *y, unsigned long area,
		       enum pghot_fault_says says)
{
	u32 was = yield_futile(y, area);

	if (says == PGHOT_FAULT_OFTEN && !READ_ONCE(y->futile[area]))
		was = min(was, FUTILE_GUESS);
	WRITE_ONCE(y->futile[area], yield_next(was, says) + 1);
}

/**
 * pghot_yield_held - how many pages are to be unmapped near one
 * @y: what faults told
 * @pfn: the page
 *
 * Context: any.
 *
 * Return: by which power of two fewer, at most %PGHOT_YIELD_HELD_MAX.
 */
u32 pghot_yield_held(const struct pghot_fault_yield *y, unsigned long pfn)
{
	return yield_level(yield_futile(y, yield_area_of(pfn)));
}

/**
 * pghot_yield_found - another source found a page hot
 * @y: what faults told
 * @pfn: the page
 *
 * Context: any.
 */
void pghot_yield_found(struct pghot_fault_yield *y, unsigned long pfn)
{
	unsigned long area = yield_area_of(pfn);

	if (yield_futile(y, area))
		yield_tell(y, area, PGHOT_FAULT_OFTEN);
}

/**
 * pghot_yield_fault - there was a hint fault
 * @y: what faults told
 * @pfn: the page
 * @says: by pghot_fault_says(), or %PGHOT_FAULT_OFTEN if it is known by other means
 * @slot: by pghot_fault_slot()
 *
 * Context: any.
 */
void pghot_yield_fault(struct pghot_fault_yield *y, unsigned long pfn,
		       enum pghot_fault_says says, u16 slot)
{
	unsigned long area = yield_area_of(pfn);
	u16 last = READ_ONCE(y->slot[area]);
	u32 all;

	if (says == PGHOT_FAULT_NOTHING || last == slot)
		return;
	WRITE_ONCE(y->slot[area], slot);
	yield_tell(y, area, says);
	if ((last ^ slot) < BIT(ALL_SLOTS_SHIFT) || READ_ONCE(y->all_slot) == slot)
		return;
	WRITE_ONCE(y->all_slot, slot);
	all = yield_next(READ_ONCE(y->all), says);
	WRITE_ONCE(y->all, yield_next(all, says));
}
