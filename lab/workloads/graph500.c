// SPDX-License-Identifier: GPL-2.0
/*
 * Breadth-first searches of a Kronecker graph, after the Graph500 specification:
 * edge factor 16, initiator A .57 B .19 C .19, searches from vertices with edges,
 * harmonic mean of traversed edges per second.
 *
 * Source: the Graph500 results of "mm: Hot page tracking and promotion
 * infrastructure" (v7): the graph is made, then its memory moves to the CXL node,
 * then the searches run on the CPUs of both sockets. There each of 128 bound processes
 * has a part of the vertices in memory of its own, and sends the others' to them. Here
 * a thread is such a process: it alone accesses its part, and what it finds of others'
 * vertices goes through boxes, one for each pair of threads.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/workload.h"

#define NONE		UINT32_MAX
#define MAX_SEARCHES	64
#define BOX		8192	/* messages, so that a round is long beside its barriers */

/**
 * struct message - an edge from a vertex of the sender to one of the receiver
 */
struct message {
	uint32_t from, to;
};

/**
 * struct vertex - what a search knows of one. It takes a line: otherwise the cache would
 * hold all of them, which are far too many for it on a machine that needs tiers.
 */
struct vertex {
	uint32_t parent, level;
} __attribute__((aligned(LINE)));

/**
 * struct part - a thread's vertices, those whose number modulo the threads is its own
 * @start: first neighbour of each of them, and an end
 * @at, @edge: the next place in the queue and edge to expand
 * @reached: vertices of this search; @far: the sum of their levels; @edges: and of
 *	     their neighbours
 * @more: there are vertices of this level left to expand
 * @found: vertices of the next level
 * @box: messages to each other thread, @sent of them
 */
struct part {
	uint64_t *start;
	struct vertex *vertex;
	uint32_t *neighbour, *queue, *next;
	uint32_t queued, at, found;
	uint64_t edge, reached, far, edges;
	bool more;
	struct message *box[MAX_THREADS];
	uint32_t sent[MAX_THREADS];
} __attribute__((aligned(LINE)));

/**
 * struct search - what came of one
 */
struct search {
	double seconds;
	uint64_t reached, far, edges;
};

static uint64_t scale = 18, edge_factor = 16, searches = 6;
static uint64_t threads = 4, again = 3;
static uint32_t vertices, each;
static uint64_t edges;
static struct part part[MAX_THREADS];
static struct search search[MAX_SEARCHES];
static uint32_t depth;

