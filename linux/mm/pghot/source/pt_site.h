/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where hits were: the page tables that map what was sampled, or had a hint fault, each
 * once. No kernel state.
 */
#ifndef _MM_PGHOT_SOURCE_PT_SITE_H
#define _MM_PGHOT_SOURCE_PT_SITE_H

#include <linux/types.h>

/* From the CPU to who looks: he comes by several times in a window. */
#define PGHOT_SITE_RING	128U

/* As many as fit into the focus of who looks at them. */
#define PGHOT_SITES	1024U

/**
 * struct pghot_site - a page table that maps something that was accessed
 * @table: the first address that it maps
 * @tgid: of which process
 * @nid: from which node it was accessed most; NUMA_NO_NODE: from none more than others
 * @lead: how far that is ahead of the others
 */
struct pghot_site {
	unsigned long table;
	pid_t tgid;
	int nid;
	u32 lead;
};

/**
 * struct pghot_site_ring - where a CPU's hits were
 * @head: how many were ever put in; the CPU's
 * @tail: how many were ever taken out; whoever looks
 * @site: the places
 *
 * One puts in, and may interrupt the other, who takes out, or run at the same time.
 */
struct pghot_site_ring {
	u32 head;
	u32 tail;
	struct pghot_site site[PGHOT_SITE_RING];
};

/**
 * struct pghot_sites - page tables in the order of processes and addresses
 * @hits: how many there were since it was asked last whether these are enough
 * @again: those of them whose page table was known
 * @nr: number
 * @site: those
 */
struct pghot_sites {
	unsigned int hits;
	unsigned int again;
	unsigned int nr;
	struct pghot_site site[PGHOT_SITES];
};

bool pghot_site_put(struct pghot_site_ring *ring, const struct pghot_site *site);
bool pghot_site_any(const struct pghot_site_ring *ring);
void pghot_site_drop(struct pghot_site_ring *ring);
void pghot_site_take(struct pghot_site_ring *ring, struct pghot_sites *sites);
void pghot_site_add(struct pghot_sites *sites, const struct pghot_site *site);
bool pghot_sites_enough(struct pghot_sites *sites);

#endif /* _MM_PGHOT_SOURCE_PT_SITE_H */
