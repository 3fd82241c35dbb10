// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "tlb.h"

#define TAG_SHIFT	42	/* above addresses and sizes of keys */
#define LEAF		0x80ULL
#define ADDRESS		0x000ffffffffff000ULL
#define TOP_SHIFT	39

static bool level_init(struct tlb_level *l, unsigned int entries, unsigned int ways)
{
	*l = (struct tlb_level) { .sets = entries / ways, .ways = ways };
	l->entry = aligned_alloc(64, (entries * sizeof(*l->entry) + 63) & ~63UL);
	return l->entry;
}

static void level_clear(struct tlb_level *l)
{
	memset(l->entry, 0xff, (size_t)l->sets * l->ways * sizeof(*l->entry));
}

static struct tlb_entry *set_of(const struct tlb_level *l, uint64_t key)
{
	return l->entry + (key & (l->sets - 1)) * l->ways;
}

/* The entry with this key, now in front of its set; NULL: there is none. */
static struct tlb_entry *find(struct tlb_level *l, uint64_t key)
{
	struct tlb_entry *set = set_of(l, key), found;
	unsigned int way;

	for (way = 0; way < l->ways; way++)
		if (set[way].key == key)
			break;
	if (way == l->ways)
		return NULL;
	if (way) {
		found = set[way];
		memmove(set + 1, set, way * sizeof(*set));
		set[0] = found;
	}
	return set;
}

static void insert(struct tlb_level *l, uint64_t key, uint64_t page)
{
	struct tlb_entry *set = set_of(l, key);

	memmove(set + 1, set, (l->ways - 1) * sizeof(*set));
	set[0] = (struct tlb_entry) { key, page };
}

static void drop(struct tlb_level *l, uint64_t key)
{
	struct tlb_entry *e = find(l, key);

	if (!e)
		return;
	/* To the end: the next that comes takes its place. */
	memmove(e, e + 1, (l->ways - 1) * sizeof(*e));
	e[l->ways - 1].key = ~0ULL;
}

bool tlb_init(struct tlb *t, const struct config *c)
{
	*t = (struct tlb) {};
	if (!level_init(&t->first, c->tlb_first, TLB_FIRST_WAYS) ||
	    !level_init(&t->huge, TLB_HUGE, TLB_HUGE_WAYS) ||
	    !level_init(&t->second, c->tlb_second, c->tlb_ways) ||
	    !level_init(&t->tables, TLB_TABLES, TLB_TABLES_WAYS) ||
	    !level_init(&t->directories, TLB_DIRECTORIES, TLB_DIRECTORIES)) {
		tlb_exit(t);
		return false;
	}
	tlb_clear(t);
	return true;
}

void tlb_exit(struct tlb *t)
{
	free(t->first.entry);
	free(t->huge.entry);
	free(t->second.entry);
	free(t->tables.entry);
	free(t->directories.entry);
	*t = (struct tlb) {};
}

static void forget_upper(struct tlb *t)
{
	level_clear(&t->tables);
	level_clear(&t->directories);
}

void tlb_clear(struct tlb *t)
{
	t->tag[0] = 1ULL << TAG_SHIFT;
	t->has_huge[0] = t->has_huge[1] = false;
	level_clear(&t->first);
	level_clear(&t->huge);
	level_clear(&t->second);
	forget_upper(t);
}

void tlb_new_space(struct tlb *t)
{
	t->tag[0] += 1ULL << TAG_SHIFT;
	t->has_huge[0] = false;
	/* Zero is the kernel's, and old tags must not come back. */
	if (t->tag[0] >> TAG_SHIFT == (1ULL << (64 - TAG_SHIFT)) - 1)
		tlb_clear(t);
	forget_upper(t);
}

void tlb_drop(struct tlb *t, uint64_t vaddr)
{
	uint64_t small = tlb_key(t, vaddr, SMALL_SHIFT);
	uint64_t huge = tlb_key(t, vaddr, HUGE_SHIFT);
	struct tlb_entry *e = t->first.entry, *end = e + t->first.sets * t->first.ways;
	unsigned int within = HUGE_SHIFT - SMALL_SHIFT;

	for (; e < end; e++)
		if (e->key == small ||
		    (e->page & TLB_PART && e->key >> within == small >> within))
			e->key = ~0ULL;
	drop(&t->huge, huge);
	drop(&t->second, huge);
	drop(&t->second, small);
	forget_upper(t);
}