static const struct workload_option options[] = {
	{ "scale", 'S', "logarithm of the number of vertices", .number = &scale, .low = 4, .high = 26 },
	{ "edge-factor", 'e', "edges for each vertex", .number = &edge_factor, .low = 1, .high = 64 },
	{ "searches", 'n', "", .number = &searches, .low = 1, .high = MAX_SEARCHES },
	{ "threads", 't', "each has its own part of the graph", .number = &threads, .low = 1, .high = MAX_THREADS },
	{ "again", 'a', "searches to make again afterwards, and validate, beside the last one", .number = &again, .low = 0, .high = MAX_SEARCHES },
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

static struct part *owner(uint32_t v)
{
	return &part[v % threads];
}

static struct vertex *of(uint32_t v)
{
	return &owner(v)->vertex[v / threads];
}

/* Memory that is there: its pages come one after the other. */
static void *map_now(size_t bytes)
{
	return memset(workload_map(bytes), 0, bytes);
}

static void count(uint32_t v)
{
	owner(v)->start[v / threads + 2]++;
}

static void add(uint32_t v, uint32_t to)
{
	struct part *p = owner(v);

	p->neighbour[p->start[v / threads + 1]++] = to;
}

/* Make the edges twice: once to count, once to store. */
static void make_graph(void)
{
	uint64_t x, e, total;
	uint32_t i, t, u, v;

	vertices = 1u << scale;
	each = (vertices + threads - 1) / threads;
	edges = edge_factor << scale;
	for (t = 0; t < threads; t++) {
		workload_place_for(t, &workload.place);
		part[t].start = map_now((each + 2) * sizeof(*part[t].start));
		part[t].vertex = map_now(each * sizeof(*part[t].vertex));
		part[t].queue = map_now(each * sizeof(*part[t].queue));
		part[t].next = map_now(each * sizeof(*part[t].next));
	}
	for (x = random_start(0), e = 0; e < edges; e++) {
		one_edge(&x, &u, &v);
		count(u);
		count(v);
	}
	for (t = 0; t < threads; t++) {
		for (i = 0, total = 0; i <= each; i++) {
			total += part[t].start[i + 1];
			part[t].start[i + 1] = total;
		}
		workload_place_for(t, &workload.place);
		part[t].neighbour = map_now((total + 1) * sizeof(*part[t].neighbour));
	}
	for (x = random_start(0), e = 0; e < edges; e++) {
		one_edge(&x, &u, &v);
		add(u, v);
		add(v, u);
	}
}

/* They are no part of the graph: each lies where its sender runs, in any run. */
static void make_boxes(void)
{
	static const struct list local = { .local = true };
	uint32_t t, to;

	for (t = 0; t < threads; t++) {
		workload_place_for(t, &local);
		for (to = 0; to < threads; to++)
			part[t].box[to] = map_now(BOX * sizeof(struct message));
	}
	workload_place(&(struct list){});
}

static uint64_t neighbours(uint32_t v)
{
	const uint64_t *start = owner(v)->start + v / threads;

	return start[1] - start[0];
}

static void take(struct part *p, uint32_t from, uint32_t to)
{
	struct vertex *v = &p->vertex[to / threads];

	if (v->parent != NONE)
		return;
	v->parent = from;
	v->level = depth + 1;
	p->next[p->found++] = to;
}

/* Go on with the queue until it ends or a box is full. */
static void expand(struct part *p)
{
	for (; p->at < p->queued; p->at++, p->edge = 0) {
		uint32_t u = p->queue[p->at], i = u / threads;
		const uint32_t *n = p->neighbour + p->start[i];
		uint64_t all = p->start[i + 1] - p->start[i];

		for (; p->edge < all; p->edge++) {
			uint32_t v = n[p->edge], to = v % threads;

			if (&part[to] == p) {
				take(p, u, v);
				continue;
			}
			if (p->sent[to] == BOX)
				return;
			p->box[to][p->sent[to]++] = (struct message){ u, v };
		}
		p->edges += all;
	}
}

static void empty_boxes(int thread)
{
	uint32_t from, i;

	for (from = 0; from < threads; from++) {
		for (i = 0; i < part[from].sent[thread]; i++)
			take(&part[thread], part[from].box[thread][i].from,
			     part[from].box[thread][i].to);
		part[from].sent[thread] = 0;
	}
}

/* One level, round by round. Return how many vertices the next one has. */
static uint64_t one_level(int thread)
{
	struct part *p = &part[thread];
	uint64_t found = 0;
	bool more = true;
	uint32_t t, *swap;

	while (more) {
		expand(p);
		p->more = p->at < p->queued;
		workload_barrier();
		for (more = false, t = 0; t < threads; t++)
			more |= part[t].more;
		empty_boxes(thread);
		workload_barrier();
	}
	for (t = 0; t < threads; t++)
		found += part[t].found;
	swap = p->queue;
	p->queue = p->next;
	p->next = swap;
	p->queued = p->found;
	p->reached += p->found;
	p->far += (uint64_t)p->found * (depth + 1);
	p->at = 0;
	workload_barrier();
	p->found = 0;
	if (!thread)
		depth++;
	workload_barrier();
	return found;
}

static void begin_at(int thread, uint32_t root)
{
	struct part *p = &part[thread];
	uint32_t i;

	for (i = 0; i < each; i++)
		p->vertex[i].parent = NONE;
	p->queued = p->at = p->found = p->edge = 0;
	p->reached = p->far = p->edges = 0;
	if (owner(root) == p) {
		p->vertex[root / threads] = (struct vertex){ .parent = root };
		p->queue[0] = root;
		p->queued = p->reached = 1;
	}
	if (!thread)
		depth = 0;
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

static void add_up(struct search *s)
{
	uint32_t t;

	for (t = 0; t < threads; t++) {
		s->reached += part[t].reached;
		s->far += part[t].far;
		s->edges += part[t].edges;
	}
}

static uint32_t next_root;

static void search_next(int thread)
{
	begin_at(thread, next_root);
	workload_barrier();
	while (one_level(thread))
		;
}

/* The same threads do all searches: NUMA balancing leaves young ones alone. */
static void search_all(int thread)
{
	double began = 0;
	uint64_t i;

	for (i = 0; i < searches; i++) {
		if (!thread) {
			next_root = root_of(i);
			began = workload_now();
		}
		workload_barrier();
		search_next(thread);
		if (!thread) {
			search[i].seconds = workload_now() - began;
			add_up(&search[i]);
		}
	}
}

/*
 * The specification's rules: each vertex but the root hangs by an edge of the graph
 * on one that is a level nearer, an edge's ends are at most one level apart, and both
 * are reached or neither. And what the search counted is what is there.
 */
static void validate(uint64_t number)
{
	uint32_t root = root_of(number), u;
	struct search there = {};
	uint64_t e;

	if (getenv("BENCH_CORRUPT"))
		of(root)->level = 7;
	for (u = 0; u < vertices; u++) {
		const struct part *p = owner(u);
		uint32_t i = u / threads;
		uint32_t parent = p->vertex[i].parent, level = p->vertex[i].level;
		bool hangs = u == root;

		for (e = p->start[i]; e < p->start[i + 1]; e++) {
			uint32_t v = p->neighbour[e];
			const struct vertex *other = of(v);

			if ((parent == NONE) != (other->parent == NONE))
				workload_fail("vertex %u is reached and its neighbour is not", u);
			if (parent == NONE)
				continue;
			if (level > other->level + 1)
				workload_fail("vertex %u is too far from the root", u);
			hangs |= v == parent && level == other->level + 1;
			there.edges++;
		}
		if (parent == NONE)
			continue;
		if (!hangs)
			workload_fail("vertex %u hangs on nothing", u);
		there.reached++;
		there.far += level;
	}
	if (there.reached != search[number].reached || there.far != search[number].far ||
	    there.edges != search[number].edges)
		workload_fail("search %lu did not count what it reached", number);
	workload_verified(there.edges);
}

/* Roots that another search has reached have reached the same vertices. */
static void compare_with(uint64_t number)
{
	uint64_t i;

	for (i = 0; i < searches; i++) {
		uint32_t root = root_of(i);

		if (of(root)->parent == NONE)
			continue;
		if (search[i].reached != search[number].reached ||
		    search[i].edges != search[number].edges)
			workload_fail("searches %lu and %lu reached different vertices",
				      i, number);
		workload_verified(1);
	}
}

int main(int argc, char **argv)
{
	double inverse = 0, seconds;
	uint64_t i;

	workload_parse(argc, argv, "Breadth-first searches of a Kronecker graph.", options);
	/* Made where it will lie: to move it gives the same, and takes longer. */
	make_graph();
	make_boxes();

	seconds = workload_measure(threads, search_all);

	validate(searches - 1);
	compare_with(searches - 1);
	for (i = 0; i < again && i + 1 < searches; i++) {
		next_root = root_of(i);
		workload_threads(threads, search_next);
		validate(i);
	}
	for (i = 0; i < searches; i++)
		inverse += search[i].seconds * 2 / search[i].edges;
	workload_result(seconds, searches / inverse, "TEPS",
			"\"vertices\":%u,\"edges\":%lu,\"searches\":%lu",
			vertices, edges, searches);
	return 0;
}
