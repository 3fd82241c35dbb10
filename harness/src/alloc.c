// SPDX-License-Identifier: GPL-2.0
/* The kernel's allocators on top of malloc(). */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/gfp.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "harness.h"

#define PAGE_SIZE		4096UL

struct harness_fail harness_fail;

static atomic_long_t live_pages, live_vmalloc, live_slab, live_kmalloc;

/* Live vmalloc areas, to tell them from pages. */
#define AREAS			4096
static const void *areas[AREAS];
static pthread_mutex_t areas_lock = PTHREAD_MUTEX_INITIALIZER;

static char *arena, *arena_end;

struct harness_live harness_live(void)
{
	return (struct harness_live) {
		.pages = atomic_long_read(&live_pages),
		.vmalloc = atomic_long_read(&live_vmalloc),
		.slab = atomic_long_read(&live_slab),
		.kmalloc = atomic_long_read(&live_kmalloc),
	};
}

void harness_arena(void *base, size_t size)
{
	arena = base;
	arena_end = arena + size;
}

/*
 * Exactly as long as asked for, so that AddressSanitizer sees what the
 * kernel's rounding to pages would hide.
 */
static void *zeroed(size_t size, size_t align)
{
	void *p;

	if (posix_memalign(&p, align, size))
		return NULL;
	return memset(p, 0, size);
}

static void *pages(size_t size)
{
	return zeroed(size, PAGE_SIZE);
}

unsigned long harness_had;

static bool had(int nid, unsigned int gfp)
{
	if (!(gfp & __GFP_THISNODE)) {
		harness_had |= HARNESS_HAD_ANY;
		return true;
	}
	if (harness_fail.nodes >> nid & 1)
		return false;
	harness_had |= 1UL << nid;
	return true;
}

static bool fails(bool kind)
{
	if (!kind || (harness_fail.once && harness_fail.failed))
		return false;
	if (harness_fail.after) {
		harness_fail.after--;
		return false;
	}
	harness_fail.failed++;
	return true;
}

bool harness_no_memory(void)
{
	return fails(harness_fail.slab);
}

void *alloc_pages_exact_nid(int nid, size_t size, unsigned int gfp)
{
	void *p;

	if (fails(harness_fail.pages) || !(gfp & __GFP_ZERO) || !had(nid, gfp))
		return NULL;
	if (arena) {
		p = arena;
		arena += ALIGN(size, PAGE_SIZE);
		return arena <= arena_end ? p : NULL;
	}
	p = pages(size);
	if (p)
		atomic_long_inc(&live_pages);
	return p;
}

void free_pages_exact(void *virt, size_t size)
{
	(void)size;
	if (arena)
		return;
	free(virt);
	atomic_long_dec(&live_pages);
}

static bool area_replace(const void *from, const void *to)
{
	bool found = false;
	int i;

	pthread_mutex_lock(&areas_lock);
	for (i = 0; i < AREAS && !found; i++) {
		if (areas[i] != from)
			continue;
		areas[i] = to;
		found = true;
	}
	pthread_mutex_unlock(&areas_lock);
	return found;
}

void *__vmalloc_node(size_t size, size_t align, unsigned int gfp, int node,
		     const void *caller)
{
	void *p;

	(void)align;
	(void)caller;
	if (fails(harness_fail.vmalloc) || !had(node, gfp))
		return NULL;
	p = pages(size);
	if (p && !area_replace(NULL, p)) {
		free(p);
		return NULL;
	}
	if (p)
		atomic_long_inc(&live_vmalloc);
	return p;
}

void vfree(const void *p)
{
	if (!area_replace(p, NULL))
		abort();
	free((void *)p);
	atomic_long_dec(&live_vmalloc);
}

bool is_vmalloc_addr(const void *p)
{
	return area_replace(p, p);
}

static void *slab(size_t size, atomic_long_t *live)
{
	void *p;

	if (harness_no_memory())
		return NULL;
	p = zeroed(size, SMP_CACHE_BYTES);
	if (p)
		atomic_long_inc(live);
	return p;
}

static void slab_free(const void *p, atomic_long_t *live)
{
	if (!p)
		return;
	free((void *)p);
	atomic_long_dec(live);
}

void *kvcalloc(size_t n, size_t size, unsigned int gfp)
{
	(void)gfp;
	return slab(n * size, &live_slab);
}

void *kvzalloc(size_t size, unsigned int gfp)
{
	return kvcalloc(1, size, gfp);
}

void kvfree(const void *p)
{
	slab_free(p, &live_slab);
}

void *kzalloc(size_t size, unsigned int gfp)
{
	(void)gfp;
	return slab(size, &live_kmalloc);
}

void kfree(const void *p)
{
	slab_free(p, &live_kmalloc);
}
