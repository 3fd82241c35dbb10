/* SPDX-License-Identifier: GPL-2.0 */
/* A hotness monitoring unit that pghot runs. */
#ifndef _MM_PGHOT_HOTNESS_UNIT_H
#define _MM_PGHOT_HOTNESS_UNIT_H

#include <linux/atomic.h>
#include <linux/hotness_unit.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "chmu_instance.h"
#include "chmu_pace.h"
#include "once.h"

struct pghot_source;

/* Entries that are read at once. */
#define HOTNESS_UNIT_CHUNK	256U

#define HOTNESS_UNIT_EPOCH_MS		20U
#define HOTNESS_UNIT_EPOCH_MS_MIN	1U
#define HOTNESS_UNIT_EPOCH_MS_MAX	10000U

/**
 * struct hotness_unit - a unit at work
 * @source: which source it reports for
 * @info: what its driver says of it
 * @list: links all units
 * @work: reads it; disabled while it does not run
 * @resting: reading has cost enough for now: interrupts change nothing
 * @stale: it rested for longer than an epoch: what waits is of no time that is known
 * @nid: node whose pages it reported last, or NUMA_NO_NODE
 * @pace: settings that follow what becomes of reports
 * @budget: time that reading may take
 * @stepped_ns: when the settings were last looked at
 * @tried_ns: when instances were last started
 * @failed: one of them did not
 * @listed: entries since then
 * @overflow: there were more
 * @once: what was reported of this epoch
 * @entries: a chunk of a hotlist
 * @spans: the same, as pages
 * @irqs: interrupt of each instance, 0 if it has none
 * @nr: number of instances
 * @instance: each of them
 */
struct hotness_unit {
	struct pghot_source *source;
	struct hotness_unit_info info;
	struct list_head list;
	struct delayed_work work;
	bool resting;
	bool stale;
	int nid;
	struct chmu_pace pace;
	struct chmu_budget budget;
	u64 stepped_ns;
	u64 tried_ns;
	bool failed;
	u32 listed;
	bool overflow;
	struct pghot_once once;
	u64 entries[HOTNESS_UNIT_CHUNK];
	struct chmu_span spans[HOTNESS_UNIT_CHUNK];
	int *irqs;
	unsigned int nr;
	struct chmu_instance instance[] __counted_by(nr);
};

/* hotness_unit_read.c */
extern struct workqueue_struct *hotness_unit_wq;
extern atomic_long_t hotness_unit_overflows;
extern u32 hotness_unit_epoch_ms;
void hotness_unit_init(struct hotness_unit *unit);
void hotness_unit_run(struct hotness_unit *unit);
void hotness_unit_halt(struct hotness_unit *unit);
void hotness_unit_wake(struct hotness_unit *unit);
irqreturn_t hotness_unit_irq(int irq, void *data);

#endif /* _MM_PGHOT_HOTNESS_UNIT_H */
