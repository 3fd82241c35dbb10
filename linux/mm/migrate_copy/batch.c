// SPDX-License-Identifier: GPL-2.0
/*
 * The contents of a batch of folios that migrates. mm/migrate.c unmaps a batch, and moves
 * its folios one by one: each is copied by the CPU then. Here an engine copies some of
 * them before, a few at a time, and the next ones while the CPU moves these.
 *
 * What an engine did not copy, for whatever reason, migrate.c copies as ever.
 */
#include <linux/buffer_head.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/memremap.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/cputime.h>
#include <linux/slab.h>
#include <linux/swap.h>

#include "../internal.h"
#include "internal.h"

/*
 * Does this address space's own function do nothing but what is done for folios without
 * one, where a folio has no private data? Pages of block devices are left out: file
 * systems get at their own with a reference alone, and write to them without their lock.
 */
static bool copy_is_plain(const struct address_space *mapping)
{
	typeof(mapping->a_ops->migrate_folio) own = mapping->a_ops->migrate_folio;
	bool plain = own == filemap_migrate_folio;

	/* Swap has no host. */
	if (own == migrate_folio)
		return true;
#ifdef CONFIG_BUFFER_HEAD
	plain |= own == buffer_migrate_folio;
#endif
	return plain && !S_ISBLK(mapping->host->i_mode);
}

/*
 * May the contents be copied before it is this folio's turn? It is locked and nobody maps
 * it. Without private data and without references that are not accounted for nobody
 * writes to it until it is unlocked; whoever finds it by its mapping later locks it to
 * write. One who holds a reference when it is its turn makes that the folio is not
 * moved now, as in move_to_new_folio(), and the copy is forgotten.
 */
static bool copy_may_be_early(struct folio *src)
{
	struct address_space *mapping;

	if (folio_test_hugetlb(src) || page_has_movable_ops(&src->page) ||
	    folio_is_zone_device(src) || folio_test_private(src) ||
	    folio_test_writeback(src) || folio_contain_hwpoisoned_page(src))
		return false;
	if (folio_ref_count(src) != folio_expected_ref_count(src) + 1)
		return false;
	mapping = folio_mapping(src);
	if (!mapping)
		return folio_test_anon(src);
	return !mapping_inaccessible(mapping) && copy_is_plain(mapping);
}

/* Go on by a folio. */
static void copy_step(struct migrate_copy *copy)
{
	copy->left--;
	if (copy->run)
		copy->run--;
	if (list_is_last(&copy->src->lru, copy->srcs)) {
		copy->src = NULL;
		return;
	}
	copy->src = list_next_entry(copy->src, lru);
	copy->dst = list_next_entry(copy->dst, lru);
}

/* Can both be copied by one job? */
static bool copy_is_like(const struct folio *src, const struct folio *dst,
			 const struct folio *src2, const struct folio *dst2)
{
	return folio_order(src) == folio_order(src2) &&
	       folio_nid(src) == folio_nid(src2) &&
	       folio_nid(dst) == folio_nid(dst2);
}

/* How many from here on are like the first one: a job has no others, nor more of them. */
static unsigned int copy_run(const struct migrate_copy *copy)
{
	unsigned int most = min(copy->left, MIGRATE_COPY_FOLIOS_MAX), nr = 1;
	struct folio *src = copy->src, *dst = copy->dst;

	for (; nr < most; nr++) {
		src = list_next_entry(src, lru);
		dst = list_next_entry(dst, lru);
		if (!copy_is_like(copy->src, copy->dst, src, dst))
			break;
	}
	return nr;
}

/* The next folio that is to be copied early, and a plan for those from there on. */
static bool copy_seek(struct migrate_copy *copy, struct migrate_copy_plan *plan)
{
	for (; copy->src; copy_step(copy)) {
		unsigned int order = folio_order(copy->src), size;
		u8 *refused;

		if (order >= MIGRATE_COPY_ORDERS)
			continue;
		if (!copy->run)
			copy->run = copy_run(copy);
		size = migrate_copy_size(copy->run);
		refused = &copy->refused[migrate_copy_way_of(folio_nid(copy->src),
							     folio_nid(copy->dst))][order];
		/* What as many were not worth, fewer are not either. */
		if (size < *refused || !copy_may_be_early(copy->src))
			continue;
		/* To wait for an engine that rests is of no use where all of them are one job. */
		if (migrate_copy_plan(plan, copy->reason, copy->src, copy->dst,
				      copy->run) &&
		    !(plan->rests && plan->folios >= copy->run))
			return true;
		*refused = size + 1;
	}
	return false;
}

