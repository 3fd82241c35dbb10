// SPDX-License-Identifier: GPL-2.0
/*
 * Recording against one atomic read-modify-write on the very same records, in
 * the same random order. Both are timed in turn, and which goes first changes
 * each time. In three ways, by what a record has to wait for:
 *
 *	alone	each access is over before the next begins, as in a fault
 *	batch	by pghot_map_record_batch(), as a source with many accesses does
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

#include "cost.h"

#define BAR_RATIO	1.3	/* a record may cost this many bare atomics */
#define BAR_SCALING	0.9	/* and must scale this well beside them */
#define AT_ONCE		4096UL	/* accesses that a source reports at once */
#define MAX_REPS	101
#define MAX_THREADS	64
/* Accesses of all threads in a millisecond of the records' clock. */
#define PER_MS		4096

enum way { ALONE, BATCH, STREAM, WAYS };

static const char *const way_name[] = { "alone", "batch", "stream" };

struct worker {
	enum way way;
	pthread_t thread;
	pthread_barrier_t *start;
	struct cost_map *b;
	const struct cost_options *o;
	unsigned int threads;	/* that record at once */
	struct pghot_access *access;	/* which record */
	u32 *offset;		/* and where it is */
	u64 random;
	u32 now_ms;
	u32 weight;
	unsigned long ready;	/* records that became ready */
	/* ns an access, by repetition */
	double bare[MAX_REPS], record[MAX_REPS];
};

static void choose(struct worker *w)
{
	unsigned long pages = w->b->sections * PAGES_PER_SECTION, i;

	for (i = 0; i < w->o->accesses; i++) {
		u32 pfn = cost_random(&w->random) % pages;

		w->access[i] = (struct pghot_access) {
			.pfn = pfn, .nid = i & 1, .weight = w->weight,
		};
		w->offset[i] = cost_record_at(w->b, pfn) - w->b->base;
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
	double start = cost_cpu_ns();
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
	return (cost_cpu_ns() - start) / w->o->accesses;
}

/*
 * The clock goes by what all threads record: so as many records become ready
 * with many threads as with one, and only the number of threads differs.
 */
static u32 now_ms(const struct worker *w, unsigned long i)
{
	return w->now_ms + i * w->threads / PER_MS;
}

static __thread unsigned long ready;

static void became_ready(const struct pghot_access *a,
			 struct pghot_map_node *node)
{
	ready++;
}

static void record_one(struct worker *w, unsigned long i)
{
	struct pghot_map_node *node;

	if (pghot_map_record(&w->b->map, &w->access[i], now_ms(w, i), &w->b->t,
			     &node) == PGHOT_BECAME_READY)
		became_ready(&w->access[i], node);
}

static void record_batch(struct worker *w, unsigned long i)
{
	pghot_map_record_batch(&w->b->map, w->access + i,
			       min(AT_ONCE, w->o->accesses - i),
			       now_ms(w, i), &w->b->t, became_ready);
}

static double record(struct worker *w)
{
	double start = cost_cpu_ns();
	unsigned long i;

	if (w->way == ALONE)
		for_each_access(w, i, {
			record_one(w, i);
			finish();
		});
	else if (w->way == BATCH)
		for (i = 0; i < w->o->accesses; i += AT_ONCE)
			record_batch(w, i);
	else
		for_each_access(w, i, record_one(w, i));
	w->now_ms = now_ms(w, w->o->accesses);
	return (cost_cpu_ns() - start) / w->o->accesses;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned int rep;

	w->access = calloc(w->o->accesses, sizeof(*w->access));
	w->offset = calloc(w->o->accesses, sizeof(*w->offset));
	if (!w->access || !w->offset)
		exit(1);
	/* Untimed once, so that the blocks have their nodes. */
	choose(w);
	record(w);
	ready = 0;
	for (rep = 0; rep < w->o->reps; rep++) {
		choose(w);
		if (pthread_barrier_wait(w->start))
			cost_take_ready(w->b);
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
	w->ready = ready;
	free(w->access);
	free(w->offset);
	return NULL;
}

struct rates {
	double bare, record;	/* million a second, all threads, median */
};

static struct rates measure(struct cost_map *b, const struct cost_options *o,
			    enum way way, unsigned int threads, u32 weight)
{
	double bares[MAX_REPS], records[MAX_REPS], ratios[MAX_REPS];
	double bare_rate[MAX_REPS] = { }, record_rate[MAX_REPS] = { };
	static struct worker w[MAX_THREADS];
	static u32 clock = 1000;
	pthread_barrier_t start;
	unsigned long ready = 0;
	unsigned int i, rep;

	/* The same for each: what was measured before must not matter. */
	cost_map_empty(b);
	pthread_barrier_init(&start, NULL, threads);
	for (i = 0; i < threads; i++) {
		w[i] = (struct worker) {
			.start = &start, .b = b, .o = o, .way = way,
			.random = clock * MAX_THREADS + i,
			.now_ms = clock, .weight = weight, .threads = threads,
		};
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	}
	for (i = 0; i < threads; i++)
		pthread_join(w[i].thread, NULL);
	pthread_barrier_destroy(&start);
	for (i = 0; i < threads; i++)
		ready += w[i].ready;
	printf("\"share_that_became_ready\": %.3f, ",
	       ready / ((double)o->reps * threads * o->accesses));
	clock = w[0].now_ms;
	for (rep = 0; rep < o->reps; rep++) {
		for (i = 0; i < threads; i++) {
			bare_rate[rep] += 1e3 / w[i].bare[rep];
			record_rate[rep] += 1e3 / w[i].record[rep];
		}
		bares[rep] = threads * 1e3 / bare_rate[rep];
		records[rep] = threads * 1e3 / record_rate[rep];
		ratios[rep] = records[rep] / bares[rep];
	}
	cost_print("bare_ns", cost_stat(bares, o->reps));
	cost_print("record_ns", cost_stat(records, o->reps));
	cost_print("ratio", cost_stat(ratios, o->reps));
	return (struct rates) {
		.bare = cost_stat(bare_rate, o->reps).median,
		.record = cost_stat(record_rate, o->reps).median,
	};
}

static void one_way(struct cost_map *b, const struct cost_options *o,
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

void cost_records(const struct cost_options *o, bool precise)
{
	struct cost_map b;
	enum way way;

	cost_map_init(&b, o->sections, precise);
	for (way = 0; way < WAYS; way++)
		one_way(&b, o, way);
	/* The other extreme: what one hint fault of a hot page does. */
	printf("\"each_ready\": {");
	for (way = 0; way < STREAM; way++) {
		printf("\"%s\": {", way_name[way]);
		measure(&b, o, way, 1, b.t.freq_threshold);
		printf("\"threads\": 1}%s", way == ALONE ? ", " : "");
	}
	printf("}, \"map_bytes\": %lu",
	       o->sections * pghot_map_section_bytes(&b.map));
	cost_map_exit(&b);
}
