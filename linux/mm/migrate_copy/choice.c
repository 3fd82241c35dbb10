// SPDX-License-Identifier: GPL-2.0
/* What copying costs, and who is to copy. Pure: see choice.h. */
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "choice.h"

/* What is measured is bounded, so that no sum overflows: 134 ms, and 16 MiB. */
#define NS_MAX	(128ULL << 20)
#define KIB_MAX	(16ULL << 10)

/* In units of a 256th; a sixteenth is forgotten with each job. */
#define LINE_SHIFT	8
#define LINE_FORGET	4
/* Means have so many bits behind the point. */
#define MEAN_SHIFT	4

/**
 * migrate_copy_way - the class of a job by where its folios are and go to
 * @within: they stay on their node
 * @from_top: they are in the top tier
 * @to_top: they go there
 *
 * What a KiB takes depends on it: no link is between within a node, and the same memory
 * is read and written.
 *
 * Return: below MIGRATE_COPY_WAYS.
 */
unsigned int migrate_copy_way(bool within, bool from_top, bool to_top)
{
	return within ? 4U + to_top : 2U * from_top + to_top;
}

/**
 * migrate_copy_size - the class of a job by its folios
 * @folios: at least 1
 *
 * Return: below MIGRATE_COPY_SIZES.
 */
unsigned int migrate_copy_size(unsigned int folios)
{
	if (folios <= 1)
		return 0;
	return min(ilog2(folios - 1) / 2 + 1U, MIGRATE_COPY_SIZES - 1);
}

/**
 * migrate_copy_learn - note what a job cost
 * @c: of its kind
 * @ns: what it cost the one who migrates
 * @kib: its size, at least 1
 */
void migrate_copy_learn(struct migrate_copy_cost *c, u64 ns, u64 kib)
{
	u64 got = div64_u64(min(ns, NS_MAX) << MIGRATE_COPY_SHIFT,
			    clamp(kib, 1ULL, KIB_MAX));
	u32 cost = clamp(got, 1ULL, (u64)U32_MAX);

	c->rested = 0;
	/*
	 * Whoever was interrupted took very long. The least of the first few is what it
	 * costs by itself, and so is what a loser takes that does better.
	 */
	if (!c->known || (cost < c->cost && (c->known < MIGRATE_COPY_KNOWN || c->again)))
		c->cost = cost;
	if (c->known < MIGRATE_COPY_KNOWN) {
		c->known++;
		return;
	}
	/* It counts later, and not for more than a change to twice as much would. */
	cost = min((u64)cost, 2ULL * c->cost);
	if (cost > c->cost)
		c->cost += DIV_ROUND_UP(cost - c->cost, 1U << MIGRATE_COPY_FOLLOW);
	else
		c->cost -= (c->cost - cost) >> MIGRATE_COPY_FOLLOW;
}

/* How many times the cost of who is cheap is lost by trying who is dear, at least 1. */
static u32 loss_of(u32 dear, u32 cheap)
{
	u32 more = dear - min(dear, cheap);

	return clamp(more / max(cheap, 1U), 1U, MIGRATE_COPY_AGAIN_TIMES);
}

/* It cost that much less than the CPU by which one has to, and kept nobody waiting. */
static bool is_less_dear(const struct migrate_copy_cost *engine,
			 const struct migrate_copy_cost *took,
			 const struct migrate_copy_cost *cpu)
{
	return took->cost / 2 <= cpu->cost &&
	       engine->cost <= cpu->cost - (cpu->cost >> MIGRATE_COPY_MARGIN);
}

/**
 * migrate_copy_wins - has an engine been found to do jobs of a kind at less cost?
 * @engine: what they cost with it
 * @took: how long it took for them
 * @cpu: what these folios cost the CPU
 *
 * As migrate_copy_judge(), but nothing is to be copied just now.
 *
 * Return: true if it has.
 */
bool migrate_copy_wins(const struct migrate_copy_cost *engine,
		       const struct migrate_copy_cost *took,
		       const struct migrate_copy_cost *cpu)
{
	return cpu->known >= MIGRATE_COPY_KNOWN && !engine->rest &&
	       engine->known >= MIGRATE_COPY_KNOWN && is_less_dear(engine, took, cpu);
}

/**
 * migrate_copy_judge - who copies
 * @engine: what jobs of this kind cost with it
 * @took: how long it took for them
 * @cpu: what these folios cost the CPU
 *
 * An engine that is not known is tried, and one that is dearer is tried again now and
 * then, the more seldom the more often it was and the dearer. Its cost alone does not
 * tell: whoever has something else to do meanwhile would wait for ever and it would cost
 * nothing. No folio is to be missing for more than twice as long as the CPU needs, which
 * might have half of the time.
 *
 * Return: the verdict.
 */
