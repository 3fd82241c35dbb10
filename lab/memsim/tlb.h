/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A CPU's translations: a first level by pages of 4 KiB, one beside it for huge pages,
 * a second one for both, and the upper levels of the page tables that a walk need not
 * read again. In each set the entry used last is in front, and the last one goes.
 *
 * The kernel's half of the addresses is global: CR3 loads leave it. That is how Linux
 * maps all of it on machines without page table isolation.
 */
#ifndef MEMSIM_TLB_H
#define MEMSIM_TLB_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "config.h"

#define SMALL_SHIFT	12
#define HUGE_SHIFT	21
#define GIANT_SHIFT	30

#define TLB_FIRST_WAYS	4
/* The first level for huge pages, as in the same table as the sizes (config.h). */
#define TLB_HUGE	32
#define TLB_HUGE_WAYS	4
/*
 * Page tables and page directories whose addresses are kept. Vendors do not publish
 * how many; chosen.
 */
#define TLB_TABLES	32
#define TLB_TABLES_WAYS	4
#define TLB_DIRECTORIES	4

/**
 * struct tlb_entry - a translation
 * @key: its part of the address, its size, and whose it is; all bits set is none
 * @page: physical address; in the first level with TLB_PART if it is of a huge page
 */
struct tlb_entry {
	uint64_t key, page;
};

#define TLB_PART	1ULL

/* Of an entry of the page tables. */
#define TLB_PRESENT	1ULL
#define TLB_ACCESSED	0x20ULL

/**
 * struct tlb_level - sets of entries
 * @entry: set by set
 * @sets: a power of two
 * @ways: of each set
 */
struct tlb_level {
	struct tlb_entry *entry;
	unsigned int sets, ways;
};

/**
 * struct tlb - what a CPU knows
 * @tag: in the keys of the lower and the upper half of the addresses; the lower half's
 *	 changes with each CR3 load
 * @has_huge: whether any of a huge page came since all of that half was forgotten, so
 *	      that they need be looked for
 * @first, @huge, @second: translations
 * @tables: physical address of the page table, by 2 MiB
 * @directories: physical address of the page directory, by 1 GiB
 */
struct tlb {
	uint64_t tag[2];
	bool has_huge[2];
	struct tlb_level first, huge, second, tables, directories;
};

/* Where a translation was found. */
enum tlb_answer { TLB_FREE, TLB_SECOND, TLB_MISS };

bool tlb_init(struct tlb *t, const struct config *c);
void tlb_exit(struct tlb *t);

/* Forget everything, global or not. */
void tlb_clear(struct tlb *t);
/* Another address space: forget what is not global. */
void tlb_new_space(struct tlb *t);
/* INVLPG: forget the page that @vaddr is in, and all of the upper levels. */
void tlb_drop(struct tlb *t, uint64_t vaddr);

/* Translate what is not in front in the first level. */
enum tlb_answer tlb_look_up(struct tlb *t, uint64_t vaddr, uint64_t *pa);
void tlb_insert(struct tlb *t, uint64_t vaddr, uint64_t pa, bool huge);

/* Bits 47 to @shift of @vaddr, its size if that is not the smallest, and the tag. */
static inline uint64_t tlb_key(const struct tlb *t, uint64_t vaddr,
			       unsigned int shift)
{
	return (vaddr << 16 >> 16 >> shift) |
	       (uint64_t)(shift - SMALL_SHIFT) << 36 | t->tag[vaddr >> 63];
}

/* False: tlb_look_up() may know. */
static inline bool tlb_first(const struct tlb *t, uint64_t vaddr, uint64_t *pa)
{
	uint64_t key = tlb_key(t, vaddr, SMALL_SHIFT);
	const struct tlb_entry *e = t->first.entry +
				    (key & (t->first.sets - 1)) * TLB_FIRST_WAYS;

	*pa = (e->page & ~TLB_PART) | (vaddr & ((1 << SMALL_SHIFT) - 1));
	return likely(e->key == key);
}

/**
 * struct walk - what a walk through the page tables reads
 * @huge: the page is of 2 MiB or more
 * @entry: physical addresses of the entries, from the top
 * @entries: their number; 0: there is no such page
 */
struct walk {
	bool huge;
	uint64_t entry[3];
	unsigned int entries;
};

/* The page's entry as a walk leaves it: if there is such a page, it was accessed. */
static inline uint64_t tlb_accessed(uint64_t entry)
{
	return entry & TLB_PRESENT ? entry | TLB_ACCESSED : entry;
}

/* Read 64 bits of the guest's memory. */
typedef uint64_t (*tlb_read)(uint64_t pa);

/* Walk the tables at @space for @vaddr, from where the upper levels are known. */
struct walk tlb_walk(struct tlb *t, uint64_t space, uint64_t vaddr, tlb_read read);

#endif
