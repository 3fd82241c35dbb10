/* SPDX-License-Identifier: GPL-2.0 */
/* What the shim offers to tests beyond the kernel's own interfaces. */
#ifndef _HARNESS_H
#define _HARNESS_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

/* Which allocators fail; for tests of what happens then. */
struct harness_fail {
	bool pages;		/* alloc_pages_exact_nid() */
	bool vmalloc;		/* __vmalloc_node() */
	bool slab;		/* kvzalloc(), kvcalloc(), kzalloc() */
	bool once;		/* not again after the first time */
	unsigned int after;	/* so many of these do not */
	unsigned int failed;	/* how many did */
	unsigned long nodes;	/* these have none for who wants theirs alone */
};

/* Of which nodes pages were asked for and had, as bits; of any: the highest. */
extern unsigned long harness_had;
#define HARNESS_HAD_ANY		(1UL << 63)

extern struct harness_fail harness_fail;

/* Allocations of each kind that were not freed. */
struct harness_live {
	long pages;
	long vmalloc;
	long slab;
	long kmalloc;		/* kzalloc() */
};

struct harness_live harness_live(void);

/* Does a part of the kernel that is not here fail to allocate what it needs? */
bool harness_no_memory(void);

/*
 * Take pages from @base on, for benchmarks that decide how their memory is
 * mapped. Nothing is given back to it.
 */
void harness_arena(void *base, size_t size);

/* How often this thread let others run. */
extern __thread unsigned long harness_resched;

/* splitmix64: the same sequence on every machine. */
static inline u64 harness_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* A thread that calls into the kernel code does so between these two. */
void harness_thread_enter(void);
void harness_thread_leave(void);

#endif
