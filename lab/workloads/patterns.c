// SPDX-License-Identifier: GPL-2.0
/*
 * Patterns of access that are hard on those who move pages:
 *
 * - stride: a few pages of each block of 2 MiB are hot. Who thinks in huge pages or in
 *   regions sees all of the area as hot, or none of it.
 * - triad: a[i] = b[i] + 3 c[i] from beginning to end, over and over, as STREAM does
 *   (McCalpin, "Memory Bandwidth and Machine Balance in Current High Performance
 *   Computers", 1995). No page is hotter than another.
 * - uniform: random accesses to all of the area. No page is hotter than another, by
 *   chance some seem to be.
 * - alternate: two hot sets, one in each half of the area, take turns. What is moved
 *   for the one has to make room for the other.
 */
#include "lib/lines.h"

#define BLOCK_PAGES	512UL	/* of 2 MiB */

enum { STRIDE, TRIAD, UNIFORM, ALTERNATE };

static const char *const shapes[] = { "stride", "triad", "uniform", "alternate", NULL };
static uint64_t shape = UNIFORM;
static uint64_t mib = 96, hot_mib = 24, hot_pages = 32, turns = 4;
static uint64_t accesses = 2000000, threads = 2, writes = 20, cold_mib;
static struct list cold_place;
static struct lines area, cold;
static uint64_t pages, shift;
static uint64_t *a, *b, *c, words;	/* of the triad */

static const struct workload_option options[] = {
	{ "shape", 'd', "pattern of access", .number = &shape, .choices = shapes },
	{ "mib", 'm', "size of the area, an even number, at least 4", .number = &mib, .low = 4, .high = 1 << 20 },
	{ "hot-mib", 'H', "size of each hot set that alternates", .number = &hot_mib, .low = 1, .high = 1 << 19 },
	{ "hot-pages", 'k', "hot pages of each 2 MiB of the stride", .number = &hot_pages, .low = 1, .high = BLOCK_PAGES },
	{ "turns", 'T', "of the hot sets, or passes of the triad", .number = &turns, .low = 1, .high = 1 << 20 },
	{ "accesses", 'n', "of each thread, in each turn; the triad has its passes", .number = &accesses, .low = 1, .high = UINT64_MAX },
	{ "threads", 't', "", .number = &threads, .low = 1, .high = MAX_THREADS },
	{ "writes", 'w', "percent of the accesses", .number = &writes, .low = 0, .high = 100 },
	{ "cold-place", 'P', "nodes of data that nobody uses", .nodes = &cold_place },
	{ "cold-mib", 'C', "size of it", .number = &cold_mib, .low = 0, .high = 1 << 20 },
	{}
};

/* Of the pattern, which begins anywhere in the area. */
static uint64_t choose_page(uint64_t r, uint64_t turn)
{
	uint64_t block;

	switch (shape) {
	case STRIDE:
		block = r % (pages / BLOCK_PAGES);
		/* Apart from each other, and not at the same place in each block. */
		return block * BLOCK_PAGES +
		       ((r >> 20) % hot_pages * (BLOCK_PAGES / hot_pages) + block * 7) %
		       BLOCK_PAGES;
	case ALTERNATE:
		return (turn & 1) * (pages / 2) + r % ((hot_mib << 20) / PAGE);
	default:
		return r % pages;
	}
}

static void touch(int thread)
{
	uint64_t x = random_start(thread), limit = writes * 256 / 100, differ = 0;
	uint64_t all = shape == ALTERNATE ? turns : 1, turn, n;

	for (turn = 0; turn < all; turn++) {
		workload_barrier();
		for (n = 0; n < accesses; n++) {
			uint64_t r = random_next(&x);
			uint64_t page = shifted(choose_page(r >> 16, turn), shift, pages);

			differ |= lines_access(&area, page * (PAGE / LINE) + (r >> 8) % 64,
					       (r & 255) < limit);
		}
	}
	lines_differ(differ);
}

static void triad(int thread)
{
	uint64_t first = words * thread / threads, end = words * (thread + 1) / threads;
	uint64_t turn, i;

	workload_barrier();
	for (turn = 0; turn < turns; turn++) {
		for (i = first; i < end; i++)
			a[i] = b[i] + 3 * c[i];
		/* Not to be left out because the next pass does the same. */
		__asm__ volatile("" : : : "memory");
	}
}

static void make_arrays(void)
{
	uint64_t i;

	/* Three arrays, each of whole pages. */
	words = pages / 3 * (PAGE / sizeof(*a));
	workload_place(&workload.place);
	a = workload_map(mib << 20);
	b = a + words;
	c = b + words;
	for (i = 0; i < words; i++) {
		a[i] = 0;
		b[i] = line_value(i);
		c[i] = i;
	}
	workload_place(&(struct list){});
}

static void verify_arrays(void)
{
	uint64_t i;

	for (i = 0; i < words; i++)
		if (a[i] != line_value(i) + 3 * i)
			workload_fail("word %lu of the sum is wrong", i);
	workload_verified(words);
}

int main(int argc, char **argv)
{
	double seconds, done;

	workload_parse(argc, argv, "Patterns of access that are hard to promote for.", options);
	mib &= ~1UL;
	pages = (mib << 20) / PAGE;
	if (shape == ALTERNATE && 2 * hot_mib > mib)
		workload_fail("two hot sets of %lu MiB do not fit into %lu MiB", hot_mib, mib);
	/* One line a page is enough for data that nobody uses. */
	cold = lines_map(cold_mib ? cold_mib : 1, workload_filling(&cold_place),
			 PAGE / LINE);
	if (shape == TRIAD)
		make_arrays();
	else
		area = lines_map(mib, &workload.place, 1);
	shift = random_shift(pages / BLOCK_PAGES) * BLOCK_PAGES;

	seconds = workload_measure(threads, shape == TRIAD ? triad : touch);

	lines_verify(&cold);
	if (shape == TRIAD)
		verify_arrays();
	else
		lines_verify(&area);
	if (shape == TRIAD)
		done = words * turns;
	else
		done = (double)threads * accesses * (shape == ALTERNATE ? turns : 1);
	workload_result(seconds, done / seconds, shape == TRIAD ? "sums/s" : "accesses/s",
			"\"shape\":\"%s\",\"pages\":%lu,\"first_page\":%lu,\"hot_pages\":%lu", shapes[shape],
			pages, shift,
			shape == STRIDE ? pages / BLOCK_PAGES * hot_pages :
			shape == ALTERNATE ? 2 * (hot_mib << 20) / PAGE : 0);
	return 0;
}
