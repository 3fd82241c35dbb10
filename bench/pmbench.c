// SPDX-License-Identifier: GPL-2.0
/*
 * Threads access an area larger than DRAM by a distribution of addresses, reads
 * and writes 80 to 20.
 *
 * Source: "NUMA balancing: optimize memory placement for memory tiering system"
 * (V7), which measured pmbench with a normal distribution of addresses.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lines.h"

#define TABLE	65536	/* addresses are drawn from a table of the distribution */

enum shape { NORMAL, UNIFORM, PARETO };

static enum shape shape = NORMAL;
static uint64_t mib = 320, accesses = 5000000, writes = 20;
static int threads = 4;
static struct lines area;
static uint64_t pages;
static uint32_t table[TABLE];

static const struct argp_option options[] = {
	{ "shape", 'd', "SHAPE", 0, "normal (default), uniform or pareto", 0 },
	{ "mib", 'm', "N", 0, "size of the area (default: 320)", 0 },
	{ "accesses", 'n', "N", 0, "of each thread (default: 5000000)", 0 },
	{ "threads", 't', "N", 0, "(default: 4)", 0 },
	{ "writes", 'w', "PERCENT", 0, "(default: 20)", 0 },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const shapes[] = { "normal", "uniform", "pareto" };

	switch (key) {
	case 'd':
		for (shape = NORMAL; shape <= PARETO; shape++)
			if (!strcmp(arg, shapes[shape]))
				return 0;
		argp_error(state, "--shape: '%s' is none of normal, uniform, pareto",
			   arg);
		return 0;
	case 'm':
		mib = bench_number(state, "mib", arg, 1, 1 << 20);
		return 0;
	case 'n':
		accesses = bench_number(state, "accesses", arg, 1, UINT64_MAX);
		return 0;
	case 't':
		threads = bench_number(state, "threads", arg, 1, MAX_THREADS);
		return 0;
	case 'w':
		writes = bench_number(state, "writes", arg, 0, 100);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Inverse of the normal distribution's cumulative function, by bisection. */
static double normal_quantile(double p)
{
	double low = -8, high = 8;

	while (high - low > 1e-9) {
		double middle = (low + high) / 2;

		if (erfc(-middle / sqrt(2)) / 2 < p)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Page number at each quantile. */
static void make_table(void)
{
	uint32_t i;

	for (i = 0; i < TABLE; i++) {
		double p = (i + 0.5) / TABLE, at;

		switch (shape) {
		case NORMAL:
			/* Four standard deviations each way span the area. */
			at = 0.5 + normal_quantile(p) / 8;
			break;
		case PARETO:
			/* 80% of the accesses go to 20% of the pages. */
			at = (pow(1 - p, -1 / 1.16) - 1) / 1000;
			break;
		default:
			at = p;
		}
		at *= pages;
		table[i] = at < 0 ? 0 : at >= pages ? pages - 1 : at;
	}
}

static void touch(int thread)
{
	uint64_t x = random_start(thread), differ = 0, n;
	uint64_t limit = writes * 256 / 100;

	bench_barrier();
	for (n = 0; n < accesses; n++) {
		uint64_t r = random_next(&x);
		uint32_t at = (r >> 40) % TABLE;
		/* Between two quantiles, so that no page is left out. */
		uint64_t page = shape == UNIFORM ? (r >> 24) % pages :
			table[at] + (at + 1 < TABLE && table[at + 1] > table[at] ?
				     (r >> 24) % (table[at + 1] - table[at]) : 0);

		differ |= lines_access(&area, page * (PAGE / LINE) + (r >> 8) % 64,
				       (r & 255) < limit);
	}
	lines_differ(differ);
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .children = bench_options,
		.doc = "Accesses by a distribution of addresses.",
	};
	double seconds;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	pages = (mib << 20) / PAGE;
	make_table();
	area = lines_map(mib, &bench.place, 1);

	bench_begin();
	bench_threads(threads, touch);
	seconds = bench_end();

	lines_verify(&area);
	bench_result(seconds, threads * accesses / seconds, "accesses/s",
		     "\"pages\":%lu,\"threads\":%d", pages, threads);
	return 0;
}
