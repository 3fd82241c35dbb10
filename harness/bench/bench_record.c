// SPDX-License-Identifier: GPL-2.0
/*
 * pghot_map_record() against one atomic read-modify-write on the very same
 * records, in the same random order. Both are timed in turn, and which goes
 * first changes each time. In three ways, by what a record has to wait for:
 *
 *	alone	each access is over before the next begins, as in a fault
 *	batch	prefetched some accesses ahead, as a source with many does
 *	stream	one call after the other; the CPU overlaps what it can
 *
 * batch and stream stand beside the same bare atomics, back to back: these wait
 * for nothing that prefetching could fetch.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/minmax.h>
#include <linux/mmzone.h>

#include "bench.h"

#define BAR_RATIO	1.3	/* a record may cost this many bare atomics */
#define BAR_SCALING	0.9	/* and must scale this well beside them */
#define AHEAD		32	/* accesses, in a batch */
#define MAX_REPS	101
#define MAX_THREADS	64
/* Accesses a millisecond of the records' clock. */
#define PER_MS		4096

enum way { ALONE, BATCH, STREAM, WAYS };

static const char *const way_name[] = { "alone", "batch", "stream" };

struct worker {
	enum way way;
	pthread_t thread;
	pthread_barrier_t *start;
	struct bench_map *b;
	const struct bench_options *o;
	u32 *pfn;		/* which record */
	u32 *offset;		/* and where it is */
	u64 random;
	u32 now_ms;
	u32 weight;
	/* ns an access, by repetition */
	double bare[MAX_REPS], record[MAX_REPS];
};

static void choose(struct worker *w)
{
	unsigned long pages = w->b->sections * PAGES_PER_SECTION, i;
	size_t width = pghot_map_layout(&w->b->map)->bits / 8;

	for (i = 0; i < w->o->accesses; i++) {
		u32 pfn = bench_random(&w->random) % pages;

		w->pfn[i] = pfn;
		w->offset[i] = pfn / PAGES_PER_SECTION * w->b->stride +
			       w->b->records + pfn % PAGES_PER_SECTION * width;
	}
}

/* It adds zero, but the CPU does not know, and the records stay as they are. */
#define xadd(suffix, type, record)					\
	({								\
		type _add = 0;						\
									\
		asm volatile("lock xadd" suffix " %0, %1"		\
			     : "+q" (_add), "+m" (*(type *)(record)));	\
	})

/* Wait until all loads and atomics before are done. */
#define finish()	asm volatile("lfence" : : : "memory")

#define for_each_access(w, i, ...)					\
	do {								\
		for (i = 0; i < (w)->o->accesses; i++)			\
			__VA_ARGS__;					\
	} while (0)

static double bare(struct worker *w)
{
	double start = bench_cpu_ns();
	u8 *base = w->b->base;
	unsigned long i;

	if (w->b->map.precise && w->way == ALONE)
		for_each_access(w, i, {
			xadd("l", u32, base + w->offset[i]);
			finish();
		});
	else if (w->b->map.precise)
		for_each_access(w, i, xadd("l", u32, base + w->offset[i]));
	else if (w->way == ALONE)
		for_each_access(w, i, {
			xadd("b", u8, base + w->offset[i]);
			finish();
		});
	else
		for_each_access(w, i, xadd("b", u8, base + w->offset[i]));
	return (bench_cpu_ns() - start) / w->o->accesses;
}

static void record_one(struct worker *w, unsigned long i)
{
	struct pghot_map_node *node;

	pghot_map_record(&w->b->map, w->pfn[i], i & 1, w->weight,
			 w->now_ms + i / PER_MS, &w->b->t, &node);
}

