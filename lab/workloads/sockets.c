// SPDX-License-Identifier: GPL-2.0
/*
 * Threads of several sockets, each with pages of its own: which socket a page belongs
 * to is known. A share of the accesses goes to pages of another socket.
 *
 * A policy that promotes everything to one node gives the threads of the other
 * sockets remote memory. Source: the Graph500 results of "mm: Hot page tracking and
 * promotion infrastructure" (v7): 546 M TEPS with all pages on node 0, 745 M with each
 * on the node that accesses it.
 */
#include "lib/lines.h"

static uint64_t mib = 16, accesses = 8000000, threads = 4, remote = 5, grain_kib;
static struct lines area;
static uint64_t pages, grain;	/* of each thread; that lie together */
static double took[MAX_THREADS];
static int others[MAX_THREADS][MAX_THREADS], others_n[MAX_THREADS];

static const struct workload_option options[] = {
	{ "mib", 'm', "each thread's own", .number = &mib, .low = 1, .high = 1 << 16 },
	{ "accesses", 'n', "of each thread", .number = &accesses, .low = 1, .high = UINT64_MAX },
	{ "threads", 't', "", .number = &threads, .low = 1, .high = MAX_THREADS },
	{ "remote", 'r', "percent of the accesses, to pages of other sockets' threads", .number = &remote, .low = 0, .high = 100 },
	{ "grain-kib", 'g', "threads' pages lie in turn, so many KiB of each, 0 for all of each together", .number = &grain_kib, .low = 0, .high = 1 << 20 },
	{}
};

/* Where page @page of those of @thread lies. */
static uint64_t page_of(int thread, uint64_t page)
{
	return (page / grain * threads + thread) * grain + page % grain;
}

static void find_others(void)
{
	int node[MAX_THREADS], i, j;

	for (i = 0; i < (int)threads; i++)
		node[i] = workload_node(i);
	for (i = 0; i < (int)threads; i++)
		for (j = 0; j < (int)threads; j++)
			if (node[i] != node[j])
				others[i][others_n[i]++] = j;
}

static void touch(int thread)
{
	uint64_t x = random_start(thread), differ = 0, n;
	uint64_t limit = others_n[thread] ? remote * 1024 / 100 : 0;
	double began;

	workload_barrier();
	began = workload_now();
	for (n = 0; n < accesses; n++) {
		uint64_t r = random_next(&x);
		int owner = thread;

		if ((r & 1023) < limit)
			owner = others[thread][(r >> 10) % others_n[thread]];
		differ |= lines_access(&area, page_of(owner, (r >> 24) % pages) *
				       (PAGE / LINE) + (r >> 58), r >> 20 & 1);
	}
	took[thread] = workload_now() - began;
	lines_differ(differ);
}

int main(int argc, char **argv)
{
	double seconds, shortest;
	uint64_t page, i;

	workload_parse(argc, argv, "Threads of several sockets, each with pages of its own.", options);
	pages = (mib << 20) / PAGE;
	grain = grain_kib ? (grain_kib << 10) / PAGE : pages;
	if (!grain || pages % grain)
		workload_fail("--grain-kib: %lu is not a part of %lu MiB in whole pages",
			      grain_kib, mib);
	find_others();
	area = (struct lines){ .n = threads * pages * (PAGE / LINE), .step = 1 };
	area.word = workload_map(threads * mib << 20);
	for (page = 0; page < threads * pages; page += grain) {
		workload_place_for(page / grain % threads, &workload.place);
		/* Before anybody else's: pages come one after the other. */
		for (i = page * PAGE / LINE; i < (page + grain) * PAGE / LINE; i++)
			area.word[i * WORDS] = line_value(i);
	}
	workload_place(&(struct list){});

	seconds = workload_measure(threads, touch);

	lines_verify(&area);
	for (shortest = took[0], i = 1; i < threads; i++)
		shortest = took[i] < shortest ? took[i] : shortest;
	workload_result(seconds, threads * accesses / seconds, "accesses/s",
			"\"threads\":%lu,\"pages_each\":%lu,\"first_thread_done\":%.6f",
			threads, pages, shortest);
	return 0;
}
