// SPDX-License-Identifier: GPL-2.0
/*
 * Nothing to promote: all that is used lies in DRAM, and what lies in the slow
 * memory is not used. What a run takes longer than the bounds is overhead.
 */
#include "lib/lines.h"

static uint64_t mib = 32, cold_mib = 256, accesses = 12000000, threads = 2;
static struct list cold_place;
static struct lines area, cold;
static uint64_t pages;

static const struct workload_option options[] = {
	{ "mib", 'm', "size of what is used", .number = &mib, .low = 1, .high = 1 << 20 },
	{ "cold-mib", 'C', "size of what is not", .number = &cold_mib, .low = 1, .high = 1 << 20 },
	{ "cold-place", 'P', "nodes of what is not used", .nodes = &cold_place },
	{ "accesses", 'n', "of each thread", .number = &accesses, .low = 1, .high = UINT64_MAX },
	{ "threads", 't', "", .number = &threads, .low = 1, .high = MAX_THREADS },
	{}
};

static void touch(int thread)
{
	uint64_t x = random_start(thread);

	workload_barrier();
	lines_differ(lines_mixed(&area, &x, 0, pages, accesses, true));
}

int main(int argc, char **argv)
{
	double seconds;

	workload_parse(argc, argv, "Accesses to DRAM beside unused slow memory.", options);
	cold = lines_map(cold_mib, &cold_place, PAGE / LINE);
	area = lines_map(mib, &workload.place, 1);
	pages = (mib << 20) / PAGE;

	seconds = workload_measure(threads, touch);

	lines_verify(&cold);
	lines_verify(&area);
	workload_result(seconds, threads * accesses / seconds, "accesses/s",
			"\"pages\":%lu", pages);
	return 0;
}
