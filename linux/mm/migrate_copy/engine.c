// SPDX-License-Identifier: GPL-2.0
/*
 * Copy engines: who there is, what each costs, and which is to copy.
 *
 * An engine may go while jobs of it are under way: it is not found any more, and
 * unregistering waits for these.
 */
#define pr_fmt(fmt) "migrate_copy: " fmt

#include <linux/completion.h>
#include <linux/export.h>
#include <linux/kobject.h>
#include <linux/ktime.h>
#include <linux/memory-tiers.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu-refcount.h>
#include <linux/rculist.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>

#include "internal.h"
#include "state.h"

DEFINE_STATIC_KEY_FALSE(migrate_copy_key);

/* Serialises coming, going and switching. */
DEFINE_MUTEX(migrate_copy_lock);
LIST_HEAD(migrate_copy_engines);

/*
 * For how long the first folio of a job may be kept waiting for the others, in us. That
 * is what the CPU takes to copy and move some fifty pages.
 */
u32 migrate_copy_first_us = 100;

/* Guards all that is learned and counted. Nothing is done under it but that. */
static DEFINE_SPINLOCK(costs_lock);
/* What the CPU takes to copy. */
static struct migrate_copy_cost cpu_costs[MIGRATE_COPY_WAYS][MIGRATE_COPY_ORDERS];

/**
 * migrate_copy_way_of - the class of a job by its nodes
 * @from: where its folios are
 * @to: where they go
 *
 * Return: as migrate_copy_way().
 */
unsigned int migrate_copy_way_of(int from, int to)
{
	return migrate_copy_way(from == to, node_is_toptier(from),
				node_is_toptier(to));
}

static bool takes(const struct migrate_copy_state *state,
		  enum migrate_reason reason, unsigned int order)
{
	const struct migrate_copy_engine *engine = state->engine;

	return READ_ONCE(state->use) && (READ_ONCE(state->reasons) & BIT(reason)) &&
	       order >= engine->min_order && order <= engine->max_order;
}

static u64 kib_of(unsigned int folios, unsigned int order)
{
	return (u64)folios << (PAGE_SHIFT - 10 + order);
}

/* How much of it at a time. */
static unsigned int chunk_of(struct migrate_copy_state *state, unsigned int way,
			     unsigned int order, unsigned int run)
{
	u64 kib = migrate_copy_chunk(&state->lines[way][order],
				     READ_ONCE(migrate_copy_first_us) * NSEC_PER_USEC,
				     ++state->nth);
	u64 folios = div64_u64(kib, kib_of(1, order));

	return clamp(folios, 1, min(run, MIGRATE_COPY_FOLIOS_MAX));
}

/*
 * The engine for the next folios, and how many of them. One that has to be known yet goes
 * before all others. Where there is none but one that rests, as many are left to the CPU.
 */
static struct migrate_copy_state *choose(struct migrate_copy_plan *plan,
					 enum migrate_reason reason,
					 unsigned int way, unsigned int order,
					 unsigned int run)
{
	struct migrate_copy_cost *cpu = &cpu_costs[way][order];
	struct migrate_copy_state *state, *best = NULL;
	struct migrate_copy_choice choice = { };

	list_for_each_entry_rcu(state, &migrate_copy_engines, list) {
		enum migrate_copy_verdict verdict = MIGRATE_COPY_BY_ENGINE;
		struct migrate_copy_cost *cost;
		unsigned int folios, size;

		if (!takes(state, reason, order))
			continue;
		folios = chunk_of(state, way, order, run);
		size = migrate_copy_size(folios);
		cost = &state->costs[plan->contended][way][order][size];
		if (READ_ONCE(state->use) != MIGRATE_COPY_ALWAYS)
			verdict = migrate_copy_judge(cost, &state->took[way][order][size],
						     cpu);
		if (migrate_copy_prefer(&choice, cost, verdict)) {
			best = state;
			plan->folios = folios;
		}
		if (choice.verdict == MIGRATE_COPY_TO_LEARN)
			return best;
	}
	/* Who rests has not lost: who won last stays. */
	plan->rests = choice.verdict == MIGRATE_COPY_RESTS;
	if (plan->rests)
		return NULL;
	/* That decides how often jobs of a size for comparison are compared: no others say it. */
	if (kib_of(run, order) >= MIGRATE_COPY_CHUNK)
		cpu->winner = best ? choice.cost->cost : 0;
	return best;
}

