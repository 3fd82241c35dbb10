// SPDX-License-Identifier: GPL-2.0
/*
 * Nothing to promote: all that is used lies in DRAM, and what lies in the slow
 * memory is not used. What a run takes longer than the bounds is overhead.
 */
#include "lib/lines.h"

static uint64_t mib = 32, cold_mib = 256, accesses = 12000000;
static int threads = 2;
static struct list cold_place;
static struct lines area, cold;
static uint64_t pages;

static const struct argp_option options[] = {
	{ "mib", 'm', "N", 0, "size of what is used (default: 32)", 0 },
	{ "cold-mib", 'C', "N", 0, "size of what is not (default: 256)", 0 },
	{ "cold-place", 'P', "NODES", 0, "nodes of what is not used", 0 },
	{ "accesses", 'n', "N", 0, "of each thread (default: 12000000)", 0 },
	{ "threads", 't', "N", 0, "(default: 2)", 0 },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'm':
		mib = bench_number(state, "mib", arg, 1, 1 << 20);
		return 0;
	case 'C':
		cold_mib = bench_number(state, "cold-mib", arg, 1, 1 << 20);
		return 0;
	case 'P':
		cold_place = bench_list(state, "cold-place", arg);
		return 0;
	case 'n':
		accesses = bench_number(state, "accesses", arg, 1, UINT64_MAX);
		return 0;
	case 't':
		threads = bench_number(state, "threads", arg, 1, MAX_THREADS);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void touch(int thread)
{
	uint64_t x = random_start(thread), differ = 0, n;

	bench_barrier();
	for (n = 0; n < accesses; n++) {
		uint64_t r = random_next(&x);

		differ |= lines_access(&area, lines_pick(r, 0, pages), r & 1);
	}
	lines_differ(differ);
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .children = bench_options,
		.doc = "Accesses to DRAM beside unused slow memory.",
	};
	double seconds;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	/* One line a page is enough for data that nobody uses. */
	cold = lines_map(cold_mib, &cold_place, PAGE / LINE);
	area = lines_map(mib, &bench.place, 1);
	pages = (mib << 20) / PAGE;

	bench_begin();
	bench_threads(threads, touch);
	seconds = bench_end();

	lines_verify(&cold);
	lines_verify(&area);
	bench_result(seconds, threads * accesses / seconds, "accesses/s",
		     "\"pages\":%lu", pages);
	return 0;
}
