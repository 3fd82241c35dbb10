// SPDX-License-Identifier: GPL-2.0
/* What the registers of a hotness monitoring unit mean. No kernel state. */
#include <linux/array_size.h>
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mmzone.h>
#include <linux/types.h>

#include "chmu.h"

/* A coarser unit says too little of the pages in it: a huge page, at most. */
#define UNIT_SHIFT_MAX		21
/* Units of device memory have a number of 64 bits less those of a count. */
#define COUNT_BITS_MAX		32

/* By scale; 0: there is no such. */
static const u32 scale_us[] = {
	[CHMU_EPOCH_100US] = 100,
	[CHMU_EPOCH_1MS] = 1000,
	[CHMU_EPOCH_10MS] = 10000,
	[CHMU_EPOCH_100MS] = 100000,
	[CHMU_EPOCH_1S] = 1000000,
};

/*
 * From what is counted best: reads, whoever's. Caches read a line before a CPU writes to
 * it; what they write is of uses that are over, and a page that was just demoted is
 * written whole.
 */
static const u8 track_order[] = {
	CHMU_TRACK_READS, CHMU_TRACK_PLAIN_READS, CHMU_TRACK_ALL,
	CHMU_TRACK_PLAIN_ALL, CHMU_TRACK_WRITES, CHMU_TRACK_PLAIN_WRITES,
};

static u64 chmu_epoch_us(u32 scale, u32 count)
{
	return scale < ARRAY_SIZE(scale_us) ? (u64)scale_us[scale] * count : 0;
}

/**
 * chmu_parse_caps - what an instance can do
 * @cap0: its CHMU_CAP0
 * @cap1: its CHMU_CAP1
 * @caps: set to that
 *
 * Return: 0, or -EINVAL if it contradicts itself or cannot do anything.
 */
int chmu_parse_caps(u64 cap0, u64 cap1, struct chmu_caps *caps)
{
	*caps = (struct chmu_caps) {
		.vector = FIELD_GET(CHMU_CAP0_VECTOR, cap0),
		.overflow_irq = cap0 & CHMU_CAP0_OVERFLOW_IRQ,
		.fill_irq = cap0 & CHMU_CAP0_FILL_IRQ,
		.by_epoch = cap1 & CHMU_CAP1_BY_EPOCH,
		.always_on = cap1 & CHMU_CAP1_ALWAYS_ON,
		.tracks = FIELD_GET(CHMU_CAP0_TRACK, cap0),
		.units = FIELD_GET(CHMU_CAP1_UNITS, cap1),
		.samplings = FIELD_GET(CHMU_CAP1_SAMPLING, cap1),
		.entries = FIELD_GET(CHMU_CAP0_ENTRIES, cap0),
		.epoch_min_us = chmu_epoch_us(FIELD_GET(CHMU_CAP0_EPOCH_MIN_SCALE, cap0),
					      FIELD_GET(CHMU_CAP0_EPOCH_MIN_COUNT, cap0)),
		.epoch_max_us = chmu_epoch_us(FIELD_GET(CHMU_CAP0_EPOCH_MAX_SCALE, cap0),
					      FIELD_GET(CHMU_CAP0_EPOCH_MAX_COUNT, cap0)),
	};
	if (chmu_is_gone(cap0) || !caps->tracks || !caps->units ||
	    !caps->samplings || caps->entries < 2 || !caps->epoch_min_us ||
	    caps->epoch_max_us < caps->epoch_min_us ||
	    !(caps->by_epoch || caps->always_on))
		return -EINVAL;
	return 0;
}

/*
 * Pages, if it can; else the largest part of one, which says as much with more
 * entries; else the smallest unit above.
 */
static int chmu_pick_unit(u32 units)
{
	u32 page = PAGE_SHIFT - CHMU_UNIT_SHIFT;
	u32 fit = units & (BIT(page + 1) - 1);
	int shift;

	shift = CHMU_UNIT_SHIFT + ilog2(fit ?: units & -units);
	return shift > UNIT_SHIFT_MAX ? -EOPNOTSUPP : shift;
}

static u32 chmu_pick_track(u32 tracks)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(track_order) - 1; i++)
		if (tracks & BIT(track_order[i] - 1))
			break;
	return track_order[i];
}

/*
 * The finest scale in which the register has room for the epoch; its length
 * becomes what the register can say.
 */
static u64 chmu_encode_epoch(const struct chmu_caps *caps, u32 *wanted_us)
{
	const u64 most = FIELD_MAX(CHMU_CFG1_EPOCH_COUNT);
	u64 us = clamp((u64)*wanted_us, caps->epoch_min_us, caps->epoch_max_us);
	u32 scale = CHMU_EPOCH_100US;
	u64 count;

	while (scale < ARRAY_SIZE(scale_us) - 1 && us > most * scale_us[scale])
		scale++;
	count = min(div_u64(us, scale_us[scale]), most);
	if (chmu_epoch_us(scale, count) < caps->epoch_min_us)
		count = min(count + 1, most);
	*wanted_us = chmu_epoch_us(scale, count);
	return FIELD_PREP(CHMU_CFG1_EPOCH_SCALE, (u64)scale) |
	       FIELD_PREP(CHMU_CFG1_EPOCH_COUNT, count);
}

/**
 * chmu_plan - choose what an instance counts, and for how long
 * @caps: what it can do
 * @epoch_us: how long an epoch is to be; it becomes the nearest that it can be
 * @setup: set to the settings; chmu_plan_threshold() is to follow
 *
 * It interrupts at the first entry: then it has none more until software has
 * read the hotlist.
 *
 * Return: 0, or -EOPNOTSUPP if all of its units are too large.
 */
