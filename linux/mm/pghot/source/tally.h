/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How often each page of a page table was found accessed: half a byte a page. No
 * kernel state.
 *
 * A large folio counts once in each look, at one place: that of its first page, or
 * where this would be. What is mapped there may be a page of somebody else.
 */
#ifndef _MM_PGHOT_SOURCE_TALLY_H
#define _MM_PGHOT_SOURCE_TALLY_H

#include <linux/types.h>

/* Entries of a page table, which map 2 MiB. */
#define PGHOT_TALLY_PAGES	512U
/* So far half a byte counts. */
#define PGHOT_TALLY_MAX		15U

/**
 * struct pghot_places - some places of a page table
 * @word: a bit for each
 */
struct pghot_places {
	u64 word[PGHOT_TALLY_PAGES / 64];
};

/**
 * pghot_places_has - is a place one of them
 * @p: places
 * @i: the place, below PGHOT_TALLY_PAGES
 *
 * Return: true if so.
 */
static inline bool pghot_places_has(const struct pghot_places *p, unsigned int i)
{
	return p->word[i / 64] >> i % 64 & 1;
}

/**
 * pghot_places_add - have a place be one of them
 * @p: places
 * @i: the place, below PGHOT_TALLY_PAGES
 *
 * Return: false if it was before.
 */
static inline bool pghot_places_add(struct pghot_places *p, unsigned int i)
{
	if (pghot_places_has(p, i))
		return false;
	p->word[i / 64] |= 1ULL << i % 64;
	return true;
}

/**
 * pghot_places_any - is any place one of them
 * @p: places
 *
 * Return: true if so.
 */
static inline bool pghot_places_any(const struct pghot_places *p)
{
	u64 any = 0;
	unsigned int i;

	for (i = 0; i < PGHOT_TALLY_PAGES / 64; i++)
		any |= p->word[i];
	return any;
}

/**
 * struct pghot_tally - counts of the pages of a page table
 * @pair: counts of two pages each, the even one in the low half
 * @large: places where a large folio counts
 */
struct pghot_tally {
	u8 pair[PGHOT_TALLY_PAGES / 2];
	struct pghot_places large;
};

/**
 * pghot_tally_get - how often something was found accessed
 * @t: counts
 * @i: its place, below PGHOT_TALLY_PAGES
 * @large: it is a large folio, and not a page
 *
 * Return: its count.
 */
static inline u32 pghot_tally_get(const struct pghot_tally *t, unsigned int i,
				  bool large)
{
	if (pghot_places_has(&t->large, i) != large)
		return 0;
	return t->pair[i / 2] >> (i % 2 * 4) & PGHOT_TALLY_MAX;
}

/**
 * pghot_tally_add - something was found accessed once more
 * @t: counts
 * @i: its place, below PGHOT_TALLY_PAGES
 * @large: it is a large folio, and not a page
 *
 * Where a large folio counts no page does.
 */
static inline void pghot_tally_add(struct pghot_tally *t, unsigned int i,
				   bool large)
{
	unsigned int shift = i % 2 * 4;

	if (large && pghot_places_add(&t->large, i))
		t->pair[i / 2] &= ~(PGHOT_TALLY_MAX << shift);
	if (pghot_places_has(&t->large, i) == large &&
	    pghot_tally_get(t, i, large) < PGHOT_TALLY_MAX)
		t->pair[i / 2] += 1U << shift;
}

#endif /* _MM_PGHOT_SOURCE_TALLY_H */
