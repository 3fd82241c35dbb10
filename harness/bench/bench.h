/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _BENCH_H
#define _BENCH_H

#include <linux/types.h>

#include "hotmap.h"

/* A node's worth of hot map in memory of the benchmark's choosing. */
struct bench_map {
	struct pghot_map map;
	struct pghot_map_node node;
	struct pghot_tunables t;
	unsigned long sections;
	u8 *base;		/* where all sections are */
	size_t bytes;
	size_t stride;		/* from one section to the next */
	size_t records;		/* from a section's start to its records */
};

/* Of repeated measurements. */
struct bench_stat {
	double min, median, max;
};

struct bench_options {
	unsigned long sections;	/* of 128 MiB */
	unsigned long accesses;	/* in one measurement */
	unsigned int reps;
	unsigned int threads;	/* at most */
};

void bench_map_init(struct bench_map *b, unsigned long sections, bool precise);
void bench_map_exit(struct bench_map *b);

double bench_cpu_ns(void);
double bench_ns(void);
u64 bench_random(u64 *state);
struct bench_stat bench_stat(double *values, unsigned int nr);
/* As a JSON member, with a comma after it. */
void bench_print(const char *name, struct bench_stat s);

void bench_records(const struct bench_options *o, bool precise);
void bench_scans(const struct bench_options *o, bool precise);

#endif
