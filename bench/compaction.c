// SPDX-License-Identifier: GPL-2.0
/*
 * Huge pages from fragmented memory: every second page of a node's memory is in
 * use, so that each huge page takes 256 migrations.
 *
 * Source: the compaction results of "Accelerate page migration with batch copying
 * and hardware offload" (RFC v4): on an idle CPU, and beside a busy loop on it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/bench.h"

#define HUGE	(2UL << 20)

static uint64_t mib = 256, huge = 24;
static bool busy;
static bool stop;
static uint64_t iterations;

static const struct bench_option options[] = {
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

/* Fill the memory, then give every second page back. */
static uint64_t *fragment(void)
{
	uint64_t *p = bench_map(mib << 20), page;
	const uint64_t words = PAGE / sizeof(*p);

	if (madvise(p, mib << 20, MADV_NOHUGEPAGE) && errno != EINVAL)
		bench_fail("madvise: %s", strerror(errno));
	for (page = 0; page < (mib << 20) / PAGE; page++)
		p[page * words] = line_value(page);
	for (page = 1; page < (mib << 20) / PAGE; page += 2)
		if (madvise(p + page * words, PAGE, MADV_DONTNEED))
			bench_fail("madvise: %s", strerror(errno));
	return p;
}

static void set(const char *name, const char *value)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		bench_fail("cannot write %s: %s", name, strerror(errno));
	close(fd);
}

/* Touch one huge page after the other; return how many came as such. */
static uint64_t take(char *area)
{
	uint64_t i, got = 0, kib;
	char line[256];
	FILE *f;

	for (i = 0; i < huge; i++)
		area[i * HUGE] = 1;
	f = fopen("/proc/self/smaps_rollup", "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "AnonHugePages: %lu", &kib) == 1)
			got = kib / (HUGE >> 10);
	if (f)
		fclose(f);
	return got;
}

int main(int argc, char **argv)
{
	uint64_t *filler, page, got, spun;
	pthread_t thread;
	double seconds;
	char *area;

	bench_parse(argc, argv, "Huge pages from fragmented memory.", options);
	set("/sys/kernel/mm/transparent_hugepage/enabled", "madvise");
	set("/sys/kernel/mm/transparent_hugepage/defrag", "always");
	bench_place(&bench.place);
	filler = fragment();
	area = bench_map((huge + 1) * HUGE);
	area = (char *)(((uintptr_t)area + HUGE - 1) & -HUGE);
	if (madvise(area, huge * HUGE, MADV_HUGEPAGE))
		bench_fail("no huge pages: %s", strerror(errno));
	if (busy && pthread_create(&thread, NULL, spin, NULL))
		bench_fail("no thread");

	bench_begin();
	spun = iterations;
	got = take(area);
	spun = iterations - spun;
	seconds = bench_end();

	if (busy) {
		__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
		pthread_join(thread, NULL);
	}
	if (getenv("BENCH_CORRUPT"))
		filler[0]++;
	for (page = 0; page < (mib << 20) / PAGE; page += 2)
		if (filler[page * (PAGE / sizeof(*filler))] != line_value(page))
			bench_fail("page %lu was not moved rightly", page);
	/* Where compaction is put off, small pages come instead, and soon. */
	if (!got)
		bench_fail("no huge page came as one");
	bench_result(seconds, got / seconds, "huge pages/s",
		     "\"huge\":%lu,\"as_huge\":%lu,\"spins\":%lu", huge, got, spun);
	return 0;
}
