/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the source of hardware samples share. */
#ifndef _MM_PGHOT_SOURCE_HW_SAMPLE_H
#define _MM_PGHOT_SOURCE_HW_SAMPLE_H

#include <linux/perf_event.h>
#include <linux/types.h>

#include "../internal.h"

struct pghot_sample_round;
struct pghot_source;
struct task_struct;

/**
 * struct hw_sample_kind - a counter that samples addresses
 * @name: of its PMU, as in /sys/bus/event_source/devices/
 * @type: what perf knows that by; 0: it is to be found by @name
 * @config, @config1, @config2: as in struct perf_event_attr
 * @precise_ip: likewise
 * @exclude_guest: likewise; some refuse it, and others keep virtual machines from
 *		   starting without it
 * @phys_addr: it says where the access went, unless that is not valid
 * @from_memory: all that it samples comes from memory, though it does not say so
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
	bool phys_addr;
	bool from_memory;
	u32 min;
	u32 max;
};

/* hw_sample_kind.c */
const struct hw_sample_kind *hw_sample_find(void);
struct perf_event *hw_sample_open(const struct hw_sample_kind *kind, int cpu,
				  u32 period, perf_overflow_handler_t handler,
				  void *context);
bool hw_sample_from_memory(const struct hw_sample_kind *kind,
			   const struct perf_sample_data *data);

/**
 * struct hw_sample_rules - what all counters go by
 * @period: one in so many is sampled
 * @burst_ns: what a CPU may spend between two looks
 * @room: what free memory there was at the last one
 */
struct hw_sample_rules {
	u32 period;
	u64 burst_ns;
	struct pghot_room room;
};

/* hw_sample_cpu.c */
extern struct hw_sample_rules hw_sample_rules;
int hw_sample_cpu_open(int cpu, const struct hw_sample_kind *kind,
		       struct pghot_source *source, bool on);
void hw_sample_cpu_close(int cpu);
bool hw_sample_is_use(struct task_struct *task);
void hw_sample_switch(bool on);
bool hw_sample_is_shared(void);
void hw_sample_set_period(u32 period);
void hw_sample_sum_up(struct pghot_sample_round *r);
void hw_sample_forget(void);
unsigned long hw_sample_totals(u64 *spent_ns);

/* hw_sample_near.c */
extern u32 hw_sample_look_permille;
int hw_sample_near_start(struct pghot_source *source);
void hw_sample_near_stop(void);
void hw_sample_near_add(unsigned long addr, int nid);
void hw_sample_near_wake(void);
void hw_sample_near_changed(void);
unsigned long hw_sample_near_totals(unsigned long *cpu_usec);

#endif /* _MM_PGHOT_SOURCE_HW_SAMPLE_H */
