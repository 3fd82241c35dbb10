/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the source of hardware samples share. */
#ifndef _MM_PGHOT_SOURCE_HW_SAMPLE_H
#define _MM_PGHOT_SOURCE_HW_SAMPLE_H

#include <linux/perf_event.h>
#include <linux/types.h>

/**
 * struct hw_sample_kind - a counter that samples addresses
 * @name: of its PMU, as in /sys/bus/event_source/devices/
 * @type: what perf knows that by; 0: it is to be found by @name
 * @config, @config1, @config2: as in struct perf_event_attr
 * @precise_ip: likewise
 * @exclude_guest: likewise; some refuse it, and others keep virtual machines from
 *		   starting without it
 * @min, @max: bounds of the period
 */
struct hw_sample_kind {
	const char *name;
	u32 type;
	u64 config;
	u64 config1;
	u64 config2;
	u8 precise_ip;
	bool exclude_guest;
	u32 min;
	u32 max;
};

/* hw_sample_kind.c */
const struct hw_sample_kind *hw_sample_find(void);
struct perf_event *hw_sample_open(const struct hw_sample_kind *kind, int cpu,
				  u32 period, perf_overflow_handler_t handler);
bool hw_sample_from_memory(const struct perf_sample_data *data);

#endif /* _MM_PGHOT_SOURCE_HW_SAMPLE_H */
