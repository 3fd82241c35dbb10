// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "workload.h"
#include "measured.h"

#define AT_ONCE	MOVED_AT_ONCE
#define MOVE_OWN	2	/* MPOL_MF_MOVE */
#define MOVE_ALL	4	/* MPOL_MF_MOVE_ALL */

void *workload_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		workload_fail("no %zu MiB of memory: %s", bytes >> 20,
			      strerror(errno));
	return p;
}

int workload_node(int thread)
{
	unsigned int node;

	workload_pin(thread);
	if (getcpu(NULL, &node))
		workload_fail("cannot find out this CPU's node: %s", strerror(errno));
	workload_pin(0);
	return node;
}

void workload_place_for(int thread, const struct list *nodes)
{
	if (nodes->local)
		workload_place(&(struct list){ .item = { workload_node(thread) }, .n = 1 });
	else
		workload_place(nodes);
}

const struct list *workload_filling(const struct list *nodes)
{
	return workload.best ? &workload.place : nodes;
}

void workload_place(const struct list *nodes)
{
	unsigned long mask = 0;
	int mode, i;

	if (nodes->local) {
		workload_place_for(0, nodes);
		return;
	}
	for (i = 0; i < nodes->n; i++)
		mask |= 1UL << nodes->item[i];
	mode = !nodes->n ? MPOL_DEFAULT :
	       nodes->spill ? MPOL_PREFERRED_MANY :
	       nodes->n == 1 ? MPOL_BIND : MPOL_INTERLEAVE;
	if (!syscall(SYS_set_mempolicy, mode, nodes->n ? &mask : NULL,
		     nodes->n ? sizeof(mask) * 8 : 0))
		return;
	/* A host without NUMA runs the workloads too, for their own tests. */
	if (nodes->n && errno != ENOSYS)
		workload_fail("cannot place memory: %s", strerror(errno));
}

int workload_move_pages(int pid, void **pages, const int *nodes, int n)
{
	int status[AT_ONCE], last = 0;
	int i, tries, left = n, there = 0;

	/*
	 * Pages on their way to the LRU are busy: try again. What is not mapped,
	 * as a thread's stack that is yet to come, stays where the kernel puts it.
	 */
	for (tries = 0; left && tries < 10; tries++) {
		if (syscall(SYS_move_pages, pid, n, pages, nodes, status,
			    pid ? MOVE_ALL : MOVE_OWN) < 0)
			workload_fail("move_pages: %s", strerror(errno));
		for (left = there = 0, i = 0; i < n; i++) {
			if (status[i] == nodes[i]) {
				there++;
			} else if (status[i] != -ENOENT && status[i] != -EFAULT) {
				left++;
				last = status[i];
			}
		}
	}
	if (left)
		workload_fail("%d of %d pages cannot be moved to their nodes: %s",
			      left, n, last < 0 ? strerror(-last) : "no room");
	return there;
}

void workload_move(void *start, size_t bytes, int node)
{
	void *pages[AT_ONCE];
	int nodes[AT_ONCE], n;
	size_t at;

	for (at = 0; at < bytes;) {
		for (n = 0; n < AT_ONCE && at < bytes; n++, at += PAGE) {
			pages[n] = (char *)start + at;
			nodes[n] = node;
		}
		workload_move_pages(0, pages, nodes, n);
	}
}

/* Put pages where workload.best says. */
void place_best(void)
{
	void *pages[AT_ONCE];
	int nodes[AT_ONCE], n = 0;
	unsigned long vpn;
	FILE *f = fopen(workload.best, "re");

	if (!f)
		workload_fail("cannot read %s: %s", workload.best, strerror(errno));
	while (fscanf(f, "%lx %d", &vpn, &nodes[n]) == 2) {
		pages[n++] = (void *)(vpn * PAGE);
		if (n == AT_ONCE) {
			workload_move_pages(0, pages, nodes, n);
			n = 0;
		}
	}
	if (!feof(f))
		workload_fail("%s: not lines of a page and a node", workload.best);
	fclose(f);
	if (n)
		workload_move_pages(0, pages, nodes, n);
}
