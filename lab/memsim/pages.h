/* SPDX-License-Identifier: GPL-2.0 */
/* How often each page of a program was missed, from each socket. */
#ifndef MEMSIM_PAGES_H
#define MEMSIM_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "config.h"

struct page_count {
	uint64_t vpn;	/* virtual page number plus one; 0 is an empty slot */
	uint32_t misses[MAX_ROWS];
};

/**
 * struct pages - a hash table of pages
 * @slot: power of two of them
 * @bits: logarithm of their number
 * @used: how many are
 */
struct pages {
	struct page_count *slot;
	unsigned int bits;
	size_t used;
};

bool pages_init(struct pages *p);
void pages_exit(struct pages *p);
void pages_clear(struct pages *p);

/* Count one; false if there is no memory for it. */
bool pages_count(struct pages *p, uint64_t vpn, unsigned int row);

/* One line a page: number in hexadecimal, misses of each socket; in order. */
bool pages_write(const struct pages *p, unsigned int rows, FILE *f);

#endif
