// SPDX-License-Identifier: GPL-2.0
/*
 * Threads access an area larger than DRAM by a distribution of addresses, reads
 * and writes 80 to 20.
 *
 * Source: "NUMA balancing: optimize memory placement for memory tiering system"
 * (V7), which measured pmbench with a normal distribution of addresses.
 */
#include <math.h>
#include <stdlib.h>

#include "lib/lines.h"

#define TABLE	65536	/* addresses are drawn from a table of the distribution */
/*
 * A Pareto distribution of shape 1.16, as of the 80:20 rule, that begins at 0. With
 * this scale, and cut off at the end of the area, 80% of the accesses go to a fifth
 * of the pages.
 */
#define SHAPE	1.16
#define SCALE	0.083
#define MAX_BUCKETS	64

enum { NORMAL, UNIFORM, PARETO };

static const char *const shapes[] = { "normal", "uniform", "pareto", NULL };
static uint64_t shape = NORMAL;
static uint64_t mib = 320, accesses = 5000000, threads = 4, writes = 20;
static uint64_t cold_mib, buckets;
static struct list cold_place;
static struct lines area;
static uint64_t pages, shift;
static uint32_t table[TABLE];
static uint64_t *seen;		/* accesses of each bucket of pages, if asked for */

static const struct workload_option options[] = {
	{ "shape", 'd', "distribution of addresses", .number = &shape, .choices = shapes },
	{ "mib", 'm', "size of the area", .number = &mib, .low = 1, .high = 1 << 20 },
	{ "accesses", 'n', "of each thread", .number = &accesses, .low = 1, .high = UINT64_MAX },
	{ "threads", 't', "", .number = &threads, .low = 1, .high = MAX_THREADS },
	{ "cold-place", 'P', "nodes of the coldest pages", .nodes = &cold_place },
	{ "cold-mib", 'C', "so many of them lie there", .number = &cold_mib, .low = 0, .high = 1 << 20 },
	{ "buckets", 'B', "count the accesses of each of so many parts of the area, 0 for none", .number = &buckets, .low = 0, .high = MAX_BUCKETS },
	{ "writes", 'w', "percent of the accesses", .number = &writes, .low = 0, .high = 100 },
	{}
};

/* Inverse of the normal distribution's cumulative function, by bisection. */
static double normal_quantile(double p)
{
	double low = -8, high = 8;

	while (high - low > 1e-9) {
		double middle = (low + high) / 2;

		if (erfc(-middle / sqrt(2)) / 2 < p)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Page number at each quantile. */
static void make_table(void)
{
	uint32_t i;

	for (i = 0; i < TABLE; i++) {
		double p = (i + 0.5) / TABLE, at;

		switch (shape) {
		case NORMAL:
			/* Four standard deviations each way span the area. */
			at = 0.5 + normal_quantile(p) / 8;
			break;
		case PARETO:
			p *= 1 - pow(1 + 1 / SCALE, -SHAPE);
			at = SCALE * (pow(1 - p, -1 / SHAPE) - 1);
			break;
		default:
			at = p;
		}
		at *= pages;
		table[i] = at < 0 ? 0 : at >= pages ? pages - 1 : at;
	}
}

/* The share of accesses that go to the first fifth of the pages. */
static double first_fifth(void)
{
	uint32_t i, n = 0;

	for (i = 0; i < TABLE; i++)
		n += table[i] < pages / 5;
	return (double)n / TABLE;
}

/* Page number @n of all, the coldest first: the tails of the distribution. */
static uint64_t coldest(uint64_t n)
{
	switch (shape) {
	case NORMAL:
		return n & 1 ? pages - 1 - n / 2 : n / 2;
	case PARETO:
		return pages - 1 - n;
	default:
		return n;
	}
}

/* The first line of page @page of the distribution, which begins anywhere in the area. */
static uint64_t line_of(uint64_t page)
{
	return shifted(page, shift, pages) * (PAGE / LINE);
}

/* The coldest pages come first: they may have to fill a node. */
static void make_area(void)
{
	uint64_t n, line, cold = (cold_mib << 20) / PAGE;

	area = (struct lines){ .n = pages * (PAGE / LINE), .step = 1 };
	area.word = workload_map(mib << 20);
	workload_place(workload_filling(&cold_place));
	for (n = 0; n < pages; n++) {
		if (n == cold)
			workload_place(&workload.place);
		for (line = 0; line < PAGE / LINE; line++)
			lines_access(&area, line_of(coldest(n)) + line, true);
	}
	workload_place(&(struct list){});
}

static void touch(int thread)
{
	uint64_t x = random_start(thread), differ = 0, n;
	uint64_t limit = writes * 256 / 100;

	workload_barrier();
	for (n = 0; n < accesses; n++) {
		uint64_t r = random_next(&x);
		uint32_t at = (r >> 40) % TABLE;
		/* Between two quantiles, so that no page is left out. */
		uint64_t page = shape == UNIFORM ? (r >> 24) % pages :
			table[at] + (at + 1 < TABLE && table[at + 1] > table[at] ?
				     (r >> 24) % (table[at + 1] - table[at]) : 0);

		if (buckets)
			__atomic_fetch_add(&seen[page * buckets / pages], 1,
					   __ATOMIC_RELAXED);
		differ |= lines_access(&area, line_of(page) + (r >> 8) % 64, (r & 255) < limit);
	}
	lines_differ(differ);
}

/* The counts as a list in JSON. */
static const char *counted(void)
{
	static char text[MAX_BUCKETS * 21 + 1];
	uint64_t i;
	int n = 0;

	for (i = 0; i < buckets; i++)
		n += sprintf(text + n, "%s%lu", i ? "," : "", seen[i]);
	return text;
}

int main(int argc, char **argv)
{
	double seconds;

	workload_parse(argc, argv, "Accesses by a distribution of addresses.", options);
	pages = (mib << 20) / PAGE;
	make_table();
	if (cold_mib > mib)
		workload_fail("--cold-mib: more than the area");
	seen = calloc(MAX_BUCKETS, sizeof(*seen));
	if (!seen)
		workload_fail("no memory left");
	shift = random_shift(pages);
	make_area();

	seconds = workload_measure(threads, touch);

	lines_verify(&area);
	workload_result(seconds, threads * accesses / seconds, "accesses/s",
			"\"pages\":%lu,\"threads\":%lu,\"first_page\":%lu,\"first_fifth\":%.4f,\"counts\":[%s]",
			pages, threads, shift, first_fifth(), counted());
	return 0;
}
