// SPDX-License-Identifier: GPL-2.0
/*
 * Breadth-first searches of a Kronecker graph, after the Graph500 specification:
 * edge factor 16, initiator A .57 B .19 C .19, searches from vertices with edges,
 * each result validated, harmonic mean of traversed edges per second.
 *
 * Source: the Graph500 results of "mm: Hot page tracking and promotion
 * infrastructure" (v7): the graph is made, then its memory moves to the CXL node,
 * then the searches run on the CPUs of both sockets.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/workload.h"

#define NONE		UINT32_MAX
#define MAX_SEARCHES	64

static uint64_t scale = 18, edge_factor = 16, searches = 6;
static uint64_t threads = 4;

static uint32_t vertices;
static uint64_t edges;
static uint64_t *start;		/* first neighbour of each vertex, and an end */
static uint32_t *neighbour;
static uint32_t *parent, *level;
static uint32_t *queue, *next_queue;
static uint32_t queued, next_queued, depth;
static uint64_t next_chunk;
static double times[MAX_SEARCHES];

static const struct workload_option options[] = {
	{ "scale", 'S', "logarithm of the number of vertices", .number = &scale, .low = 4, .high = 26 },
	{ "edge-factor", 'e', "edges for each vertex", .number = &edge_factor, .low = 1, .high = 64 },
	{ "searches", 'n', "", .number = &searches, .low = 1, .high = MAX_SEARCHES },
	{ "threads", 't', "", .number = &threads, .low = 1, .high = MAX_THREADS },
	{}
};

/* Spread the vertices that are alike; a bijection of [0, 2^scale). */
static uint32_t shuffle(uint32_t v)
{
	uint32_t mask = vertices - 1;

	v = (v * 0x9e3779b1u + 0x7f4a7c15u) & mask;
	v ^= v >> (scale / 2);
	return (v * 0x85ebca6bu) & mask;
}

static void one_edge(uint64_t *x, uint32_t *from, uint32_t *to)
{
	uint32_t u = 0, v = 0;
	uint64_t bit, r = 0;

	for (bit = 0; bit < scale; bit++) {
		uint32_t p;

		/* Four numbers of 16 bits from each random one. */
		if (!(bit & 3))
			r = random_next(x);
		p = r & 0xffff;
		r >>= 16;
		/* 0.57, 0.57 + 0.19, 0.57 + 0.19 + 0.19 of 65536. */
		u = u << 1 | (p >= 49807);
		v = v << 1 | ((p >= 37356 && p < 49807) || p >= 62259);
	}
	*from = shuffle(u);
	*to = shuffle(v);
}

/* Make the edges twice: once to count, once to store. */
static void make_graph(void)
{
	uint64_t x, e, total;
	uint32_t u, v;

	vertices = 1u << scale;
	edges = edge_factor << scale;
	start = workload_map((vertices + 2) * sizeof(*start));
	for (x = random_start(0), e = 0; e < edges; e++) {
		one_edge(&x, &u, &v);
		start[u + 2]++;
		start[v + 2]++;
	}
	for (u = 0, total = 0; u <= vertices; u++) {
		total += start[u + 1];
		start[u + 1] = total;
	}
	neighbour = workload_map(2 * edges * sizeof(*neighbour));
	for (x = random_start(0), e = 0; e < edges; e++) {
		one_edge(&x, &u, &v);
		neighbour[start[u + 1]++] = v;
		neighbour[start[v + 1]++] = u;
	}
	parent = workload_map(vertices * sizeof(*parent));
	level = workload_map(vertices * sizeof(*level));
	queue = workload_map(vertices * sizeof(*queue));
	next_queue = workload_map(vertices * sizeof(*next_queue));
	memset(parent, 0xff, vertices * sizeof(*parent));
	memset(level, 0xff, vertices * sizeof(*level));
	memset(queue, 0, vertices * sizeof(*queue));
	memset(next_queue, 0, vertices * sizeof(*next_queue));
}

static uint64_t neighbours(uint32_t v)
{
	return start[v + 1] - start[v];
}

#define CHUNK	256

