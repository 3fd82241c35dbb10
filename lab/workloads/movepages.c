// SPDX-License-Identifier: GPL-2.0
/*
 * How fast move_pages(2) moves folios of one size from node to node: each once,
 * since Linux 7.3 splits anonymous folios below 2 MiB when they move again.
 * (Unmapping them page by page for the first move marks them partially mapped.) Some may
 * move before: a kernel that has not moved any since it booted does not know what an engine
 * and a CPU cost, and has to find out first.
 *
 * Source: "Accelerate page migration with batch copying and hardware offload"
 * (RFC v4): throughput for folios of 4 KiB to 2 MiB.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/huge_pages.h"
#include "lib/workload.h"

#define HUGE	(2UL << 20)
#define PAGES	512	/* asked for at a time */
#define MOVE_OWN	2	/* MPOL_MF_MOVE */
#define UNASKED	(-4095)	/* no error of the kernel's */

static uint64_t mib = 64, warm_mib, folio_kib = 4;
static struct list to;

static const struct workload_option options[] = {
	{ "folio-kib", 'k', "size of the folios", .number = &folio_kib, .low = 4, .high = 2048 },
	{ "mib", 'm', "moved, an even number", .number = &mib, .low = 2, .high = 1 << 20 },
	{ "warm-mib", 'w', "moved before that, which is not measured, an even number",
	  .number = &warm_mib, .high = 1 << 20 },
	{ "to", 'T', "node to move to", .nodes = &to },
	{}
};

static uint64_t bytes(void)
{
	return (warm_mib + mib) << 20;
}

/*
 * Have new memory come in folios of that size, and of no other. That wakes khugepaged,
 * which is not to look at what is measured.
 */
static void choose_folios(void)
{
	static const char form[] = THP "hugepages-%lukB/enabled";
	uint64_t kib;

	khugepaged_rests();
	for (kib = 16; kib <= 2048; kib *= 2) {
		char name[128];

		snprintf(name, sizeof(name), form, kib);
		if (!access(name, W_OK))
			setting(name, kib == folio_kib ? "always" : "never");
		else if (kib == folio_kib)
			workload_fail("this kernel has no folios of %lu KiB", kib);
	}
}

/* Every page of every folio is there, and holds what it held. */
static void verify(char *area, int node)
{
	void *pages[PAGES];
	int status[PAGES];
	uint64_t at, i;

	for (at = 0; at < bytes(); at += PAGES * PAGE) {
		for (i = 0; i < PAGES; i++)
			pages[i] = area + at + i * PAGE;
		if (syscall(SYS_move_pages, 0, PAGES, pages, NULL, status, 0))
			workload_fail("move_pages: %s", strerror(errno));
		for (i = 0; i < PAGES; i++)
			if (status[i] != node)
				workload_fail("page %lu is not on node %d: %d",
					      at / PAGE + i, node, status[i]);
	}
	if (getenv("BENCH_CORRUPT"))
		area[0]++;
	for (i = 0; i < bytes() / LINE; i++)
		if (*(uint64_t *)(area + i * LINE) != line_value(i))
			workload_fail("line %lu was not moved rightly", i);
	workload_verified(bytes() / LINE);
}

/* What the call says of each folio. */
static void all_moved(const int *status, uint64_t n, int node)
{
	uint64_t i, failed = 0, first = 0;

	for (i = 0; i < n; i++)
		if (status[i] != node && !failed++)
			first = i;
	if (failed)
		workload_fail("%lu of %lu folios were not moved, the first is number %lu: %s",
			      failed, n, first, status[first] == UNASKED ? "not tried" :
			      status[first] < 0 ? strerror(-status[first]) : "on another node");
}

static void move(void **pages, const int *nodes, int *status, uint64_t n)
{
	if (syscall(SYS_move_pages, 0, n, pages, nodes, status, MOVE_OWN) < 0)
		workload_fail("move_pages: %s", strerror(errno));
}

static void run(char *area, int target)
{
	/* One page of each folio stands for it. */
	uint64_t warm = (warm_mib << 10) / folio_kib, n = (mib << 10) / folio_kib, i;
	void **pages = malloc((warm + n) * sizeof(*pages));
	int *nodes = malloc((warm + n) * sizeof(*nodes));
	int *status = malloc((warm + n) * sizeof(*status));
	double seconds;

	if (!pages || !nodes || !status)
		workload_fail("no memory left");
	for (i = 0; i < warm + n; i++) {
		pages[i] = area + i * (folio_kib << 10);
		nodes[i] = target;
		status[i] = UNASKED;
	}
	if (warm) {
		workload_warm();
		move(pages, nodes, status, warm);
	}
	workload_begin();
	move(pages + warm, nodes + warm, status + warm, n);
	seconds = workload_end();
	all_moved(status, warm + n, target);
	verify(area, target);
	workload_result(seconds, mib * 1.048576e-3 / seconds, "GB/s",
			"\"folio_kib\":%lu,\"folios\":%lu", folio_kib, n);
}

int main(int argc, char **argv)
{
	uint64_t line;
	char *area;

	workload_parse(argc, argv, "Throughput of move_pages(2) for folios of one size.", options);
	mib &= ~1UL;
	warm_mib &= ~1UL;
	if (workload.place.n != 1 || to.n != 1)
		workload_fail("--place and --to need one node each");
	if (folio_kib & (folio_kib - 1) || folio_kib == 8)
		workload_fail("%lu is no size of folios", folio_kib);
	choose_folios();
	workload_place(&workload.place);
	area = workload_map(bytes() + HUGE);
	area = (char *)(((uintptr_t)area + HUGE - 1) & -HUGE);
	for (line = 0; line < bytes() / LINE; line++)
		*(uint64_t *)(area + line * LINE) = line_value(line);
	workload_place(&(struct list){});
	run(area, to.item[0]);
	return 0;
}
