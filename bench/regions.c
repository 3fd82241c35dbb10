// SPDX-License-Identifier: GPL-2.0
/*
 * DRAM is full of data that nobody uses; one part of the slow memory after the
 * other is accessed at random.
 *
 * Source: the second mail of "mm: Hot page tracking and promotion infrastructure"
 * (v3): of 160 regions 120 lie in DRAM and are cold, 40 lie in CXL memory and are
 * hot in turn; half of the accesses are stores.
 */
#include "lib/lines.h"

static uint64_t region_mib = 8, accesses = 3000000, cold_mib = 256;
static uint64_t regions = 6;
static struct list cold_place;
static struct lines cold, hot;

static const struct argp_option options[] = {
	{ "cold-place", 'P', "NODES", 0, "nodes of the cold data", 0 },
	{ "cold-mib", 'C', "N", 0, "size of the cold data (default: 256)", 0 },
	{ "region-mib", 'm', "N", 0, "size of one region (default: 8)", 0 },
	{ "regions", 'r', "N", 0, "hot ones, in turn (default: 6)", 0 },
	{ "accesses", 'n', "N", 0, "to each region (default: 3000000)", 0 },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'P':
		cold_place = bench_list(state, "cold-place", arg);
		return 0;
	case 'C':
		cold_mib = bench_number(state, "cold-mib", arg, 0, 1 << 20);
		return 0;
	case 'm':
		region_mib = bench_number(state, "region-mib", arg, 1, 1 << 20);
		return 0;
	case 'r':
		regions = bench_number(state, "regions", arg, 1, 1 << 16);
		return 0;
	case 'n':
		accesses = bench_number(state, "accesses", arg, 1, UINT64_MAX);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void touch(int thread)
{
	uint64_t x = random_start(thread), differ = 0, n, region;
	uint64_t pages = (region_mib << 20) / PAGE;

	for (region = 0; region < regions; region++) {
		for (n = 0; n < accesses; n++) {
			uint64_t r = random_next(&x);
			uint64_t line = lines_pick(r, region * pages, pages);

			differ |= lines_access(&hot, line, r & 1);
		}
	}
	lines_differ(differ);
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .children = bench_options,
		.doc = "One region after the other is hot, DRAM is full of cold data.",
	};
	double seconds;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	/* One line a page is enough for data that nobody uses. */
	cold = lines_map(cold_mib, &cold_place, PAGE / LINE);
	hot = lines_map(region_mib * regions, &bench.place, 1);

	bench_begin();
	bench_threads(1, touch);
	seconds = bench_end();

	lines_verify(&hot);
	lines_verify(&cold);
	bench_result(seconds, regions * accesses / seconds, "accesses/s",
		     "\"regions\":%lu", regions);
	return 0;
}
