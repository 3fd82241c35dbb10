/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of some kind that begins on a given node. Each page has its own pattern. */
#ifndef PGHOT_SELFTEST_REGION_H
#define PGHOT_SELFTEST_REGION_H

#include <stdbool.h>

#include "numa.h"

/**
 * struct region - the memory
 * @start: its first byte
 * @nr_pages: its size
 * @status: where each page was when region_look() was called: node or negative error
 */
struct region {
	char *start;
	unsigned long nr_pages;
	int *status;
};

extern struct region region;

static inline uint64_t region_pattern(unsigned long page)
{
	return (page + 1) * 0x9e3779b97f4a7c15ULL;
}

static inline uint64_t *region_word(unsigned long page)
{
	/* Not the same cache set for each page. */
	return (uint64_t *)(region.start + page * PAGE + page % 8 * 64);
}

/* An access to a page; true if it does not hold its pattern. */
static inline bool region_is_wrong(unsigned long page)
{
	return READ_ONCE(*region_word(page)) != region_pattern(page);
}

/* Make it: @kind is anon, thp, huge, shmem or file:PATH, which may be @executable. */
void region_make(const char *kind, unsigned long mb, int node, bool executable);
void region_free(void);

/* Find out where all pages are, for those below. */
void region_look(void);

/* Pages on any of the nodes of a mask. */
unsigned long region_count_on(unsigned long nodes);

/* Print @first and the number of pages on each node. */
void region_where(const char *first);

/* Pages in huge pages, as the kernel sees this mapping. */
unsigned long region_huge_pages(void);

/* Pages with wrong contents. */
unsigned long region_check(void);

/* Write its pattern to each page. */
void region_write(void);

/* Move all pages by move_pages(2). */
void region_move_to(int node);

/* Give it a memory policy by mbind(2); no page moves for that. */
void region_bind(int mode, unsigned long nodes);

/* Lock all pages in memory. */
void region_lock(void);

/* Hold references to the first pages, as input and output under way does. */
void region_pin(void);
void region_unpin(void);

#endif /* PGHOT_SELFTEST_REGION_H */