int chmu_plan(const struct chmu_caps *caps, u32 epoch_us, struct chmu_setup *setup)
{
	u32 sampling = ilog2(caps->samplings & -caps->samplings), mode;
	int unit = chmu_pick_unit(caps->units);

	if (unit < 0)
		return unit;
	mode = caps->by_epoch ? CHMU_MODE_BY_EPOCH : CHMU_MODE_ALWAYS_ON;

	setup->unit_shift = unit;
	setup->sampling_shift = sampling;
	setup->epoch_us = epoch_us;
	setup->cfg[1] = FIELD_PREP(CHMU_CFG1_UNIT, (u64)unit) |
			FIELD_PREP(CHMU_CFG1_SAMPLING, (u64)sampling) |
			FIELD_PREP(CHMU_CFG1_MODE, (u64)mode) |
			chmu_encode_epoch(caps, &setup->epoch_us);
	setup->cfg[0] = FIELD_PREP(CHMU_CFG0_TRACK, (u64)chmu_pick_track(caps->tracks));
	if (caps->overflow_irq)
		setup->cfg[0] |= CHMU_CFG0_OVERFLOW_IRQ;
	if (caps->fill_irq)
		setup->cfg[0] |= CHMU_CFG0_FILL_IRQ;
	setup->cfg[2] = FIELD_PREP(CHMU_CFG2_FILL, 1ULL);
	return 0;
}

static u64 chmu_count_max(unsigned int count_bits)
{
	return (1ULL << count_bits) - 1;
}

/**
 * chmu_plan_threshold - choose from how many requests on a unit of memory is hot
 * @setup: the other settings
 * @threshold: requests in an epoch; it becomes the nearest that can be counted
 * @count_bits: of an entry, as the instance says with the other settings
 *
 * Return: 0, or -EINVAL if entries make no sense.
 */
int chmu_plan_threshold(struct chmu_setup *setup, u32 threshold, unsigned int count_bits)
{
	if (!count_bits || count_bits > COUNT_BITS_MAX)
		return -EINVAL;
	threshold = clamp((u64)(threshold >> setup->sampling_shift), 1ULL,
			  chmu_count_max(count_bits));
	setup->cfg[0] &= ~CHMU_CFG0_THRESHOLD;
	setup->cfg[0] |= FIELD_PREP(CHMU_CFG0_THRESHOLD, (u64)threshold);
	return 0;
}

/**
 * chmu_threshold_max - the highest threshold that an instance can tell from others
 * @setup: its settings
 * @count_bits: of an entry
 *
 * Return: requests in an epoch.
 */
u32 chmu_threshold_max(const struct chmu_setup *setup, unsigned int count_bits)
{
	return min(chmu_count_max(count_bits) << setup->sampling_shift, (u64)U32_MAX);
}

/**
 * chmu_share - which ranges an instance is to count
 * @bytes: of the device's memory
 * @instances: how many there are
 * @n: which one
 * @first: set to the first bit of its bitmap
 * @end: set to the bit after the last one; @first if there is none
 *
 * Each range is counted once.
 */
void chmu_share(u64 bytes, unsigned int instances, unsigned int n, u64 *first,
		u64 *end)
{
	u64 ranges = DIV_ROUND_UP(bytes, 1ULL << CHMU_RANGE_SHIFT);
	u64 each = DIV_ROUND_UP(ranges, (u64)instances);

	*first = min(n * each, ranges);
	*end = min(*first + each, ranges);
}

/*
 * Accesses that so many requests to one unit, or to those in one page, stand for. A
 * pass over all of its lines is one, whatever the size of a unit.
 */
static u32 chmu_span_weight(u64 count, unsigned int shift, u32 max_weight)
{
	return min_t(u64, DIV_ROUND_UP(count, 1ULL << (shift - CHMU_LINE_SHIFT)),
		     max_weight);
}

/**
 * chmu_merge - which pages the entries of a hotlist are of
 * @entries: the entries; where units are parts of pages in the order of their values
 * @nr: their number
 * @count_bits: of an entry
 * @setup: what they were counted with
 * @max_weight: no page needs to weigh more
 * @spans: set to the pages; room for @nr
 *
 * Parts of one page add up. Pages that are next to each other, and listed one after the
 * other, become one span if they weigh the same.
 *
 * Return: number of spans.
 */
unsigned int chmu_merge(const u64 *entries, unsigned int nr,
			unsigned int count_bits, const struct chmu_setup *setup,
			u32 max_weight, struct chmu_span *spans)
{
	unsigned int shift = max_t(unsigned int, setup->unit_shift, PAGE_SHIFT);
	u64 per_unit = 1ULL << (shift - PAGE_SHIFT);
	unsigned int i, next, n = 0;

	for (i = 0; i < nr; i = next) {
		u64 unit = entries[i] >> count_bits >> (shift - setup->unit_shift);
		u64 count = 0, page = unit * per_unit;
		struct chmu_span *last = n ? &spans[n - 1] : NULL;
		u32 weight;

		for (next = i; next < nr; next++) {
			u64 at = entries[next] >> count_bits;

			if (at >> (shift - setup->unit_shift) != unit)
				break;
			count += entries[next] & ((1ULL << count_bits) - 1);
		}
		weight = chmu_span_weight(count << setup->sampling_shift, shift, max_weight);
		if (last && last->weight == weight &&
		    last->page + last->pages == page)
			last->pages += per_unit;
		else
			spans[n++] = (struct chmu_span) {
				.page = page, .pages = per_unit, .weight = weight,
			};
	}
	return n;
}