/* Is there an engine that has to be compared with the CPU? */
static bool is_compared(enum migrate_reason reason, unsigned int order)
{
	struct migrate_copy_state *state;
	bool found = false;

	list_for_each_entry_rcu(state, &migrate_copy_engines, list) {
		if (!takes(state, reason, order))
			continue;
		if (READ_ONCE(state->use) == MIGRATE_COPY_ALWAYS)
			return false;
		found = true;
	}
	return found;
}

/**
 * migrate_copy_plan - who copies the next folios of a batch
 * @plan: filled in
 * @reason: why they migrate
 * @src: the first of them
 * @dst: where that goes
 * @run: how many there are one after the other that are like these, at least 1: what comes
 *	 behind them is copied by another job
 *
 * The least dear engine does, if it is less dear than the CPU. One that is not known is
 * tried, and the CPU's own cost is measured now and then, with as much as tells.
 *
 * Return: true if they are to be copied early, or left to the CPU while the engine rests;
 * false: no more of this kind are worth asking for. Whoever takes the plan puts its engine.
 */
bool migrate_copy_plan(struct migrate_copy_plan *plan,
		       enum migrate_reason reason, const struct folio *src,
		       const struct folio *dst, unsigned int run)
{
	unsigned int way = migrate_copy_way_of(folio_nid(src), folio_nid(dst));
	unsigned int order = folio_order(src);
	struct migrate_copy_state *best = NULL;
	bool sample = false;

	if (order >= MIGRATE_COPY_ORDERS)
		return false;
	plan->engine = NULL;
	plan->rests = false;
	plan->contended = cpu_is_contended();
	rcu_read_lock();
	spin_lock(&costs_lock);
	if (kib_of(run, order) >= MIGRATE_COPY_CHUNK && is_compared(reason, order))
		sample = migrate_copy_cpu_due(&cpu_costs[way][order]);
	if (!sample)
		best = choose(plan, reason, way, order, run);
	spin_unlock(&costs_lock);
	if (sample)
		plan->folios = max(MIGRATE_COPY_CHUNK / kib_of(1, order), 1);
	else if (best && percpu_ref_tryget_live(&best->jobs))
		plan->engine = best->engine;
	rcu_read_unlock();
	return sample || plan->rests || plan->engine;
}

/* See migrate_copy_gains(). */
bool __migrate_copy_gains(enum migrate_reason reason, int nid, unsigned int folios)
{
	unsigned int way = migrate_copy_way_of(nid, nid);
	unsigned int size = migrate_copy_size(folios);
	bool contended = cpu_is_contended(), gains = false;
	struct migrate_copy_state *state;

	rcu_read_lock();
	spin_lock(&costs_lock);
	list_for_each_entry_rcu(state, &migrate_copy_engines, list) {
		gains = takes(state, reason, 0) &&
			(READ_ONCE(state->use) == MIGRATE_COPY_ALWAYS ||
			 migrate_copy_wins(&state->costs[contended][way][0][size],
					   &state->took[way][0][size],
					   &cpu_costs[way][0]));
		if (gains)
			break;
	}
	spin_unlock(&costs_lock);
	rcu_read_unlock();
	return gains;
}

/**
 * migrate_copy_put - an engine is not to do what was planned
 * @engine: the engine
 */
void migrate_copy_put(struct migrate_copy_engine *engine)
{
	percpu_ref_put(&engine->state->jobs);
}

/* Of the size that was planned, by which it was chosen: some may have been left out since. */
static struct migrate_copy_cost *cost_of(const struct migrate_copy_job *job)
{
	unsigned int way = migrate_copy_way_of(job->from, job->to);