/* One level, by all threads: each takes chunks of the queue. */
static void one_level(void)
{
	uint32_t found[CHUNK];
	uint32_t n = 0;

	for (;;) {
		uint64_t i = __atomic_fetch_add(&next_chunk, CHUNK,
						__ATOMIC_RELAXED);
		uint64_t end = i + CHUNK;

		if (i >= queued)
			break;
		for (end = end > queued ? queued : end; i < end; i++) {
			uint32_t u = queue[i];
			uint64_t e;

			for (e = start[u]; e < start[u + 1]; e++) {
				uint32_t v = neighbour[e], none = NONE;

				if (__atomic_load_n(&parent[v], __ATOMIC_RELAXED) != NONE ||
				    !__atomic_compare_exchange_n(&parent[v], &none, u,
						false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
					continue;
				level[v] = depth + 1;
				found[n++] = v;
				if (n == CHUNK) {
					memcpy(next_queue + __atomic_fetch_add(&next_queued,
						n, __ATOMIC_RELAXED), found, sizeof(found));
					n = 0;
				}
			}
		}
	}
	memcpy(next_queue + __atomic_fetch_add(&next_queued, n, __ATOMIC_RELAXED),
	       found, n * sizeof(*found));
}

static void one_search(int thread)
{
	for (;;) {
		one_level();
		workload_barrier();
		if (!thread) {
			uint32_t *swap = queue;

			queue = next_queue;
			next_queue = swap;
			queued = next_queued;
			next_queued = 0;
			next_chunk = 0;
			depth++;
		}
		workload_barrier();
		if (!queued)
			return;
	}
}

static uint32_t root_of(uint64_t number)
{
	uint64_t x = random_start(1000 + number);
	uint32_t v;

	do
		v = random_next(&x) >> 20 & (vertices - 1);
	while (!neighbours(v));
	return v;
}

static void begin_at(uint32_t root)
{
	memset(parent, 0xff, vertices * sizeof(*parent));
	parent[root] = root;
	level[root] = 0;
	queue[0] = root;
	queued = 1;
	next_queued = 0;
	next_chunk = 0;
	depth = 0;
}

/* The same threads do all searches: NUMA balancing leaves young ones alone. */
static void search_all(int thread)
{
	double began = 0;
	uint64_t i;

	for (i = 0; i < searches; i++) {
		if (!thread) {
			began = workload_now();
			begin_at(root_of(i));
		}
		workload_barrier();
		one_search(thread);
		if (!thread)
			times[i] = workload_now() - began;
		/* All have seen that this search is over. */
		workload_barrier();
	}
}

/*
 * The specification's rules: each vertex but the root hangs by an edge of the
 * graph on one that is a level nearer, an edge's ends are at most one level apart,
 * and both are reached or neither. Return the edges traversed.
 */
static uint64_t validate(uint32_t root)
{
	uint64_t traversed = 0, e;
	uint32_t u;

	for (u = 0; u < vertices; u++) {
		bool hangs = u == root;

		for (e = start[u]; e < start[u + 1]; e++) {
			uint32_t v = neighbour[e];

			if ((parent[u] == NONE) != (parent[v] == NONE))
				workload_fail("vertex %u is reached and its neighbour is not", u);
			if (parent[u] == NONE)
				continue;
			if (level[u] > level[v] + 1)
				workload_fail("vertex %u is too far from the root", u);
			hangs |= v == parent[u] && level[u] == level[v] + 1;
			traversed++;
		}
		if (parent[u] != NONE && !hangs)
			workload_fail("vertex %u hangs on nothing", u);
	}
	workload_verified(traversed);
	return traversed / 2;
}

int main(int argc, char **argv)
{
	double inverse = 0, seconds;
	uint64_t i;

	workload_parse(argc, argv, "Breadth-first searches of a Kronecker graph.", options);
	/* Made where it will lie: to move it gives the same, and takes longer. */
	workload_place(&workload.place);
	make_graph();
	workload_place(&(struct list){});

	workload_begin();
	workload_threads(threads, search_all);
	seconds = workload_end();

	/* Again, to validate: which parent a vertex gets may differ, no more. */
	for (i = 0; i < searches; i++) {
		uint32_t root = root_of(i);

		begin_at(root);
		workload_threads(1, one_search);
		if (getenv("BENCH_CORRUPT"))
			level[root] = 7;
		inverse += times[i] / validate(root);
	}
	workload_result(seconds, searches / inverse, "TEPS",
			"\"vertices\":%u,\"edges\":%lu,\"searches\":%lu",
			vertices, edges, searches);
	return 0;
}
