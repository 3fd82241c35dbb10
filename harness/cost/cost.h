/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _COST_H
#define _COST_H

#include <linux/types.h>

#include "hotmap.h"

/* A node's worth of hot map in memory of the benchmark's choosing. */
struct cost_map {
	struct pghot_map map;
	struct pghot_map_node node;
	struct pghot_tunables t;
	unsigned long sections;
	u8 *base;		/* where its memory is */
	size_t bytes;
};

/* Of repeated measurements. */
struct cost_stat {
	double min, median, max;
};

struct cost_options {
	unsigned long sections;	/* of 128 MiB */
	unsigned long accesses;	/* in one measurement */
	unsigned int reps;
	unsigned int threads;	/* at most */
};

void cost_map_init(struct cost_map *b, unsigned long sections, bool precise);
void cost_map_exit(struct cost_map *b);
/* Where a page's record is. */
u8 *cost_record_at(struct cost_map *b, unsigned long pfn);
void cost_take_ready(struct cost_map *b);
/* Without a record, as it was at first. */
void cost_map_empty(struct cost_map *b);

double cost_cpu_ns(void);
double cost_ns(void);
u64 cost_random(u64 *state);
struct cost_stat cost_stat(double *values, unsigned int nr);
/* As a JSON member, with a comma after it. */
void cost_print(const char *name, struct cost_stat s);

void cost_records(const struct cost_options *o, bool precise);
void cost_scans(const struct cost_options *o, bool precise);

#endif
