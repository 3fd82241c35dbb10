// SPDX-License-Identifier: GPL-2.0
/*
 * When each page of a randomly accessed memory arrives in the top tier.
 *
 *	promote_times MB NODE CPU WATCH_CPU SECONDS SEED
 *
 * Memory on NODE is accessed in an order that depends on SEED alone, by a worker
 * on CPU. It begins when NUMA balancing's scanner has unmapped the memory for
 * hint faults, so that the order of faults is the same in each run. Every fourth
 * page is left alone. A thread on WATCH_CPU looks every
 * 20 ms where the pages are, until all that are accessed are elsewhere or
 * SECONDS are over. Prints "look N at MICROSECONDS" for each look, counted from
 * the first access, and "page N look N" for each page that was first seen
 * elsewhere then.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "numa.h"

#define LOOK_US		20000UL
/* How often an access reads the page: some 20 microseconds, as a request to a
 * key-value store takes. With nothing between the faults, all that a run shows
 * is who queues for longer.
 */
#define ROUNDS		64

static char *region;
static unsigned long nr_pages;
static uint64_t seed;
static bool scanned, over;
static uint64_t started;

static bool is_cold(unsigned long page)
{
	return page % 4 == 3;
}

static void *work(void *arg)
{
	bind_to((long)arg);
	/* The scanner works in tasks that use CPU time. */
	while (!READ_ONCE(scanned))
		;
	WRITE_ONCE(started, now_us());
	while (!READ_ONCE(over)) {
		unsigned long page, line, round;

		/* xorshift64 */
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		page = seed % nr_pages;
		if (is_cold(page))
			continue;
		for (round = 0; round < ROUNDS; round++)
			for (line = 0; line < PAGE; line += 64)
				READ_ONCE(*(uint64_t *)(region + page * PAGE + line));
	}
	return NULL;
}

static void populate(int node)
{
	/* Aligned, so that both sides of a comparison have the same layout. */
	size_t bytes = nr_pages * PAGE, huge = 2UL << 20;
	unsigned long page;
	int first = node, status;

	region = mmap(NULL, bytes + huge, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (region == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	region = (char *)(((uintptr_t)region + huge - 1) & ~(huge - 1));
	madvise(region, bytes, MADV_NOHUGEPAGE);
	set_policy(MPOL_BIND, 1UL << node);
	for (page = 0; page < nr_pages; page++)
		region[page * PAGE] = 1;
	set_policy(MPOL_DEFAULT, 0);
	/* Gets all pages from per-CPU lists onto the LRU lists. */
	move_pages_of(region, 1, &first, &status);
}

/* How often NUMA balancing's scanner went through all of the memory. */
static unsigned long passes(void)
{
	FILE *f = fopen("/proc/self/sched", "r");
	unsigned long value = 0;
	bool found = false;
	char line[128];

	if (!f)
		die("/proc/self/sched: %s", strerror(errno));
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "mm->numa_scan_seq : %lu", &value) == 1;
	fclose(f);
	if (!found)
		die("/proc/self/sched: no numa_scan_seq: a kernel without NUMA balancing?");
	return value;
}

int main(int argc, char **argv)
{
	unsigned long page, left = 0, look = 0, hot, i;
	unsigned long *waiting, before;
	int node, *status;
	pthread_t thread;
	uint64_t now, end;
	void **where;

	if (argc != 7)
		die("usage: promote_times MB NODE CPU WATCH_CPU SECONDS SEED");
	nr_pages = strtoul(argv[1], NULL, 10) << 8;
	node = atoi(argv[2]);
	seed = strtoull(argv[6], NULL, 10) * 0x9e3779b97f4a7c15ULL | 1;

	waiting = calloc(nr_pages, sizeof(*waiting));
	where = calloc(nr_pages, sizeof(*where));
	status = calloc(nr_pages, sizeof(*status));
	if (!waiting || !where || !status)
		die("no memory");
	bind_to(atoi(argv[4]));
	populate(node);
	for (page = 0; page < nr_pages; page++)
		waiting[left++] = page;

	before = passes();
	if (pthread_create(&thread, NULL, work, (void *)(long)atoi(argv[3])))
		die("cannot start a thread");
	end = now_us() + strtoull(argv[5], NULL, 10) * 1000000ULL;
	/* Not by the pages it unmapped: what a source of pghot has promoted already is
	 * not among them.
	 */
	while (passes() == before)
		if (now_us() > end)
			die("the memory is not scanned: is NUMA balancing on?");
	WRITE_ONCE(scanned, true);
	while (!READ_ONCE(started))
		nap_ms(1);
	end = started + strtoull(argv[5], NULL, 10) * 1000000ULL;
	do {
		unsigned long kept = 0;

		/* At the same times whatever a look takes. */
		now = now_us();
		if (now < started + look * LOOK_US)
			usleep(started + look * LOOK_US - now);
		now = now_us();
		for (i = 0; i < left; i++)
			where[i] = region + waiting[i] * PAGE;
		if (syscall(SYS_move_pages, 0, left, where, NULL, status, 0) < 0)
			die("move_pages: %s", strerror(errno));
		printf("look %lu at %lu\n", look, (unsigned long)(now - started));
		for (hot = 0, i = 0; i < left; i++) {
			page = waiting[i];
			/* A negative one is on its way. */
			if (status[i] >= 0 && status[i] != node) {
				printf("page %lu look %lu\n", page, look);
				continue;
			}
			waiting[kept++] = page;
			hot += !is_cold(page);
		}
		left = kept;
		look++;
	} while (hot && now < end);
	WRITE_ONCE(over, true);
	pthread_join(thread, NULL);
	return 0;
}
