// SPDX-License-Identifier: GPL-2.0
/*
 * DRAM is full of data that nobody uses; the parts of the slow memory have their turns in
 * an order by chance, each is accessed at random.
 *
 * Source: the second mail of "mm: Hot page tracking and promotion infrastructure"
 * (v3): of 160 regions 120 lie in DRAM and are cold, 40 lie in CXL memory and are
 * hot in turn; half of the accesses are stores.
 *
 * It does not say in which order. NUMA balancing scans a region in less than half of a
 * turn: turns by address would run beside the scan, and whoever kept up with it at the
 * start would stay with it.
 */
#include "lib/lines.h"

static uint64_t region_mib = 8, accesses = 3000000, cold_mib = 256;
static uint64_t regions = 6;
static struct list cold_place;
static struct lines cold, hot;
static uint64_t *order;

static const struct workload_option options[] = {
	{ "cold-place", 'P', "nodes of the cold data", .nodes = &cold_place },
	{ "cold-mib", 'C', "size of the cold data", .number = &cold_mib, .low = 0, .high = 1 << 20 },
	{ "region-mib", 'm', "size of one region", .number = &region_mib, .low = 1, .high = 1 << 20 },
	{ "regions", 'r', "hot ones, in turn", .number = &regions, .low = 1, .high = 1 << 16 },
	{ "accesses", 'n', "to each region", .number = &accesses, .low = 1, .high = UINT64_MAX },
	{}
};

static void touch(int thread)
{
	uint64_t x = random_start(thread), turn;
	uint64_t pages = (region_mib << 20) / PAGE;

	for (turn = 0; turn < regions; turn++)
		lines_differ(lines_mixed(&hot, &x, order[turn] * pages, pages, accesses, true));
}

int main(int argc, char **argv)
{
	double seconds;

	workload_parse(argc, argv,
		       "One region after the other is hot, DRAM is full of cold data.",
		       options);
	order = random_order(regions);
	cold = lines_map(cold_mib, &cold_place, PAGE / LINE);
	hot = lines_map(region_mib * regions, &workload.place, 1);

	seconds = workload_measure(1, touch);

	lines_verify(&hot);
	lines_verify(&cold);
	workload_result(seconds, regions * accesses / seconds, "accesses/s",
			"\"regions\":%lu,\"first\":%lu,\"last\":%lu", regions, order[0],
			order[regions - 1]);
	return 0;
}