enum migrate_copy_verdict migrate_copy_judge(struct migrate_copy_cost *engine,
					     struct migrate_copy_cost *took,
					     const struct migrate_copy_cost *cpu)
{
	u32 wait;

	if (cpu->known < MIGRATE_COPY_KNOWN)
		return MIGRATE_COPY_BY_CPU;
	if (engine->rest) {
		engine->rest--;
		return MIGRATE_COPY_RESTS;
	}
	if (engine->known < MIGRATE_COPY_KNOWN)
		return MIGRATE_COPY_TO_LEARN;
	/* Like the cost of one who lost it may be found to be less. */
	took->again = took->cost / 2 > cpu->cost;
	if (is_less_dear(engine, took, cpu)) {
		engine->wait = 0;
		if (engine->again && ++engine->won >= MIGRATE_COPY_PROVEN)
			engine->again = 0;
		return MIGRATE_COPY_BY_ENGINE;
	}
	engine->won = 0;
	if (!engine->again)
		engine->again = MIGRATE_COPY_AGAIN;
	/* By what the CPU costs now: it may have become dearer since it lost. */
	wait = engine->again * loss_of(max(engine->cost, took->cost / 2), cpu->cost);
	if (!engine->wait || engine->wait > wait)
		engine->wait = wait;
	if (--engine->wait)
		return MIGRATE_COPY_BY_CPU;
	engine->again = min(2 * engine->again, MIGRATE_COPY_AGAIN_MAX);
	return MIGRATE_COPY_TO_LEARN;
}

/*
 * Is one that another one beats to be tried? By how much it loses goes by who beats it, who
 * may be beaten by a third one.
 */
static bool beaten_is_due(struct migrate_copy_cost *engine, const struct migrate_copy_cost *by)
{
	u32 wait = MIGRATE_COPY_AGAIN_MAX * loss_of(engine->cost, by->cost);

	if (++engine->beaten < wait)
		return false;
	engine->beaten = 0;
	/* It is known anew, if it costs less than was known. */
	engine->known = min(engine->known, MIGRATE_COPY_KNOWN - 1);
	return true;
}

/**
 * migrate_copy_prefer - does an engine copy rather than those that were asked before?
 * @choice: who copies of these; all 0 if there was none. Updated
 * @engine: what jobs of this kind cost with it
 * @verdict: on it
 *
 * Of those that are less dear than the CPU the least dear does. The others are tried now and
 * then, as those that lost to the CPU are: nothing would tell that one is less dear by now.
 *
 * Return: true if it does. After MIGRATE_COPY_TO_LEARN nobody else is to be asked.
 */
bool migrate_copy_prefer(struct migrate_copy_choice *choice,
			 struct migrate_copy_cost *engine,
			 enum migrate_copy_verdict verdict)
{
	struct migrate_copy_cost *best = choice->cost;
	bool better = verdict > choice->verdict;

	if (verdict == MIGRATE_COPY_BY_ENGINE && choice->verdict == verdict) {
		better = engine->cost < best->cost;
		if (beaten_is_due(better ? best : engine, better ? engine : best)) {
			better = !better;
			choice->verdict = MIGRATE_COPY_TO_LEARN;
			verdict = MIGRATE_COPY_TO_LEARN;
		}
	}
	if (better) {
		choice->verdict = verdict;
		choice->cost = engine;
	}
	return better;
}

/**
 * migrate_copy_was_busy - an engine had no room for a job
 * @engine: its cost for jobs of this kind
 */
void migrate_copy_was_busy(struct migrate_copy_cost *engine)
{
	/* Others were asked at the same time. */
	if (engine->rest)
		return;
	engine->rested = clamp(2 * engine->rested, MIGRATE_COPY_REST,
			       MIGRATE_COPY_REST_MAX);
	engine->rest = engine->rested;
}

/**
 * migrate_copy_cpu_due - is the CPU to copy, to be compared with?
 * @cpu: its cost
 *
 * Return: true for the first jobs, and once in MIGRATE_COPY_SAMPLE, or in as many times
 * that as the CPU is dearer than who wins.
 */
bool migrate_copy_cpu_due(struct migrate_copy_cost *cpu)
{
	u32 times = cpu->winner ? cpu->cost / cpu->winner : 1;
	u32 again = MIGRATE_COPY_SAMPLE * clamp(times, 1U, MIGRATE_COPY_SAMPLE_TIMES) - 1;

	if (cpu->known < MIGRATE_COPY_KNOWN)
		return true;
	/* Who won may have become dearer since, or lost. */
	cpu->wait = min(cpu->wait, again);
	if (cpu->wait--)
		return false;
	cpu->wait = again;
	return true;
}

