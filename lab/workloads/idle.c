// SPDX-License-Identifier: GPL-2.0
/*
 * Nothing worth promoting: what is used lies in DRAM. Of the data in slow memory a part is
 * read over and over, a page once in many accesses to DRAM, and the rest is not used. What
 * a run takes longer than the bounds is overhead: hint faults, records, and pages that are
 * promoted because their one access came soon after a scan.
 */
#include "lib/lines.h"

#define STRIDE	1000003	/* a prime: all pages have their turn, in an order unlike that of scans */

static uint64_t mib = 32, cold_mib = 256, rare_mib, every = 256;
static uint64_t accesses = 12000000, threads = 2;
static struct list cold_place;
static struct lines area, cold;
static uint64_t pages, rare;

static const struct workload_option options[] = {
	{ "mib", 'm', "size of what is used", .number = &mib, .low = 1, .high = 1 << 20 },
	{ "cold-mib", 'C', "size of what is not", .number = &cold_mib, .low = 1, .high = 1 << 20 },
	{ "cold-place", 'P', "nodes of what is not used", .nodes = &cold_place },
	{ "rare-mib", 'R', "so much of it is read, page by page", .number = &rare_mib, .low = 0, .high = 1 << 20 },
	{ "every", 'e', "accesses between two of these pages", .number = &every, .low = 1, .high = 1 << 30 },
	{ "accesses", 'n', "of each thread", .number = &accesses, .low = 1, .high = UINT64_MAX },
	{ "threads", 't', "", .number = &threads, .low = 1, .high = MAX_THREADS },
	{}
};

static void touch(int thread)
{
	uint64_t x = random_start(thread), differ = 0, page = thread, n, more;

	workload_barrier();
	for (n = 0; n < accesses; n += more) {
		more = accesses - n < every ? accesses - n : every;
		differ |= lines_mixed(&area, &x, 0, pages, more, true);
		if (!rare)
			continue;
		/* Threads take turns; the one line of a page that is filled. */
		differ |= lines_access(&cold, page * STRIDE % rare * (PAGE / LINE), false);
		page += threads;
	}
	lines_differ(differ);
}

int main(int argc, char **argv)
{
	double seconds;

	workload_parse(argc, argv, "Accesses to DRAM beside slow memory that is hardly used.",
		       options);
	if (rare_mib > cold_mib)
		workload_fail("--rare-mib: more than the %lu MiB of --cold-mib", cold_mib);
	cold = lines_map(cold_mib, &cold_place, PAGE / LINE);
	area = lines_map(mib, &workload.place, 1);
	pages = (mib << 20) / PAGE;
	rare = (rare_mib << 20) / PAGE;

	seconds = workload_measure(threads, touch);

	lines_verify(&cold);
	lines_verify(&area);
	workload_result(seconds, threads * accesses / seconds, "accesses/s",
			"\"pages\":%lu,\"rare_pages\":%lu", pages, rare);
	return 0;
}
