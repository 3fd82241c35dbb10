// SPDX-License-Identifier: GPL-2.0
/*
 * Huge pages from fragmented memory: one page of each two of a node's memory is in
 * use and no huge page is free, so that each one takes about 256 migrations.
 *
 * Source: the compaction results of "Accelerate page migration with batch copying
 * and hardware offload" (RFC v4): on an idle CPU, and beside a busy loop on it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/huge_pages.h"
#include "lib/workload.h"

#define HUGE	(2UL << 20)
/* So many pages at most are in use before: 32 MiB, of which 256 are page tables. */
#define TAKEN	8192
#define TABLES	256

static uint64_t mib = 256, huge = 24;
static bool busy;
static bool stop;
static uint64_t iterations;

static const struct workload_option options[] = {
	{ "mib", 'm', "memory to fragment", .number = &mib, .low = 4, .high = 1 << 20 },
	{ "huge", 'n', "huge pages to get", .number = &huge, .low = 1, .high = 1 << 20 },
	{ "busy", 'B', "beside a busy loop on the same CPU", .flag = &busy },
	{}
};

/* Where the thread that made it runs. */
static void *spin(void *unused)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		__atomic_store_n(&iterations, iterations + 1, __ATOMIC_RELAXED);
	return unused;
}

/* The number behind @name in a file of such lines. */
static uint64_t number_in(const char *path, const char *name)
{
	uint64_t value, found = 0;
	char line[256];
	FILE *f = fopen(path, "re");

	if (!f)
		workload_fail("cannot read %s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)) &&
		    sscanf(line + strlen(name), "%lu", &value) == 1)
			found = value;
	fclose(f);
	return found;
}

/* Pages that are free of the node that memory is placed on, beside what is fragmented. */
static uint64_t spare_pages(void)
{
	char path[80], name[40];
	uint64_t free;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo",
		 workload.place.item[0]);
	snprintf(name, sizeof(name), "Node %d MemFree:", workload.place.item[0]);
	free = number_in(path, name) << 10;
	return free > mib << 20 ? (free - (mib << 20)) / PAGE : 0;
}

/* Have pages in use to the end, each so far from the last one. */
static void hold(uint64_t pages, uint64_t step)
{
	char *p = workload_map((pages + 1) * step);
	uint64_t i;

	if (madvise(p, (pages + 1) * step, MADV_NOHUGEPAGE) && errno != EINVAL)
		workload_fail("madvise: %s", strerror(errno));
	for (i = 0; i < pages; i++)
		p[i * step] = 1;
}

/*
 * What a huge page costs follows from where the fragmented memory lies, and so how far it
 * is to where pages are free; and from which pages the kernel took for itself before:
 * where a page table needs a block of its own kswapd is woken, which has compaction begin
 * anew. Both are chance, for a third of the time, and the same in each run of a kernel that
 * boots in the same way. So a part of the memory and of its blocks for page tables is in
 * use before, a different one with each seed, and as much with each kernel.
 */
static void take_some(void)
{
	uint64_t x = random_start(1);
	uint64_t pages = (random_next(&x) >> 20) % TAKEN;
	uint64_t tables = (random_next(&x) >> 20) % TABLES;

	/* Half of what is free stays so, for the watermarks. */
	if (spare_pages() / 2 < TAKEN)
		workload_fail("no room on node %d to fragment %lu MiB: 64 MiB more have to be free",
			      workload.place.item[0], mib);
	hold(pages, PAGE);
	hold(tables, HUGE);
}

/* Fill the memory, then give one page of each two back. */
static uint64_t *fragment(void)
{
	uint64_t *p = workload_map(mib << 20), page, x = random_start(0);
	const uint64_t words = PAGE / sizeof(*p);

	if (madvise(p, mib << 20, MADV_NOHUGEPAGE) && errno != EINVAL)
		workload_fail("madvise: %s", strerror(errno));
	for (page = 0; page < (mib << 20) / PAGE; page++)
		p[page * words] = line_value(page);
	for (page = 0; page < (mib << 20) / PAGE; page += 2)
		if (madvise(p + (page + (random_next(&x) >> 63)) * words, PAGE,
			    MADV_DONTNEED))
			workload_fail("madvise: %s", strerror(errno));
	return p;
}