	return &job->engine->state->costs[job->contended][way][job->order]
					 [migrate_copy_size(job->planned)];
}

/* What the CPU has to do after an engine, in ns. */
static u64 cpu_ns(const struct migrate_copy_job *job, unsigned int folios)
{
	const struct migrate_copy_cost *cpu =
		&cpu_costs[migrate_copy_way_of(job->from, job->to)][job->order];

	return kib_of(folios, job->order) * cpu->cost >> MIGRATE_COPY_SHIFT;
}

/**
 * migrate_copy_refused - an engine did not begin a job
 * @job: the job
 * @err: what it says
 */
void migrate_copy_refused(struct migrate_copy_job *job, int err)
{
	struct migrate_copy_state *state = job->engine->state;

	spin_lock(&costs_lock);
	if (err == -EBUSY) {
		state->busy++;
		migrate_copy_was_busy(cost_of(job));
	} else {
		state->failed[job->order] += job->nr;
		migrate_copy_learn(cost_of(job), job->start_ns + cpu_ns(job, job->nr),
				   kib_of(job->nr, job->order));
	}
	spin_unlock(&costs_lock);
	migrate_copy_put(job->engine);
}

/**
 * migrate_copy_account - an engine has done a job
 * @job: the job
 * @finish_ns: what its finish() cost
 */
void migrate_copy_account(struct migrate_copy_job *job, u64 finish_ns)
{
	struct migrate_copy_state *state = job->engine->state;
	unsigned int copied = bitmap_weight(job->copied, job->nr);
	u64 cost = job->start_ns + finish_ns;
	u64 took = (job->done_ns ?: ktime_get_ns()) - job->started_ns;
	unsigned int way = migrate_copy_way_of(job->from, job->to);
	u64 kib = kib_of(job->nr, job->order);

	spin_lock(&costs_lock);
	/* To fail takes no time. */
	if (copied == job->nr) {
		migrate_copy_line_add(&state->lines[way][job->order], kib, took);
		migrate_copy_learn(&state->took[way][job->order][migrate_copy_size(job->planned)],
				   took, kib);
	}
	migrate_copy_learn(cost_of(job), cost + cpu_ns(job, job->nr - copied), kib);
	state->copied[job->order] += copied;
	state->failed[job->order] += job->nr - copied;
	spin_unlock(&costs_lock);
	migrate_copy_put(job->engine);
}

/**
 * migrate_copy_account_cpu - the CPU has copied, to be compared with
 * @job: what it copied
 * @ns: how long it took
 */
void migrate_copy_account_cpu(const struct migrate_copy_job *job, u64 ns)
{
	unsigned int way = migrate_copy_way_of(job->from, job->to);

	spin_lock(&costs_lock);
	migrate_copy_learn(&cpu_costs[way][job->order], ns,
			   kib_of(job->nr, job->order));
	spin_unlock(&costs_lock);
}

/**
 * migrate_copy_costs - what is known of an engine for folios of one size, for debugging
 * @state: the engine's
 * @contended: while others want the CPU
 * @way: as migrate_copy_way()
 * @order: of the folios
 * @line: set to how long it takes
 * @costs: set to what it costs, by size of jobs
 * @cpu: set to what the CPU does
 */
void migrate_copy_costs(struct migrate_copy_state *state, bool contended,
			unsigned int way, unsigned int order, struct migrate_copy_line *line,
			struct migrate_copy_cost costs[MIGRATE_COPY_SIZES],
			struct migrate_copy_cost *cpu)
{
	spin_lock(&costs_lock);
	*line = state->lines[way][order];
	*cpu = cpu_costs[way][order];
	memcpy(costs, state->costs[contended][way][order],
	       sizeof(state->costs[contended][way][order]));
	spin_unlock(&costs_lock);
}

/**
 * migrate_copy_switch - use an engine or do not
 * @state: the engine's
 * @use: when
 *
 * Jobs under way are done.
 */
