/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pages of the guest's programs: how often each was missed from each socket,
 * and which tier it was seen in.
 */
#ifndef MEMSIM_PAGES_H
#define MEMSIM_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "config.h"

#define AGAIN_NS	10000000000LL	/* demoted this soon, it need not have moved */

/**
 * struct page - one page of one address space
 * @space: physical address of the page tables
 * @vpn: virtual page number plus one; 0 is an empty slot
 * @promoted_ns: when it was first seen in the top tier after it was not; -1: never
 * @top: whether it was in the top tier when last seen
 * @misses: from each socket
 */
struct page {
	uint64_t space, vpn;
	int64_t promoted_ns;
	bool top;
	uint32_t misses[MAX_ROWS];
};

/**
 * struct pages - a hash table of pages
 * @slot: power of two of them
 * @bits: logarithm of their number
 * @used: how many are
 * @promoted: pages seen to have come to the top tier
 * @demoted: pages seen to have left it
 * @demoted_again: those of them that had come less than AGAIN_NS before
 */
struct pages {
	struct page *slot;
	unsigned int bits;
	size_t used;
	uint64_t promoted, demoted, demoted_again;
};

#define PAGES_GOLDEN	0x9e3779b97f4a7c15ULL

/* Where a page is looked for first. */
static inline size_t pages_place(const struct pages *p, uint64_t space, uint64_t vpn)
{
	return (vpn ^ space) * PAGES_GOLDEN >> (64 - p->bits);
}

/* The page is counted soon: the table is larger than the host's caches. */
static inline void pages_expect(const struct pages *p, uint64_t space, uint64_t vpn)
{
	__builtin_prefetch(&p->slot[pages_place(p, space, vpn)], 1);
}

bool pages_init(struct pages *p);
void pages_exit(struct pages *p);
void pages_clear(struct pages *p);

/*
 * A miss from socket @row to a page that is in the top tier or not; false if
 * there is no memory to remember it.
 */
bool pages_count(struct pages *p, uint64_t space, uint64_t vpn,
		 unsigned int row, bool top, int64_t now_ns);

/* One line a page of @space: number in hexadecimal, misses of each socket. */
bool pages_write(const struct pages *p, uint64_t space, unsigned int rows,
		 FILE *f);

#endif
