/* SPDX-License-Identifier: GPL-2.0 */
/* What the core keeps of a copy engine. */
#ifndef _MM_MIGRATE_COPY_STATE_H
#define _MM_MIGRATE_COPY_STATE_H

#include <linux/completion.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/migrate_copy.h>
#include <linux/percpu-refcount.h>

#include "internal.h"

/**
 * struct migrate_copy_state - an engine, for the core
 * @list: in migrate_copy_engines
 * @engine: the engine
 * @dir: its directory in sysfs
 * @debug: its file in debugfs
 * @use: when it is used
 * @reasons: for which reasons of migration, of those that it is there for
 * @jobs: those under way, and what is planned
 * @ended: there are none any more
 * @nth: number of the latest plan
 * @copied: folios that it copied, by order
 * @failed: folios that it should have, by order
 * @busy: jobs that it had no room for
 * @lines: how long it takes
 * @took: how long it took, by size of jobs
 * @costs: what it costs the one who migrates, while nobody else wants the CPU, and while
 *	   somebody does
 */
struct migrate_copy_state {
	struct list_head list;
	struct migrate_copy_engine *engine;
	struct kobject *dir;
	struct dentry *debug;
	enum migrate_copy_use use;
	unsigned long reasons;
	struct percpu_ref jobs;
	struct completion ended;
	u32 nth;
	u64 copied[MIGRATE_COPY_ORDERS];
	u64 failed[MIGRATE_COPY_ORDERS];
	u64 busy;
	struct migrate_copy_line lines[MIGRATE_COPY_WAYS][MIGRATE_COPY_ORDERS];
	struct migrate_copy_cost took[MIGRATE_COPY_WAYS][MIGRATE_COPY_ORDERS]
				     [MIGRATE_COPY_SIZES];
	struct migrate_copy_cost costs[2][MIGRATE_COPY_WAYS][MIGRATE_COPY_ORDERS]
				     [MIGRATE_COPY_SIZES];
};

extern struct mutex migrate_copy_lock;
extern struct list_head migrate_copy_engines;
extern u32 migrate_copy_first_us;

void migrate_copy_switch(struct migrate_copy_state *state,
			 enum migrate_copy_use use);
void migrate_copy_costs(struct migrate_copy_state *state, bool contended,
			unsigned int way, unsigned int order, struct migrate_copy_line *line,
			struct migrate_copy_cost costs[MIGRATE_COPY_SIZES],
			struct migrate_copy_cost *cpu);
int migrate_copy_add_dir(struct migrate_copy_state *state);
void migrate_copy_remove_dir(struct migrate_copy_state *state);

#endif