void migrate_copy_switch(struct migrate_copy_state *state,
			 enum migrate_copy_use use)
{
	enum migrate_copy_use was = state->use;

	lockdep_assert_held(&migrate_copy_lock);
	WRITE_ONCE(state->use, use);
	if (use && !was)
		static_branch_inc(&migrate_copy_key);
	else if (!use && was)
		static_branch_dec(&migrate_copy_key);
}

static void jobs_ended(struct percpu_ref *jobs)
{
	struct migrate_copy_state *state =
		container_of(jobs, struct migrate_copy_state, jobs);

	complete(&state->ended);
}

static bool is_known(const char *name)
{
	struct migrate_copy_state *state;

	list_for_each_entry(state, &migrate_copy_engines, list)
		if (!strcmp(state->engine->name, name))
			return true;
	return false;
}

static void forget(struct migrate_copy_state *state)
{
	mutex_lock(&migrate_copy_lock);
	/* Whoever set that does not set it again when it comes back. */
	state->engine->use = state->use;
	state->engine->kept = state->reasons;
	migrate_copy_switch(state, MIGRATE_COPY_OFF);
	list_del_rcu(&state->list);
	mutex_unlock(&migrate_copy_lock);
	percpu_ref_kill(&state->jobs);
	wait_for_completion(&state->ended);
	/* Whoever found it before may still look at it. */
	synchronize_rcu();
	percpu_ref_exit(&state->jobs);
	state->engine->state = NULL;
	kfree(state);
}

/**
 * migrate_copy_register - an engine is there
 * @engine: the engine, whose name nobody else has
 *
 * It is used from now on as it asks to be, or as it was when it went the last time, and stays
 * until migrate_copy_unregister().
 *
 * Context: process context, may sleep.
 *
 * Return: 0, -EINVAL, -EEXIST, -ENOMEM, or -ENODEV before mm's directory is there.
 */
int migrate_copy_register(struct migrate_copy_engine *engine)
{
	struct migrate_copy_state *state;
	int err;

	if (!engine->name || !engine->ops || !engine->ops->start ||
	    !engine->ops->finish || engine->min_order > engine->max_order ||
	    !(engine->reasons & MIGRATE_COPY_ANY))
		return -EINVAL;
	state = kzalloc_obj(*state);
	if (!state)
		return -ENOMEM;
	init_completion(&state->ended);
	err = percpu_ref_init(&state->jobs, jobs_ended, 0, GFP_KERNEL);
	if (err)
		goto out_free;
	state->engine = engine;
	state->reasons = (engine->kept ?: engine->reasons) & MIGRATE_COPY_ANY;
	mutex_lock(&migrate_copy_lock);
	err = is_known(engine->name) ? -EEXIST : 0;
	if (!err) {
		engine->state = state;
		list_add_tail_rcu(&state->list, &migrate_copy_engines);
		/* Before its files are there, by which somebody may switch it. */
		migrate_copy_switch(state, engine->use);
	}
	mutex_unlock(&migrate_copy_lock);
	if (err)
		goto out_exit;

	/* Not under the lock, which its files take. */
	err = migrate_copy_add_dir(state);
	if (err) {
		forget(state);
		return err;
	}
	pr_info("engine %s\n", engine->name);
	return 0;

out_exit:
	percpu_ref_exit(&state->jobs);
out_free:
	kfree(state);
	return err;
}
EXPORT_SYMBOL_GPL(migrate_copy_register);

/**
 * migrate_copy_unregister - an engine goes
 * @engine: as registered
 *
 * Waits for its jobs. Whoever migrates meanwhile has the CPU copy.
 *
 * Context: process context, may sleep.
 */
void migrate_copy_unregister(struct migrate_copy_engine *engine)
{
	/* First, and not under the lock: its files take that, and could switch it on. */
	migrate_copy_remove_dir(engine->state);
	forget(engine->state);
}
EXPORT_SYMBOL_GPL(migrate_copy_unregister);
