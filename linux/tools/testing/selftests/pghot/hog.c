// SPDX-License-Identifier: GPL-2.0
/*
 * Takes all room for promotion from nodes, and keeps it taken.
 *
 *	hog NODE...
 *
 * Room is what the kernel means by it (migrate_balanced_pgdat()): a zone with
 * more free pages than its high watermark and reserve. What is taken is locked,
 * so that no reclaim gets it back. Says "full" when no node has any left, and
 * goes on taking what becomes free until it is killed.
 */
#include <stdbool.h>
#include <sys/mman.h>

#include "numa.h"

#define CHUNK	256UL
/* So often in a row memory that a node has may not be had: others may be faster. */
#define FAILURES	1000

/* Pages of one zone above its mark, negative if it is below. */
struct zone {
	long free;
	long high;
	long reserve;
	bool managed;
};

static long room_of(const struct zone *zone)
{
	return zone->managed ? zone->free - zone->high - zone->reserve : 0;
}

static long reserve_for_movable(const char *line)
{
	long value[8] = { 0 };

	/* DMA, DMA32, Normal, Movable, Device: movable pages may use the fourth. */
	if (sscanf(line, " protection: (%ld, %ld, %ld, %ld, %ld", &value[0],
		   &value[1], &value[2], &value[3], &value[4]) < 4)
		return 0;
	return value[3];
}

/* The most room that any zone of @node has. */
static long room(int node)
{
	FILE *f = fopen("/proc/zoneinfo", "r");
	struct zone zone = { 0 };
	long value, most = 0;
	bool mine = false;
	char line[512];
	int n;

	if (!f)
		die("/proc/zoneinfo: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Node %d, zone", &n) == 1) {
			if (mine && room_of(&zone) > most)
				most = room_of(&zone);
			zone = (struct zone){ 0 };
			mine = n == node;
		} else if (sscanf(line, " pages free %ld", &value) == 1) {
			zone.free = value;
		} else if (sscanf(line, " high %ld", &value) == 1 && !zone.high) {
			/* Per-CPU lists have a "high:" too. */
			zone.high = value;
		} else if (sscanf(line, " managed %ld", &value) == 1) {
			zone.managed = value > 0;
		} else if (strstr(line, "protection: (")) {
			zone.reserve = reserve_for_movable(line);
		}
	}
	if (mine && room_of(&zone) > most)
		most = room_of(&zone);
	fclose(f);
	return most;
}

static bool take(int node, unsigned long pages)
{
	char *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return false;
	madvise(p, pages * PAGE, MADV_NOHUGEPAGE);
	set_policy(MPOL_BIND, 1UL << node);
	if (!mlock(p, pages * PAGE))
		return true;
	munmap(p, pages * PAGE);
	return false;
}

int main(int argc, char **argv)
{
	bool said = false;
	int failures = 0;

	if (argc < 2)
		die("usage: hog NODE...");
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (;;) {
		bool full = true;
		int i;

		for (i = 1; i < argc; i++) {
			long pages = room(atoi(argv[i]));

			if (pages <= 0)
				continue;
			full = false;
			/* In steps: statistics lag behind by what CPUs cache. */
			if ((unsigned long)pages > 16 * CHUNK)
				pages /= 2;
			if (take(atoi(argv[i]), pages)) {
				failures = 0;
				continue;
			}
			/* Afterwards somebody counts on what it has. */
			if (++failures >= FAILURES && !said)
				die("node %s has %ld pages that it does not give: %s",
				    argv[i], pages, strerror(errno));
			nap_ms(1);
		}
		if (full && !said) {
			puts("full");
			said = true;
		}
		if (full)
			nap_ms(2);
	}
}