/* Those from here on that are like the first one, as many as the plan says. */
static struct migrate_copy_job *copy_gather(struct migrate_copy *copy,
					    const struct migrate_copy_plan *plan)
{
	struct migrate_copy_job *job;
	unsigned int nr = 0;

	job = kmalloc_flex(*job, pair, plan->folios, MIGRATE_COPY_GFP);
	if (!job)
		return NULL;
	memset(job, 0, offsetof(struct migrate_copy_job, pair));
	job->engine = plan->engine;
	job->contended = plan->contended;
	job->order = folio_order(copy->src);
	job->from = folio_nid(copy->src);
	job->to = folio_nid(copy->dst);
	job->planned = plan->folios;
	job->nr = plan->folios;
	for (; nr < plan->folios && copy->src; copy_step(copy)) {
		struct folio *src = copy->src;

		if (nr && !copy_is_like(job->pair[0].src, job->pair[0].dst, src,
					copy->dst))
			break;
		/* The first one is known to be. */
		if (nr && !copy_may_be_early(src))
			continue;
		job->pair[nr].src = src;
		job->pair[nr++].dst = copy->dst;
	}
	job->nr = nr;
	return job;
}

static void copy_mark(struct migrate_copy_job *job)
{
	unsigned int i;

	for_each_set_bit(i, job->copied, job->nr)
		job->pair[i].dst->migrate_info |= MIGRATE_COPIED;
}

/* What others do on this CPU meanwhile is no cost of copying. */
static void copy_by_cpu(struct migrate_copy_job *job)
{
	u64 began = task_sched_runtime(current);
	unsigned int i;

	for (i = 0; i < job->nr; i++)
		if (!folio_mc_copy(job->pair[i].dst, job->pair[i].src))
			__set_bit(i, job->copied);
	migrate_copy_account_cpu(job, task_sched_runtime(current) - began);
	copy_mark(job);
}

/*
 * The time that copying takes from whoever migrates: all of it, or where others want this
 * CPU and have it while an engine copies, what is spent on it.
 */
static u64 copy_clock(const struct migrate_copy_job *job)
{
	return job->contended ? task_sched_runtime(current) : ktime_get_ns();
}

/* Have the next folios be copied. NULL: the CPU copies what is left. */
static struct migrate_copy_job *copy_start(struct migrate_copy *copy)
{
	struct migrate_copy_plan plan;
	struct migrate_copy_job *job;
	u64 began;
	int err;

	while (copy->src && copy_seek(copy, &plan)) {
		job = copy_gather(copy, &plan);
		if (!job) {
			if (plan.engine)
				migrate_copy_put(plan.engine);
			break;
		}
		/* The engine is asked again when the CPU gets there: just now it is still busy. */
		if (plan.rests)
			return job;
		if (!job->engine) {
			copy_by_cpu(job);
			kfree(job);
			continue;
		}
		job->started_ns = ktime_get_ns();
		began = copy_clock(job);
		err = job->engine->ops->start(job->engine, job);
		job->start_ns = copy_clock(job) - began;
		if (!err)
			return job;
		migrate_copy_refused(job, err);
		kfree(job);
	}
	copy->src = NULL;
	return NULL;
}

static void copy_finish(struct migrate_copy_job *job)
{
	u64 began;

	if (job->engine) {
		began = copy_clock(job);
		job->engine->ops->finish(job->engine, job);
		migrate_copy_account(job, copy_clock(job) - began);
		copy_mark(job);
	}
	kfree(job);
}

/* See migrate_copy_begin(). */
void __migrate_copy_begin(struct migrate_copy *copy, struct list_head *srcs,
			  struct list_head *dsts, enum migrate_reason reason)
{
	/* A page that is known to be bad is read by nobody but who expects that. */
	if (list_empty(srcs) || reason == MR_MEMORY_FAILURE)
		return;
	copy->reason = reason;
	copy->srcs = srcs;
	copy->src = list_first_entry(srcs, struct folio, lru);
	copy->dst = list_first_entry(dsts, struct folio, lru);
	copy->left = list_count_nodes(srcs);
	copy->run = 0;
	memset(copy->refused, 0, sizeof(copy->refused));
	copy->now = copy_start(copy);
}

/* See migrate_copy_reach(). */
void __migrate_copy_reach(struct migrate_copy *copy)
{
	struct migrate_copy_job *job = copy->now;

	copy->now = copy_start(copy);
	copy_finish(job);
}

/**
 * migrate_copy_end - nothing of a batch is to be copied any more
 * @copy: the batch
 *
 * Must be called before its folios are unlocked without having been moved.
 */
void migrate_copy_end(struct migrate_copy *copy)
{
	if (copy->now)
		copy_finish(copy->now);
	copy->now = NULL;
}