/* So many faults have got huge pages. */
static uint64_t huge_pages(void)
{
	return number_in("/proc/vmstat", "thp_fault_alloc ");
}

/* Room for @n huge pages. */
static char *huge_area(uint64_t n)
{
	char *area = workload_map((n + 1) * HUGE);

	area = (char *)(((uintptr_t)area + HUGE - 1) & -HUGE);
	if (madvise(area, n * HUGE, MADV_HUGEPAGE))
		workload_fail("no huge pages: %s", strerror(errno));
	return area;
}

/* Take all huge pages that are there without compaction. */
static uint64_t take_free(void)
{
	uint64_t most = number_in("/proc/meminfo", "MemFree:") / (HUGE >> 10);
	uint64_t before = huge_pages(), n;
	char *area = huge_area(most);

	setting(THP "defrag", "never");
	for (n = 0; n < most; n++) {
		area[n * HUGE] = 1;
		if (huge_pages() != before + n + 1)
			break;
	}
	return n;
}

int main(int argc, char **argv)
{
	uint64_t *filler, page, i, got, moved, ballast, spun, x;
	pthread_t thread;
	double seconds;
	char *area;

	workload_parse(argc, argv, "Huge pages from fragmented memory.", options);
	/* What is free elsewhere would be taken instead. */
	if (workload.place.n != 1 || workload.place.spill)
		workload_fail("--place needs one node");
	/* As the source has it: nobody else looks for huge pages meanwhile, or makes some. */
	setting("/proc/sys/vm/compaction_proactiveness", "0");
	khugepaged_rests();
	setting(THP "enabled", "madvise");
	workload_place(&workload.place);
	take_some();
	filler = fragment();
	ballast = take_free();
	setting(THP "defrag", "always");
	area = huge_area(huge);
	if (busy && pthread_create(&thread, NULL, spin, NULL))
		workload_fail("no thread");

	got = huge_pages();
	moved = number_in("/proc/vmstat", "pgmigrate_success ");
	workload_begin();
	spun = iterations;
	for (i = 0; i < huge; i++)
		area[i * HUGE] = 1;
	spun = iterations - spun;
	seconds = workload_end();
	got = huge_pages() - got;
	moved = number_in("/proc/vmstat", "pgmigrate_success ") - moved;

	if (busy) {
		__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
		pthread_join(thread, NULL);
	}
	if (getenv("BENCH_CORRUPT"))
		filler[0]++, filler[PAGE / sizeof(*filler)]++;
	for (page = 0, x = random_start(0); page < (mib << 20) / PAGE; page += 2) {
		uint64_t kept = page + !(random_next(&x) >> 63);

		if (filler[kept * (PAGE / sizeof(*filler))] != line_value(kept))
			workload_fail("page %lu was not moved rightly", kept);
	}
	workload_verified((mib << 20) / PAGE / 2);
	/*
	 * Where compaction is put off, small pages come instead, and soon: who gets
	 * fewer would look faster.
	 */
	if (got != huge)
		workload_fail("%lu of %lu huge pages came as one", got, huge);
	/* Blocks that had begun to be free elsewhere take fewer than 256. */
	if (moved < got * 128)
		workload_fail("%lu huge pages took %lu migrations: they were free before",
			      got, moved);
	/*
	 * Not migrations: who needs fewer for a huge page is not slower. How many it
	 * takes depends on where it is looked for.
	 */
	workload_result(seconds, huge / seconds, "huge pages/s",
			"\"huge\":%lu,\"as_huge\":%lu,\"migrated\":%lu,"
			"\"free_before\":%lu,\"spins\":%lu",
			huge, got, moved, ballast, spun);
	return 0;
}
