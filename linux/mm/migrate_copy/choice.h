/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What copying costs, and who is to copy: an engine or the CPU. Pure: times come in
 * as arguments, nothing is read from the kernel.
 */
#ifndef _MM_MIGRATE_COPY_CHOICE_H
#define _MM_MIGRATE_COPY_CHOICE_H

#include <linux/types.h>

/*
 * Sizes of jobs, by their number of folios: 1, up to 4, up to 16, up to 64, more. An
 * engine's set-up cost tells on the small ones alone.
 */
#define MIGRATE_COPY_SIZES	5U
/* Ways that folios go: see migrate_copy_way(). */
#define MIGRATE_COPY_WAYS	6U
/* Costs are kept in 1/16 ns a KiB, and follow by an eighth of what is new. */
#define MIGRATE_COPY_SHIFT	4
#define MIGRATE_COPY_FOLLOW	3
/* So many jobs are known before they are believed. */
#define MIGRATE_COPY_KNOWN	4U
/* An engine has to be cheaper by a sixteenth. */
#define MIGRATE_COPY_MARGIN	4
/*
 * What lost is tried again after so many jobs, and after twice as many each time that
 * it loses again. While it loses, a batch asks once, unless another engine wins or rests.
 * One that another engine beats waits as long as the longest.
 */
#define MIGRATE_COPY_AGAIN	16U
#define MIGRATE_COPY_AGAIN_MAX	256U
/*
 * That is so for one that loses up to what the CPU costs. Who loses more waits for as many
 * times as long as it loses that, so that what trying costs stays the same share, but for
 * no more than so many times: it is tried again some day.
 */
#define MIGRATE_COPY_AGAIN_TIMES	256U
/* After it has won so often in a row that it had lost is forgotten. */
#define MIGRATE_COPY_PROVEN	64U
/*
 * What is busy is not asked for so many jobs, and for twice as many each time that it is
 * busy again, until it does one.
 */
#define MIGRATE_COPY_REST	4U
#define MIGRATE_COPY_REST_MAX	256U
/*
 * Where an engine wins, the CPU copies once in so many jobs to be compared with, times how
 * often the cost of who wins goes into its own, up to so many: comparing takes the same
 * share of the time whatever the engine gains.
 */
#define MIGRATE_COPY_SAMPLE	64U
#define MIGRATE_COPY_SAMPLE_TIMES	8U
/*
 * KiB that are copied at a time at least. Users who access 16 pages that move together
 * were measured to lose nothing by it, and 3% of their time where it is 512.
 */
#define MIGRATE_COPY_CHUNK	64ULL
/* One job of so many is larger, see migrate_copy_chunk(). */
#define MIGRATE_COPY_VARY	16U
/* Of a job's time no more than 1 / 2^3 is to be the engine's set-up. */
#define MIGRATE_COPY_SETUP	3

/**
 * struct migrate_copy_cost - what a KiB costs the one who migrates
 * @cost: of late, in 2^-MIGRATE_COPY_SHIFT ns
 * @known: how many times it was measured, at most MIGRATE_COPY_KNOWN
 * @wait: so many jobs more until it is tried again
 * @again: and so many after that; 0: it did not lose of late
 * @won: how often it won since it lost
 * @rest: so many jobs more until it is asked at all
 * @rested: how many it was not asked for when it was last busy; 0: it did a job since
 * @winner: of the CPU, what the engine costs that won against it last; 0: none did
 * @beaten: how often another engine beat it since it was last tried for that
 */
struct migrate_copy_cost {
	u32 cost;
	u32 known;
	u32 wait;
	u32 again;
	u32 won;
	u32 rest;
	u32 rested;
	u32 winner;
	u32 beaten;
};

/**
 * struct migrate_copy_line - how long jobs take, as a set-up and a rate
 * @n: sum of the jobs' weights, in 1/256: each weighs 15/16 of the one after it
 * @x: of their KiB
 * @y: of their ns
 * @xx: of the squares of their KiB
 * @xy: of KiB times ns
 * @setup: the set-up in ns, when jobs of late differed enough to tell
 * @told: they did
 *
 * For a least squares fit that forgets.
 */
struct migrate_copy_line {
	u64 n, x, y, xx, xy;
	u64 setup;
	bool told;
};

/* Who copies a job. Of several engines one whose verdict is further down does. */
enum migrate_copy_verdict {
	MIGRATE_COPY_BY_CPU,	/* as ever, a folio at a time as it is moved */
	MIGRATE_COPY_RESTS,	/* the CPU too, but the next job may be the engine's */
	MIGRATE_COPY_BY_ENGINE,
	MIGRATE_COPY_TO_LEARN,	/* the engine, whose cost is not known, or long ago */
};

/**
 * struct migrate_copy_choice - who copies a job, of the engines that were asked so far
 * @verdict: on the one who does
 * @cost: what jobs of this kind cost with it; NULL: the CPU does
 */
struct migrate_copy_choice {
	enum migrate_copy_verdict verdict;
	struct migrate_copy_cost *cost;
};

unsigned int migrate_copy_way(bool within, bool from_top, bool to_top);
unsigned int migrate_copy_size(unsigned int folios);
void migrate_copy_learn(struct migrate_copy_cost *c, u64 ns, u64 kib);
enum migrate_copy_verdict migrate_copy_judge(struct migrate_copy_cost *engine,
					     struct migrate_copy_cost *took,
					     const struct migrate_copy_cost *cpu);
bool migrate_copy_prefer(struct migrate_copy_choice *choice,
			 struct migrate_copy_cost *engine,
			 enum migrate_copy_verdict verdict);
bool migrate_copy_wins(const struct migrate_copy_cost *engine,
		       const struct migrate_copy_cost *took,
		       const struct migrate_copy_cost *cpu);
void migrate_copy_was_busy(struct migrate_copy_cost *engine);
bool migrate_copy_cpu_due(struct migrate_copy_cost *cpu);
void migrate_copy_line_add(struct migrate_copy_line *l, u64 kib, u64 ns);
void migrate_copy_line_fit(const struct migrate_copy_line *l, u64 *setup_ns,
			   u64 *kib_ns16);
u64 migrate_copy_chunk(const struct migrate_copy_line *l, u64 first_ns, u32 nth);

#endif
