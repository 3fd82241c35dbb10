/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copy engines for page migration: what copies many folios at once, and maybe while
 * the CPU does something else.
 *
 * An engine registers itself and is used for what it copies at less cost than the CPU.
 * See Documentation/mm/migrate_copy.rst.
 */
#ifndef _LINUX_MIGRATE_COPY_H
#define _LINUX_MIGRATE_COPY_H

#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/gfp.h>
#include <linux/migrate_mode.h>
#include <linux/mm_types.h>
#include <linux/types.h>

/* A job has at most so many folios. */
#define MIGRATE_COPY_FOLIOS_MAX	256

/* How an engine allocates: who migrates may do so to free memory. */
#define MIGRATE_COPY_GFP	(GFP_NOWAIT | __GFP_NOMEMALLOC)

/* An engine that serves whoever migrates, for whatever reason. */
#define MIGRATE_COPY_ANY	GENMASK(MR_NEVER - 1, 0)

struct migrate_copy_engine;
struct migrate_copy_state;

/**
 * enum migrate_copy_use - when an engine is used
 * @MIGRATE_COPY_OFF: not at all
 * @MIGRATE_COPY_ON: where it costs less than the CPU
 * @MIGRATE_COPY_ALWAYS: for all that it takes
 */
enum migrate_copy_use {
	MIGRATE_COPY_OFF,
	MIGRATE_COPY_ON,
	MIGRATE_COPY_ALWAYS,
};

/**
 * struct migrate_copy_pair - a folio, and where its contents go
 * @dst: locked; nobody else knows it
 * @src: locked and unmapped
 */
struct migrate_copy_pair {
	struct folio *dst;
	struct folio *src;
};

/**
 * struct migrate_copy_job - folios to copy
 * @private: the engine's, from its start() to its finish()
 * @engine: who copies
 * @from: node they are on
 * @to: node they go to
 * @order: of each of them
 * @nr: how many
 * @planned: how many were to be, the core's
 * @contended: others want the CPU of whoever migrates
 * @started_ns: when start() was called, by ktime_get_ns()
 * @start_ns: what that cost
 * @done_ns: when the last byte was there, set by an engine that knows; else 0, and the
 *	     time of its finish() is taken
 * @copied: a bit for each folio that is there as a whole, set by the engine until
 *	    finish() returns. What has none is copied by the CPU
 * @pair: the folios
 */
struct migrate_copy_job {
	void *private;
	struct migrate_copy_engine *engine;
	int from, to;
	unsigned int order, nr, planned;
	bool contended;
	u64 started_ns, start_ns, done_ns;
	DECLARE_BITMAP(copied, MIGRATE_COPY_FOLIOS_MAX);
	struct migrate_copy_pair pair[] __counted_by(nr);
};

/**
 * struct migrate_copy_ops - what an engine does
 * @start: begin to copy a job and do not wait for it. -EBUSY: all that could copy it
 *	   is in use, and the CPU does. Any other error is counted as a failure. Allocate
 *	   with MIGRATE_COPY_GFP
 * @finish: wait until nothing of the job is written any more, whether it succeeded or
 *	    not. Called once for each start() that returned 0, by the same task, which
 *	    may have started one more job in between. An engine whose device does not end
 *	    takes a reference on each folio, copied none, and puts them when it has ended
 *
 * Both may sleep. Several tasks call them at the same time, with up to a batch of folios
 * locked, also to free memory: what finish() waits for must get on without memory, without
 * a lock of a folio, and soon. Where more belongs to the contents of a page than its bytes
 * (tags of arm64, shadow of KMSAN) an engine copies that too, or is not built.
 */
struct migrate_copy_ops {
	int (*start)(struct migrate_copy_engine *engine,
		     struct migrate_copy_job *job);
	void (*finish)(struct migrate_copy_engine *engine,
		       struct migrate_copy_job *job);
};

/**
 * struct migrate_copy_engine - an engine
 * @name: of its directory in sysfs
 * @ops: what it does
 * @reasons: for which reasons of migration it is there, a bit for each
 * @min_order: smallest folio that it takes
 * @max_order: largest
 * @use: when it is used at first, and from when it goes on as it was used then
 * @kept: for which of @reasons it was used when it went, for all if none; the core's
 * @state: the core's
 */
struct migrate_copy_engine {
	const char *name;
	const struct migrate_copy_ops *ops;
	unsigned long reasons;
	unsigned int min_order, max_order;
	enum migrate_copy_use use;
	unsigned long kept;
	struct migrate_copy_state *state;
};

int migrate_copy_register(struct migrate_copy_engine *engine);
void migrate_copy_unregister(struct migrate_copy_engine *engine);

#endif
