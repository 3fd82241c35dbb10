// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <linux/align.h>

#include "cost.h"
#include "harness.h"
#include "hotmap_layout.h"

#define HUGE	(2UL << 20)

/* All sections side by side, in huge pages like the kernel's direct map. */
void cost_map_init(struct cost_map *b, unsigned long sections, bool precise)
{
	unsigned long i;
	u8 *p;

	memset(b, 0, sizeof(*b));
	b->t = (struct pghot_tunables) {
		.freq_threshold = 2, .window_ms = 4000,
	};
	b->sections = sections;
	if (pghot_map_init(&b->map, sections, precise))
		exit(1);
	pghot_map_node_init(&b->node, 2);
	b->bytes = sections * PAGES_PER_SECTION *
		   (pghot_map_layout(&b->map)->bits / 8);
	b->bytes += b->map.nr_roots * ALIGN(sizeof(struct pghot_leaf), 4096UL);
	b->bytes = ALIGN(b->bytes, HUGE);
	p = mmap(NULL, b->bytes + HUGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) {
		perror("memory for the hot map");
		exit(1);
	}
	b->base = (u8 *)ALIGN((unsigned long)p, HUGE);
	madvise(b->base, b->bytes, MADV_HUGEPAGE);
	memset(b->base, 0, b->bytes);
	harness_arena(b->base, b->bytes);
	for (i = 0; i < sections; i++)
		if (pghot_map_add(&b->map, &b->node, i, 2))
			exit(1);
}

/* What kmigrated does meanwhile in the kernel: few records stay ready. */
void cost_take_ready(struct cost_map *b)
{
	static struct pghot_entry entries[PGHOT_BLOCK_PAGES];
	struct pghot_cursor c = { };
	unsigned long pfn;
	bool more;
	unsigned int n;

	while (pghot_map_next_block(&b->map, &b->node, &c, &pfn)) {
		n = pghot_map_collect(&b->map, pfn, 0, 0, &b->t, entries,
				      &more);
		while (n)
			pghot_map_take(&b->map, entries[--n].pfn);
	}
}

void cost_map_empty(struct cost_map *b)
{
	cost_take_ready(b);
	pghot_map_expire(&b->map, &b->node, 0, &b->t, true);
}

u8 *cost_record_at(struct cost_map *b, unsigned long pfn)
{
	struct pghot_section *sec = section_of(&b->map, pfn_to_section_nr(pfn));

	return sec->records + pfn % PAGES_PER_SECTION *
			      (pghot_map_layout(&b->map)->bits / 8);
}

void cost_map_exit(struct cost_map *b)
{
	pghot_map_exit(&b->map);
	munmap(b->base, b->bytes);
	harness_arena(NULL, 0);
}

static double clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* CPU time of this thread: others that use the machine count less. */
double cost_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

double cost_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* A call, so that every loop pays the same for its numbers. */
u64 cost_random(u64 *state)
{
	return harness_random(state);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct cost_stat cost_stat(double *values, unsigned int nr)
{
	qsort(values, nr, sizeof(*values), compare);
	return (struct cost_stat) {
		.min = values[0], .median = values[nr / 2],
		.max = values[nr - 1],
	};
}

void cost_print(const char *name, struct cost_stat s)
{
	printf("\"%s\": {\"min\": %.3f, \"median\": %.3f, \"max\": %.3f}, ",
	       name, s.min, s.median, s.max);
}