/*
 * The slope in 1/16 ns a KiB and the set-up in ns; false if all jobs were within an eighth
 * of each other, or the larger the faster.
 */
static bool line_tells(const struct migrate_copy_line *l, u64 *setup, u64 *slope)
{
	u64 x = div64_u64(l->x << MEAN_SHIFT, l->n);
	u64 y = div64_u64(l->y << MEAN_SHIFT, l->n);
	u64 var = div64_u64(l->xx << 2 * MEAN_SHIFT, l->n);
	s64 cov = div64_u64(l->xy << 2 * MEAN_SHIFT, l->n) - x * y;

	var -= min(var, x * x);
	if (var <= x * x >> 6 || cov <= 0)
		return false;
	*slope = max(div64_u64((u64)cov << MIGRATE_COPY_SHIFT, var), 1ULL);
	y -= min(y, *slope * x >> MIGRATE_COPY_SHIFT);
	*setup = y >> MEAN_SHIFT;
	return true;
}

/**
 * migrate_copy_line_add - note how long an engine took, from its start to its last byte
 * @l: of this engine
 * @kib: size of the job
 * @ns: how long
 */
void migrate_copy_line_add(struct migrate_copy_line *l, u64 kib, u64 ns)
{
	u64 setup, slope;

	kib = clamp(kib, 1ULL, KIB_MAX);
	ns = min(ns, NS_MAX);
	l->n += (1 << LINE_SHIFT) - (l->n >> LINE_FORGET);
	l->x += (kib << LINE_SHIFT) - (l->x >> LINE_FORGET);
	l->y += (ns << LINE_SHIFT) - (l->y >> LINE_FORGET);
	l->xx += (kib * kib << LINE_SHIFT) - (l->xx >> LINE_FORGET);
	l->xy += (kib * ns << LINE_SHIFT) - (l->xy >> LINE_FORGET);
	if (line_tells(l, &setup, &slope)) {
		l->setup = setup;
		l->told = true;
	}
}

/**
 * migrate_copy_line_fit - an engine's set-up and rate
 * @l: what is known of it
 * @setup_ns: set to what a job takes however small it is
 * @kib_ns16: set to the sixteenths of a ns that each KiB takes, 0 if nothing is known
 *
 * Where all jobs of late had nearly the same size the set-up is as it was found before,
 * and if it never was, all counts as rate.
 */
void migrate_copy_line_fit(const struct migrate_copy_line *l, u64 *setup_ns,
			   u64 *kib_ns16)
{
	u64 x, y;

	*setup_ns = 0;
	*kib_ns16 = 0;
	if (!l->n || !l->x || line_tells(l, setup_ns, kib_ns16))
		return;
	x = div64_u64(l->x << MEAN_SHIFT, l->n);
	y = div64_u64(l->y << MEAN_SHIFT, l->n);
	*setup_ns = min(l->setup, y >> MEAN_SHIFT);
	y -= *setup_ns << MEAN_SHIFT;
	*kib_ns16 = max(div64_u64(y << MIGRATE_COPY_SHIFT, x), 1ULL);
}

/**
 * migrate_copy_chunk - how much to copy at a time
 * @l: what is known of the engine
 * @first_ns: for how long the first folio of a job may be kept waiting
 * @nth: number of the job
 *
 * A job stays unmapped until all of it is there: the larger it is, the less its set-up
 * tells, and the longer whoever accesses its first folio waits. Now and then one is
 * larger, without which nothing would tell set-up and rate apart, and as long as
 * nothing does that one may keep waiting for longer.
 *
 * Return: KiB, at least MIGRATE_COPY_CHUNK.
 */
u64 migrate_copy_chunk(const struct migrate_copy_line *l, u64 first_ns, u32 nth)
{
	u64 setup, rate, kib, most;
	bool vary = nth % MIGRATE_COPY_VARY == 0;

	migrate_copy_line_fit(l, &setup, &rate);
	if (!rate)
		return MIGRATE_COPY_CHUNK;
	most = first_ns > setup ? first_ns - setup : 0;
	most = div64_u64(most << MIGRATE_COPY_SHIFT, rate);
	kib = div64_u64(setup << (MIGRATE_COPY_SETUP + MIGRATE_COPY_SHIFT), rate);
	kib = max(kib, MIGRATE_COPY_CHUNK);
	if (vary)
		kib *= 4;
	if (!vary || l->told)
		kib = min(kib, most);
	return clamp(kib, MIGRATE_COPY_CHUNK, KIB_MAX);
}
