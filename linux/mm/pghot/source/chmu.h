/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the registers of a hotness monitoring unit mean, and which values to write.
 * No kernel state, and no access to a device.
 */
#ifndef _MM_PGHOT_CHMU_H
#define _MM_PGHOT_CHMU_H

#include <linux/types.h>

#include "chmu_regs.h"

/* Lines that a request is for. */
#define CHMU_LINE_SHIFT		6

/**
 * struct chmu_caps - what an instance can do
 * @vector: its interrupt
 * @overflow_irq: can interrupt when its hotlist overflows
 * @fill_irq: can interrupt when its hotlist has so many entries
 * @by_epoch: lists at the end of an epoch
 * @always_on: lists at once
 * @tracks: CHMU_TRACK_ values; bit 0 is 1
 * @units: log2 of sizes of units, less CHMU_UNIT_SHIFT
 * @samplings: log2 of how many requests may count as one
 * @entries: of its hotlist
 * @epoch_min_us: shortest epoch
 * @epoch_max_us: longest
 */
struct chmu_caps {
	unsigned int vector;
	bool overflow_irq;
	bool fill_irq;
	bool by_epoch;
	bool always_on;
	u32 tracks;
	u32 units;
	u32 samplings;
	u32 entries;
	u64 epoch_min_us;
	u64 epoch_max_us;
};

/**
 * struct chmu_setup - settings of an instance
 * @cfg: values of its configuration registers, without CHMU_CFG0_ENABLE
 * @unit_shift: log2 of a unit's bytes
 * @sampling_shift: log2 of how many requests count as one
 * @epoch_us: length of an epoch
 */
struct chmu_setup {
	u64 cfg[3];
	unsigned int unit_shift;
	unsigned int sampling_shift;
	u32 epoch_us;
};

/**
 * struct chmu_span - pages that were requested equally often
 * @page: the first, counted from the device's first byte
 * @pages: number of pages
 * @weight: how often each was accessed
 */
struct chmu_span {
	u64 page;
	u64 pages;
	u32 weight;
};

int chmu_parse_caps(u64 cap0, u64 cap1, struct chmu_caps *caps);
int chmu_plan(const struct chmu_caps *caps, u32 epoch_us, struct chmu_setup *setup);
int chmu_plan_threshold(struct chmu_setup *setup, u32 threshold, unsigned int count_bits);
u32 chmu_threshold_max(const struct chmu_setup *setup, unsigned int count_bits);
void chmu_share(u64 bytes, unsigned int instances, unsigned int n, u64 *first,
		u64 *end);
unsigned int chmu_merge(const u64 *entries, unsigned int nr,
			unsigned int count_bits, const struct chmu_setup *setup,
			u32 max_weight, struct chmu_span *spans);

/**
 * chmu_used - entries of a hotlist that wait to be read
 * @head: index of the first one
 * @tail: index after the last one
 * @entries: of the hotlist
 *
 * Return: their number, at most @entries, whatever the device says.
 */
static inline u32 chmu_used(u16 head, u16 tail, u32 entries)
{
	if (head >= entries || tail >= entries)
		return 0;
	return tail >= head ? tail - head : entries - head + tail;
}

/* The device is gone: nobody answers for it any more. */
static inline bool chmu_is_gone(u64 value)
{
	return value == ~0ULL;
}

#endif /* _MM_PGHOT_CHMU_H */