static double record(struct worker *w)
{
	double start = bench_cpu_ns();
	unsigned long i;

	if (w->way == ALONE)
		for_each_access(w, i, {
			record_one(w, i);
			finish();
		});
	else if (w->way == BATCH)
		for_each_access(w, i, {
			pghot_map_prefetch(&w->b->map, w->pfn[i + AHEAD]);
			record_one(w, i);
		});
	else
		for_each_access(w, i, record_one(w, i));
	w->now_ms += w->o->accesses / PER_MS;
	return (bench_cpu_ns() - start) / w->o->accesses;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned int rep;

	w->pfn = calloc(w->o->accesses + AHEAD, sizeof(*w->pfn));
	w->offset = calloc(w->o->accesses, sizeof(*w->offset));
	if (!w->pfn || !w->offset)
		exit(1);
	/* Untimed once, so that the blocks have their nodes. */
	choose(w);
	record(w);
	for (rep = 0; rep < w->o->reps; rep++) {
		choose(w);
		pthread_barrier_wait(w->start);
		if (rep & 1)
			w->record[rep] = record(w);
		else
			w->bare[rep] = bare(w);
		pthread_barrier_wait(w->start);
		if (rep & 1)
			w->bare[rep] = bare(w);
		else
			w->record[rep] = record(w);
	}
	free(w->pfn);
	free(w->offset);
	return NULL;
}

struct rates {
	double bare, record;	/* million a second, all threads, median */
};

static struct rates measure(struct bench_map *b, const struct bench_options *o,
			    enum way way, unsigned int threads, u32 weight)
{
	double bares[MAX_REPS], records[MAX_REPS], ratios[MAX_REPS];
	double bare_rate[MAX_REPS] = { }, record_rate[MAX_REPS] = { };
	static struct worker w[MAX_THREADS];
	static u32 now_ms = 1000;
	pthread_barrier_t start;
	unsigned int i, rep;

	pthread_barrier_init(&start, NULL, threads);
	for (i = 0; i < threads; i++) {
		w[i] = (struct worker) {
			.start = &start, .b = b, .o = o, .way = way,
			.random = now_ms * MAX_THREADS + i,
			.now_ms = now_ms, .weight = weight,
		};
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	}
	for (i = 0; i < threads; i++)
		pthread_join(w[i].thread, NULL);
	now_ms = w[0].now_ms;
	for (rep = 0; rep < o->reps; rep++) {
		for (i = 0; i < threads; i++) {
			bare_rate[rep] += 1e3 / w[i].bare[rep];
			record_rate[rep] += 1e3 / w[i].record[rep];
		}
		bares[rep] = threads * 1e3 / bare_rate[rep];
		records[rep] = threads * 1e3 / record_rate[rep];
		ratios[rep] = records[rep] / bares[rep];
	}
	bench_print("bare_ns", bench_stat(bares, o->reps));
	bench_print("record_ns", bench_stat(records, o->reps));
	bench_print("ratio", bench_stat(ratios, o->reps));
	return (struct rates) {
		.bare = bench_stat(bare_rate, o->reps).median,
		.record = bench_stat(record_rate, o->reps).median,
	};
}

static void one_way(struct bench_map *b, const struct bench_options *o,
		    enum way way)
{
	unsigned int threads, most = min(o->threads, MAX_THREADS + 0U);
	struct rates one = { }, now;
	double ratio, scaling;

	printf("\"%s\": {\"threads\": [", way_name[way]);
	for (threads = 1; threads <= most; threads *= 2) {
		printf("%s{\"threads\": %u, ", threads > 1 ? ",\n" : "",
		       threads);
		now = measure(b, o, way, threads, 1);
		if (threads == 1)
			one = now;
		scaling = now.record / one.record / (now.bare / one.bare);
		printf("\"bare_scaling\": %.3f, \"record_scaling\": %.3f, ",
		       now.bare / one.bare, now.record / one.record);
		printf("\"bar\": {\"scaling_beside_bare\": %.3f, "
		       "\"at_least\": %.1f, \"met\": %s}}",
		       scaling, BAR_SCALING,
		       scaling >= BAR_SCALING ? "true" : "false");
	}
	ratio = one.bare / one.record;
	printf("], \"bar\": {\"ratio\": %.3f, \"at_most\": %.1f, "
	       "\"met\": %s}},\n", ratio, BAR_RATIO,
	       ratio <= BAR_RATIO ? "true" : "false");
}

void bench_records(const struct bench_options *o, bool precise)
{
	struct bench_map b;
	enum way way;

	bench_map_init(&b, o->sections, precise);
	for (way = 0; way < WAYS; way++)
		one_way(&b, o, way);
	/* The other extreme: what one hint fault of a hot page does. */
	printf("\"each_ready\": {");
	measure(&b, o, ALONE, 1, b.t.freq_threshold);
	printf("\"way\": \"alone\"}, \"map_bytes\": %lu",
	       o->sections * b.stride);
	bench_map_exit(&b);
}
