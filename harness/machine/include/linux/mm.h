/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_MM_H
#define _MACHINE_LINUX_MM_H

#include_next <linux/mm.h>

#include <linux/list.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mmzone.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>

#define INT_MAX			((int)(~0U >> 1))

/* Of a folio's own, @typed: it is something that has no mapcount, such as a slab. */
struct page {
	struct folio *folio;
	bool typed;
};

/*
 * A folio as plain data: what it is, and what is to happen to it. One that is
 * @pinned is isolated but does not move, one that is pinned for @dma says so; of
 * one that @splits on its way so many pages stay. Once it moved, @target is where
 * to. It is @young since an access, the last of which was at @accessed_ms; while
 * it is @locked nobody can tell.
 */
struct folio {
	struct page page;
	struct list_head lru;
	const void *mapping;
	struct mem_cgroup *memcg;
	unsigned long pfn;
	int nid, target;
	int refs;
	unsigned int order;
	int access_time;
	unsigned int splits;
	u32 accessed_ms;
	/* A CPU will put it on the LRU list, when it is asked. */
	bool in_batch;
	bool on_lru, file, dirty, writeback, busy, pinned, dma, young, locked, shared;
	bool swapcache;
	/* What reclaim knows of it, and that it has no file, or a mapping. */
	bool referenced, active, workingset, unevictable, anon, mapped, idle;
	/* Page table entries that map it, if more than one. */
	unsigned int entries;
};

/* What a process allows, that is its first thread, and what of it by memory policy. */
struct mm_struct {
	struct task_struct *owner;
	nodemask_t cpuset, policy;
};

/* Memory of a process, all with one policy or none, and an access to it. */
struct vm_area_struct {
	struct mm_struct *vm_mm;
	struct mempolicy *vm_policy;
	unsigned long vm_flags;
};

unsigned long change_prot_numa(struct vm_area_struct *vma, unsigned long start,
			       unsigned long end);

struct vm_fault {
	struct vm_area_struct *vma;
	unsigned long address;
};

typedef unsigned long pgoff_t;

#define VM_EXEC			0x4UL

#define MB_TO_PAGES(mb)		((mb) << (20 - PAGE_SHIFT))

struct page *pfn_to_online_page(unsigned long pfn);
struct page *pfn_to_page(unsigned long pfn);
int page_to_nid(const struct page *page);

#define page_folio(page)	((page)->folio)
#define folio_nid(folio)	((folio)->nid)
#define folio_pfn(folio)	((folio)->pfn)
#define folio_order(folio)	((folio)->order)
#define folio_test_large(folio)	((folio)->order > 0)
#define folio_nr_pages(folio)	(1UL << (folio)->order)
#define page_has_type(page)	((page)->typed)
#define folio_test_swapcache(folio) ((folio)->swapcache)
#define folio_test_lru(folio)	((folio)->on_lru)
#define folio_is_file_lru(folio) ((folio)->file)
#define folio_test_dirty(folio)	((folio)->dirty)
#define folio_test_writeback(folio) ((folio)->writeback)
#define folio_maybe_dma_pinned(folio) ((folio)->dma)
#define folio_maybe_mapped_shared(folio) ((folio)->shared)
#define folio_test_unevictable(folio) ((folio)->unevictable)
#define folio_test_referenced(folio) ((folio)->referenced)
#define folio_test_active(folio) ((folio)->active)
#define folio_test_workingset(folio) ((folio)->workingset)
#define folio_test_anon(folio)	((folio)->anon)
#define folio_mapped(folio)	((folio)->mapped)
#define folio_ref_count(folio)	((folio)->refs)
/* By its file, or by what has it mapped. */
#define folio_expected_ref_count(folio) 1
#define folio_set_active(folio)	do { } while (0)
#define folio_use_access_time(folio) false
#define lru_add_drain()		do { } while (0)
void lru_add_drain_all(void);

/* As many bits as last_cpupid has: half an hour. */
#define PAGE_ACCESS_TIME_MASK	((1 << 21) - 1)

static inline int folio_xchg_access_time(struct folio *folio, int time)
{
	int last = folio->access_time;

	folio->access_time = time & PAGE_ACCESS_TIME_MASK;
	return last;
}

static inline bool folio_try_get(struct folio *folio)
{
	return folio->refs && ++folio->refs;
}

static inline void folio_put(struct folio *folio)
{
	folio->refs--;
}

#endif
