/* SPDX-License-Identifier: GPL-2.0 */
/* Copying of a batch of folios that migrates: what mm/migrate.c calls, and what it is made of. */
#ifndef _MM_MIGRATE_COPY_INTERNAL_H
#define _MM_MIGRATE_COPY_INTERNAL_H

#include <linux/jump_label.h>
#include <linux/migrate_copy.h>
#include <linux/mmzone.h>

#include "choice.h"

/* What migrates by batches has no more. */
#define MIGRATE_COPY_ORDERS	NR_PAGE_ORDERS

/*
 * In migrate_info of a destination, beside an anon_vma's address and the old state of
 * the source: its contents are there.
 */
#ifdef CONFIG_MIGRATE_COPY
#define MIGRATE_COPIED	BIT(2)
#else
#define MIGRATE_COPIED	0
#endif

/**
 * struct migrate_copy - the contents of a batch, on their way
 * @reason: why it migrates
 * @srcs: folios of the batch, linked by lru; unmapped and locked
 * @src: the first of them that was not looked at
 * @dst: where that goes
 * @left: how many are from there on
 * @run: so many of these are like the first one, or more; 0: they were not counted
 * @refused: by way and order the class of the most such that nobody was to copy, plus 1
 * @now: the job that is under way, if any. Its first folio has not been moved. One without
 *	 an engine is what the CPU copies in its turn while the engine rests
 */
struct migrate_copy {
#ifdef CONFIG_MIGRATE_COPY
	enum migrate_reason reason;
	struct list_head *srcs;
	struct folio *src, *dst;
	unsigned int left, run;
	u8 refused[MIGRATE_COPY_WAYS][MIGRATE_COPY_ORDERS];
	struct migrate_copy_job *now;
#endif
};

#ifdef CONFIG_MIGRATE_COPY
/* There is an engine that is switched on. */
DECLARE_STATIC_KEY_FALSE(migrate_copy_key);

void __migrate_copy_begin(struct migrate_copy *copy, struct list_head *srcs,
			  struct list_head *dsts, enum migrate_reason reason);
void __migrate_copy_reach(struct migrate_copy *copy);
void migrate_copy_end(struct migrate_copy *copy);

/**
 * migrate_copy_begin - copy a batch, as far as an engine does it at less cost
 * @copy: set up; to be given to migrate_copy_reach() and migrate_copy_end()
 * @srcs: folios that are locked and unmapped everywhere, TLBs flushed, linked by lru
 * @dsts: where they go, in the same order. migrate_info is as migrate.c keeps it
 * @reason: why
 */
static inline void migrate_copy_begin(struct migrate_copy *copy,
				      struct list_head *srcs,
				      struct list_head *dsts,
				      enum migrate_reason reason)
{
	copy->now = NULL;
	if (static_branch_unlikely(&migrate_copy_key))
		__migrate_copy_begin(copy, srcs, dsts, reason);
}

/**
 * migrate_copy_reach - a folio is about to be moved
 * @copy: the batch
 * @src: the folio. Those of the batch are reached in their order
 *
 * Waits until it is copied, if it is being copied, and has the next ones be copied
 * while this one and those beside it are moved.
 */
static inline void migrate_copy_reach(struct migrate_copy *copy,
				      struct folio *src)
{
	if (unlikely(copy->now && copy->now->pair[0].src == src))
		__migrate_copy_reach(copy);
}

bool __migrate_copy_gains(enum migrate_reason reason, int nid, unsigned int folios);

/**
 * migrate_copy_gains - does an engine copy for less, if so many migrate together?
 * @reason: why
 * @nid: node that they are on, and stay on
 * @folios: how many, of one page each
 *
 * For whoever may choose how many that are. It is known after as many migrated before.
 *
 * Return: true if it was found to.
 */
static inline bool migrate_copy_gains(enum migrate_reason reason, int nid,
				      unsigned int folios)
{
	return static_branch_unlikely(&migrate_copy_key) &&
	       __migrate_copy_gains(reason, nid, folios);
}

/**
 * struct migrate_copy_plan - what to do with the next folios of a batch
 * @engine: who copies, with a reference; NULL: the CPU, to be compared with
 * @folios: how many, at least 1
 * @contended: others want this CPU
 * @rests: nobody copies them early: the engine was busy and is asked again later
 */
struct migrate_copy_plan {
	struct migrate_copy_engine *engine;
	unsigned int folios;
	bool contended;
	bool rests;
};

unsigned int migrate_copy_way_of(int from, int to);
bool migrate_copy_plan(struct migrate_copy_plan *plan,
		       enum migrate_reason reason, const struct folio *src,
		       const struct folio *dst, unsigned int run);
void migrate_copy_put(struct migrate_copy_engine *engine);
void migrate_copy_refused(struct migrate_copy_job *job, int err);
void migrate_copy_account(struct migrate_copy_job *job, u64 finish_ns);
void migrate_copy_account_cpu(const struct migrate_copy_job *job, u64 ns);
#else
static inline void migrate_copy_begin(struct migrate_copy *copy,
				      struct list_head *srcs,
				      struct list_head *dsts,
				      enum migrate_reason reason)
{
}

static inline void migrate_copy_reach(struct migrate_copy *copy,
				      struct folio *src)
{
}

static inline void migrate_copy_end(struct migrate_copy *copy)
{
}

static inline bool migrate_copy_gains(enum migrate_reason reason, int nid,
				      unsigned int folios)
{
	return false;
}
#endif

#endif
