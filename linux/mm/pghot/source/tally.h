/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How often each page of a page table was found accessed: half a byte a page. No
 * kernel state.
 */
#ifndef _MM_PGHOT_SOURCE_TALLY_H
#define _MM_PGHOT_SOURCE_TALLY_H

#include <linux/types.h>

/* Entries of a page table, which map 2 MiB. */
#define PGHOT_TALLY_PAGES	512U
/* So far half a byte counts. */
#define PGHOT_TALLY_MAX		15U

/**
 * struct pghot_tally - counts of the pages of a page table
 * @pair: counts of two pages each, the even one in the low half
 */
struct pghot_tally {
	u8 pair[PGHOT_TALLY_PAGES / 2];
};

/**
 * pghot_tally_get - how often a page was found accessed
 * @t: counts
 * @i: the page, below PGHOT_TALLY_PAGES
 *
 * Return: its count.
 */
static inline u32 pghot_tally_get(const struct pghot_tally *t, unsigned int i)
{
	return t->pair[i / 2] >> (i % 2 * 4) & PGHOT_TALLY_MAX;
}

/**
 * pghot_tally_add - a page was found accessed once more
 * @t: counts
 * @i: the page, below PGHOT_TALLY_PAGES
 */
static inline void pghot_tally_add(struct pghot_tally *t, unsigned int i)
{
	if (pghot_tally_get(t, i) < PGHOT_TALLY_MAX)
		t->pair[i / 2] += 1U << (i % 2 * 4);
}

#endif /* _MM_PGHOT_SOURCE_TALLY_H */
