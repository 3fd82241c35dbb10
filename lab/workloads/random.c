// SPDX-License-Identifier: GPL-2.0
/*
 * Threads access pages of a shared area at random, one line of a page at a time.
 *
 * Source: the microbenchmark of "mm: Hot page tracking and promotion
 * infrastructure" (v3): anonymous memory with half stores, a mapped file that is
 * only read, huge pages with half stores; each thread's accesses are fixed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/lines.h"

#define HUGE	(2UL << 20)

enum { ANON, MAPPED_FILE, THP };

static const char *const kinds[] = { "anon", "file", "thp", NULL };
static uint64_t kind = ANON;
static const char *path = "/mnt/random";
static uint64_t mib = 64, accesses = 8000000, threads = 2;
static struct lines area = { .step = 1 };
static uint64_t pages;

static const struct workload_option options[] = {
	{ "kind", 'k', "what is accessed", .number = &kind, .choices = kinds },
	{ "file", 'f', "of --kind file", .text = &path },
	{ "mib", 'm', "size of the area", .number = &mib, .low = 2, .high = 1 << 20 },
	{ "accesses", 'n', "of each thread", .number = &accesses, .low = 1, .high = UINT64_MAX },
	{ "threads", 't', "", .number = &threads, .low = 1, .high = MAX_THREADS },
	{}
};

static void *map_file(size_t bytes)
{
	uint64_t words[PAGE / sizeof(uint64_t)] = {}, line, at;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	void *p;

	if (fd < 0)
		workload_fail("cannot create %s: %s", path, strerror(errno));
	for (at = 0, line = 0; at < bytes; at += PAGE) {
		for (size_t i = 0; i < PAGE / LINE; i++)
			words[i * LINE / sizeof(*words)] = line_value(line++);
		if (write(fd, words, PAGE) != (ssize_t)PAGE)
			workload_fail("cannot write %s: %s", path, strerror(errno));
	}
	if (fsync(fd))
		workload_fail("cannot write %s: %s", path, strerror(errno));
	/* Read-only mappings of files are left out by NUMA balancing. */
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		workload_fail("cannot map %s: %s", path, strerror(errno));
	close(fd);
	return p;
}

/* How much of the area, in MiB, is mapped by huge pages. */
static uint64_t huge_mib(void)
{
	unsigned long begin, end, kib, sum = 0;
	uint64_t from = (uint64_t)area.word, to = from + (mib << 20);
	FILE *f = fopen("/proc/self/smaps", "re");
	bool within = false;
	char line[256];

	if (!f)
		workload_fail("cannot read /proc/self/smaps: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
			within = begin < to && end > from;
		else if (within && sscanf(line, "AnonHugePages: %lu kB", &kib) == 1)
			sum += kib;
	}
	fclose(f);
	return sum >> 10;
}

static void *map_anonymous(size_t bytes)
{
	char *p = workload_map(bytes + HUGE);

	p = (char *)(((uintptr_t)p + HUGE - 1) & -HUGE);
	if (madvise(p, bytes, kind == THP ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) &&
	    kind == THP)
		workload_fail("no huge pages: %s", strerror(errno));
	return p;
}

static void touch(int thread)
{
	uint64_t x = random_start(thread);

	workload_barrier();
	lines_differ(lines_mixed(&area, &x, 0, pages, accesses, kind != MAPPED_FILE));
}

/* The file is in the page cache; the measured part does not begin with faults. */
static void map_all(void)
{
	uint64_t page;

	for (page = 0; page < pages; page++)
		lines_differ(lines_access(&area, page * (PAGE / LINE), false));
}

int main(int argc, char **argv)
{
	uint64_t huge = 0;
	double seconds;

	workload_parse(argc, argv, "Random accesses to the pages of a shared area.", options);
	workload_place(&workload.place);
	pages = (mib << 20) / PAGE;
	area.n = pages * (PAGE / LINE);
	area.word = kind == MAPPED_FILE ? map_file(mib << 20) :
					  map_anonymous(mib << 20);
	if (kind == MAPPED_FILE)
		map_all();
	else
		lines_fill(&area);
	workload_place(&(struct list){});
	if (kind == THP) {
		huge = huge_mib();
		if (huge < mib / 2 * 2)
			workload_fail("only %lu of %lu MiB are huge pages", huge, mib);
	}

	seconds = workload_measure(threads, touch);

	lines_verify(&area);
	workload_result(seconds, threads * accesses / seconds, "accesses/s",
			"\"pages\":%lu,\"threads\":%lu,\"huge_mib\":%lu,\"huge_mib_after\":%lu",
			pages, threads, huge, kind == THP ? huge_mib() : 0);
	return 0;
}