static uint64_t within(uint64_t vaddr, unsigned int shift)
{
	return vaddr & ((1ULL << shift) - 1);
}

static void insert_part(struct tlb *t, uint64_t vaddr, uint64_t pa)
{
	insert(&t->first, tlb_key(t, vaddr, SMALL_SHIFT),
	       (pa - within(pa, SMALL_SHIFT)) | TLB_PART);
}

enum tlb_answer tlb_look_up(struct tlb *t, uint64_t vaddr, uint64_t *pa)
{
	uint64_t small = tlb_key(t, vaddr, SMALL_SHIFT), huge;
	struct tlb_entry *e = find(&t->first, small);
	bool has_huge = t->has_huge[vaddr >> 63];

	if (e) {
		*pa = (e->page & ~TLB_PART) | within(vaddr, SMALL_SHIFT);
		return TLB_FREE;
	}
	huge = tlb_key(t, vaddr, HUGE_SHIFT);
	e = has_huge ? find(&t->huge, huge) : NULL;
	if (e) {
		*pa = e->page | within(vaddr, HUGE_SHIFT);
		insert_part(t, vaddr, *pa);
		return TLB_FREE;
	}
	e = find(&t->second, small);
	if (e) {
		*pa = e->page | within(vaddr, SMALL_SHIFT);
		insert(&t->first, small, e->page);
		return TLB_SECOND;
	}
	e = has_huge ? find(&t->second, huge) : NULL;
	if (!e)
		return TLB_MISS;
	*pa = e->page | within(vaddr, HUGE_SHIFT);
	insert(&t->huge, huge, e->page);
	insert_part(t, vaddr, *pa);
	return TLB_SECOND;
}

void tlb_insert(struct tlb *t, uint64_t vaddr, uint64_t pa, bool huge)
{
	uint64_t key = tlb_key(t, vaddr, huge ? HUGE_SHIFT : SMALL_SHIFT);

	if (huge) {
		uint64_t page = pa - within(pa, HUGE_SHIFT);

		t->has_huge[vaddr >> 63] = true;
		insert(&t->second, key, page);
		insert(&t->huge, key, page);
		insert_part(t, vaddr, pa);
	} else {
		uint64_t page = pa - within(pa, SMALL_SHIFT);

		insert(&t->second, key, page);
		insert(&t->first, key, page);
	}
}

/* Physical address of @vaddr's entry in the table at @table, of the level at @shift. */
static uint64_t entry_of(uint64_t table, uint64_t vaddr, unsigned int shift)
{
	return (table & ADDRESS) + (vaddr >> shift & 511) * sizeof(uint64_t);
}

/* An entry of the page directory, or one above it that is of a giant page. */
static bool upper(struct tlb *t, struct walk *w, uint64_t space, uint64_t vaddr,
		  tlb_read read, uint64_t *value)
{
	uint64_t key = tlb_key(t, vaddr, GIANT_SHIFT), at;
	struct tlb_entry *e = find(&t->directories, key);

	if (e) {
		at = e->page;
	} else {
		*value = read(entry_of(space, vaddr, TOP_SHIFT));
		if (!(*value & TLB_PRESENT))
			return false;
		w->entry[w->entries] = entry_of(*value, vaddr, GIANT_SHIFT);
		*value = read(w->entry[w->entries]);
		if (!(*value & TLB_PRESENT))
			return false;
		w->entries++;
		if (*value & LEAF)
			return true;
		at = *value & ADDRESS;
		insert(&t->directories, key, at);
	}
	w->entry[w->entries] = entry_of(at, vaddr, HUGE_SHIFT);
	*value = read(w->entry[w->entries++]);
	return *value & TLB_PRESENT;
}

struct walk tlb_walk(struct tlb *t, uint64_t space, uint64_t vaddr, tlb_read read)
{
	uint64_t key = tlb_key(t, vaddr, HUGE_SHIFT), value = 0, table;
	struct tlb_entry *e = find(&t->tables, key);
	struct walk w = {};

	if (e) {
		table = e->page;
	} else {
		if (!upper(t, &w, space, vaddr, read, &value))
			return (struct walk) {};
		if (value & LEAF) {
			w.huge = true;
			return w;
		}
		table = value & ADDRESS;
		insert(&t->tables, key, table);
	}
	w.entry[w.entries++] = entry_of(table, vaddr, SMALL_SHIFT);
	return w;
}
