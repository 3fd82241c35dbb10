// SPDX-License-Identifier: GPL-2.0
/* A walk over the whole node, by how much of it is hot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/array_size.h>
#include <linux/mmzone.h>

#include "cost.h"
#include "hotmap_layout.h"

#define BAR_IDLE_US	50.0	/* with nothing hot */
#define BAR_GROWTH	1.5	/* of the cost a hot block, from few to many */
#define MAX_REPS	101
#define CACHE_BYTES	(96UL << 20)
#define NOW_MS		1000

static const double hot_shares[] = { 0.001, 0.01, 0.1 };

/* Push the map out of the CPU's caches. */
static void make_cold(void)
{
	static u8 *buffer;

	if (!buffer)
		buffer = malloc(CACHE_BYTES);
	if (!buffer)
		exit(1);
	memset(buffer, 1, CACHE_BYTES);
}

static unsigned long walk(struct cost_map *b, bool collect)
{
	static struct pghot_entry entries[PGHOT_BLOCK_PAGES];
	struct pghot_cursor c = { };
	unsigned long pfn, blocks = 0, found = 0;
	bool more = false;

	while (pghot_map_next_block(&b->map, &b->node, &c, &pfn)) {
		blocks++;
		if (collect)
			found += pghot_map_collect(&b->map, pfn, 0, NOW_MS,
						   &b->t, entries, &more);
	}
	if (collect && found < blocks)
		abort();
	return blocks;
}

static double idle(struct cost_map *b, const struct cost_options *o,
		   bool cold)
{
	double us[MAX_REPS];
	struct cost_stat s;
	unsigned int rep;

	walk(b, false);
	for (rep = 0; rep < o->reps; rep++) {
		double start;

		if (cold)
			make_cold();
		start = cost_ns();
		if (walk(b, false))
			abort();
		us[rep] = (cost_ns() - start) / 1e3;
	}
	s = cost_stat(us, o->reps);
	cost_print(cold ? "idle_cold_us" : "idle_us", s);
	return s.median;
}

/* ns a hot block when @share of all blocks have a ready record. */
static double hot(struct cost_map *b, const struct cost_options *o,
		  double share, bool collect)
{
	unsigned long nr = b->sections * PAGES_PER_SECTION / PGHOT_BLOCK_PAGES;
	unsigned long *pages = calloc(nr, sizeof(*pages));
	struct pghot_access access = { .weight = 2 };
	struct pghot_map_node *node;
	double ns[MAX_REPS];
	u64 random = 1;
	unsigned int rep;
	struct cost_stat s;

	if (!pages)
		exit(1);
	for (rep = 0; rep < o->reps; rep++) {
		unsigned long i, blocks, marked = 0;
		double start;

		for (i = 0; i < nr; i++) {
			unsigned long page = cost_random(&random);

			if (page >> 11 >= share * (double)(1ULL << 53))
				continue;
			page = i * PGHOT_BLOCK_PAGES + page % PGHOT_BLOCK_PAGES;
			access.pfn = page;
			pghot_map_record(&b->map, &access, NOW_MS, &b->t, &node);
			pages[marked++] = page;
		}
		make_cold();
		start = cost_ns();
		blocks = walk(b, collect);
		ns[rep] = (cost_ns() - start) / (blocks ? blocks : 1);
		if (blocks != marked)
			abort();
		while (marked)
			pghot_map_take(&b->map, pages[--marked]);
	}
	free(pages);
	s = cost_stat(ns, o->reps);
	cost_print(collect ? "walk_and_collect_ns" : "walk_ns", s);
	return s.median;
}

/*
 * ns for the first access in an era to a group that has a record, with its other
 * records to be gone through; and for one in the same era beside it.
 */
static void eras(struct cost_map *b, const struct cost_options *o)
{
	unsigned long nr = b->sections * PAGES_PER_SECTION / GROUP_PAGES;
	struct pghot_access access = { .weight = 1 };
	const char *const names[] = { "first_in_an_era_ns", "in_an_era_ns" };
	double ns[ARRAY_SIZE(names)][MAX_REPS];
	struct pghot_map_node *node;
	u32 now = NOW_MS;
	unsigned int rep, way;
	unsigned long i;

	for (rep = 0; rep < o->reps; rep++) {
		now += 2 * pghot_era_buckets(pghot_map_layout(&b->map)) * 1000;
		for (way = 0; way < ARRAY_SIZE(names); way++) {
			double start;

			make_cold();
			start = cost_ns();
			for (i = 0; i < nr; i++) {
				access.pfn = i * GROUP_PAGES + way;
				pghot_map_record(&b->map, &access, now, &b->t,
						 &node);
			}
			ns[way][rep] = (cost_ns() - start) / nr;
		}
	}
	for (way = 0; way < ARRAY_SIZE(names); way++)
		cost_print(names[way], cost_stat(ns[way], o->reps));
}

void cost_scans(const struct cost_options *o, bool precise)
{
	double warm, cold, cost[ARRAY_SIZE(hot_shares)], growth;
	struct cost_map b;
	unsigned int i;

	cost_map_init(&b, o->sections, precise);
	warm = idle(&b, o, false);
	cold = idle(&b, o, true);
	printf("\"idle_bar\": {\"us\": %.3f, \"below\": %.0f, \"met\": %s}, ",
	       cold, BAR_IDLE_US,
	       warm < BAR_IDLE_US && cold < BAR_IDLE_US ? "true" : "false");
	eras(&b, o);
	/* What is left is of another time. */
	cost_map_empty(&b);
	printf("\"hot\": [");
	for (i = 0; i < ARRAY_SIZE(hot_shares); i++) {
		printf("%s{", i ? ", " : "");
		hot(&b, o, hot_shares[i], false);
		cost[i] = hot(&b, o, hot_shares[i], true);
		printf("\"share_of_blocks\": %g}", hot_shares[i]);
	}
	growth = cost[ARRAY_SIZE(cost) - 1] / cost[0];
	printf("], \"hot_bar\": {\"growth_of_cost_a_hot_block\": %.3f, "
	       "\"at_most\": %.1f, \"met\": %s}", growth, BAR_GROWTH,
	       growth <= BAR_GROWTH ? "true" : "false");
	cost_map_exit(&b);
}
