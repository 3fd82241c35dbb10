// SPDX-License-Identifier: GPL-2.0
#include "test.h"

#include <string.h>

#include "tlb.h"

#define KERNEL_HALF	0xffff888000000000ULL
#define PAGE		4096ULL
#define MIB		(1ULL << 20)

static const struct config machine = {
	.tlb_first = 16, .tlb_second = 96, .tlb_ways = 12,
};

/* Where the model finds @vaddr, as access.c asks. */
static enum tlb_answer ask(struct tlb *t, uint64_t vaddr, uint64_t *pa)
{
	return tlb_first(t, vaddr, pa) ? TLB_FREE : tlb_look_up(t, vaddr, pa);
}

/* A set-associative table written down plainly: when each page was used last. */
struct plain {
	unsigned int sets, ways;
	uint64_t last[256];
};

static bool plain_use(struct plain *p, uint64_t page, uint64_t now, bool insert)
{
	unsigned int i, later = 0;
	bool held;

	for (i = page % p->sets; i < 256; i += p->sets)
		later += p->last[i] > p->last[page];
	held = p->last[page] && later < p->ways;
	if (held || insert)
		p->last[page] = now;
	return held;
}

static void the_two_levels_keep_what_was_used_last(void **state)
{
	struct plain first = { .sets = 4, .ways = 4 }, second = { .sets = 8, .ways = 12 };
	uint64_t x = 5, n, pa, seen[3] = {};
	struct tlb t;

	(void)state;
	assert_true(tlb_init(&t, &machine));
	for (n = 1; n <= 200000; n++) {
		/* Some pages more often than others. */
		uint64_t page = number(&x) % 256 & number(&x) % 256, at = number(&x) % PAGE;
		enum tlb_answer want = TLB_MISS, got;

		if (plain_use(&first, page, n, true))
			want = TLB_FREE;
		else if (plain_use(&second, page, n, true))
			want = TLB_SECOND;
		got = ask(&t, page * PAGE + at, &pa);
		assert_int_equal(got, want);
		seen[got]++;
		if (got == TLB_MISS)
			tlb_insert(&t, page * PAGE + at, (page ^ 0x55) * PAGE + at, false);
		else
			assert_int_equal(pa, (page ^ 0x55) * PAGE + at);
	}
	assert_true(seen[TLB_FREE] > 1000 && seen[TLB_SECOND] > 1000 &&
		    seen[TLB_MISS] > 1000);
	tlb_exit(&t);
}

static void a_huge_page_is_one_translation(void **state)
{
	uint64_t at, pa;
	struct tlb t;

	(void)state;
	assert_true(tlb_init(&t, &machine));
	tlb_insert(&t, 6 * MIB + 0x5123, 64 * MIB + 0x5123, true);
	for (at = 0; at < 2 * MIB; at += 777) {
		assert_int_equal(ask(&t, 6 * MIB + at, &pa), TLB_FREE);
		assert_int_equal(pa, 64 * MIB + at);
	}
	assert_int_equal(ask(&t, 8 * MIB, &pa), TLB_MISS);
	assert_int_equal(ask(&t, 6 * MIB - 1, &pa), TLB_MISS);
	/* So many others that only the second level still knows it. */
	for (at = 1; at <= TLB_HUGE_WAYS; at++)
		tlb_insert(&t, 6 * MIB + at * 16 * MIB, at * 2 * MIB, true);
	for (at = 0; at < 16; at++)
		tlb_insert(&t, 4096 * MIB + at * PAGE, at * PAGE, false);
	assert_int_equal(ask(&t, 6 * MIB + 0x9000, &pa), TLB_SECOND);
	assert_int_equal(pa, 64 * MIB + 0x9000);
	assert_int_equal(ask(&t, 6 * MIB + 0xa000, &pa), TLB_FREE);
	tlb_exit(&t);
}

static void each_flush_drops_what_it_should(void **state)
{
	uint64_t pa, n;
	struct tlb t;

	(void)state;
	assert_true(tlb_init(&t, &machine));
	tlb_insert(&t, 0x1000, 0xa000, false);
	tlb_insert(&t, 0x2000, 0xb000, false);
	tlb_insert(&t, 2 * MIB, 8 * MIB, true);
	tlb_insert(&t, KERNEL_HALF, 0xc000, false);
	assert_int_equal(ask(&t, 2 * MIB + 0x7000, &pa), TLB_FREE);
	tlb_drop(&t, 0x1fff);
	assert_int_equal(ask(&t, 0x1000, &pa), TLB_MISS);
	assert_int_equal(ask(&t, 0x2000, &pa), TLB_FREE);
	/* All parts of a huge page. */
	tlb_drop(&t, 2 * MIB + 0x1000);
	assert_int_equal(ask(&t, 2 * MIB, &pa), TLB_MISS);
	assert_int_equal(ask(&t, 2 * MIB + 0x7000, &pa), TLB_MISS);
	tlb_new_space(&t);
	assert_int_equal(ask(&t, 0x2000, &pa), TLB_MISS);
	assert_int_equal(ask(&t, KERNEL_HALF, &pa), TLB_FREE);
	assert_int_equal(pa, 0xc000);
	/* Huge ones of the kernel's half stay too. */
	tlb_insert(&t, KERNEL_HALF + 4 * MIB, 16 * MIB, true);
	tlb_new_space(&t);
	assert_int_equal(ask(&t, KERNEL_HALF + 4 * MIB + 0x9000, &pa), TLB_FREE);
	assert_int_equal(pa, 16 * MIB + 0x9000);
	tlb_clear(&t);
	assert_int_equal(ask(&t, KERNEL_HALF, &pa), TLB_MISS);
	/* Numbers of address spaces come to an end. */
	tlb_insert(&t, 0x1000, 0xa000, false);
	tlb_insert(&t, KERNEL_HALF, 0xc000, false);
	for (n = 0; n < 1 << 22; n++) {
		tlb_new_space(&t);
		if (ask(&t, 0x1000, &pa) != TLB_MISS)
			fail();
	}
	tlb_exit(&t);
}

/* What INVLPG leaves free is taken first. */
static void a_dropped_place_is_taken_first(void **state)
{
	uint64_t pa, n;
	struct tlb t;

	(void)state;
	assert_true(tlb_init(&t, &machine));
	/* All of one set of the second level, and more than one of the first. */
	for (n = 0; n < 12; n++)
		tlb_insert(&t, n * 8 * PAGE, n * PAGE, false);
	tlb_drop(&t, 11 * 8 * PAGE);
	tlb_insert(&t, 12 * 8 * PAGE, 12 * PAGE, false);
	for (n = 0; n < 11; n++)
		assert_int_not_equal(ask(&t, n * 8 * PAGE, &pa), TLB_MISS);
	tlb_exit(&t);
}

/* Page tables: the top at 0x1000, then one page for each level. */
static uint64_t tables[6 * 512];
static unsigned int reads;

static uint64_t read_table(uint64_t pa)
{
	assert_true(pa >= 0x1000 && pa < 0x1000 + sizeof(tables));
	reads++;
	return tables[(pa - 0x1000) / 8];
}

static void a_walk_reads_what_is_not_known(void **state)
{
	/* Index 1 in the top, 2, 3, 4. */
	uint64_t vaddr = 1ULL << 39 | 2ULL << 30 | 3ULL << 21 | 4ULL << 12 | 5;
	struct tlb t;
	struct walk w;

	(void)state;
	assert_true(tlb_init(&t, &machine));
	memset(tables, 0, sizeof(tables));
	assert_int_equal(tlb_walk(&t, 0x1000, vaddr, read_table).entries, 0);
	tables[1] = 0x2003;
	assert_int_equal(tlb_walk(&t, 0x1000, vaddr, read_table).entries, 0);
	tables[512 + 2] = 0x3003;
	assert_int_equal(tlb_walk(&t, 0x1000, vaddr, read_table).entries, 0);
	/* A huge page, by bit 7, then a page table. */
	tables[1024 + 3] = 0x8000000040000083ULL;
	w = tlb_walk(&t, 0x1000, vaddr, read_table);
	assert_true(w.huge);
	assert_int_equal(w.entries, 1);
	assert_int_equal(w.entry[0], 0x3000 + 3 * 8);
	tables[1024 + 3] = 0x8000000000004063ULL;
	tlb_drop(&t, vaddr);
	w = tlb_walk(&t, 0x1000, vaddr, read_table);
	assert_false(w.huge);
	assert_int_equal(w.entries, 3);
	assert_int_equal(w.entry[0], 0x2000 + 2 * 8);
	assert_int_equal(w.entry[1], 0x3000 + 3 * 8);
	assert_int_equal(w.entry[2], 0x4000 + 4 * 8);
	/* Now the upper levels are known: a neighbour needs only its own entry. */
	reads = 0;
	w = tlb_walk(&t, 0x1000, vaddr + PAGE, read_table);
	assert_int_equal(w.entries, 1);
	assert_int_equal(w.entry[0], 0x4000 + 5 * 8);
	assert_int_equal(reads, 0);
	/* Another page table of the same directory. */
	tables[1024 + 7] = 0x5003;
	w = tlb_walk(&t, 0x1000, vaddr + 8 * MIB, read_table);
	assert_int_equal(w.entries, 2);
	assert_int_equal(reads, 1);
	/* A page of 1 GiB. */
	tables[512 + 9] = 0x80000083ULL;
	w = tlb_walk(&t, 0x1000, 1ULL << 39 | 9ULL << 30, read_table);
	assert_true(w.huge);
	assert_int_equal(w.entries, 1);
	/* A new address space knows nothing of the old one's tables. */
	tlb_new_space(&t);
	assert_int_equal(tlb_walk(&t, 0x1000, vaddr, read_table).entries, 3);
	tlb_exit(&t);
}

static void a_walk_marks_pages_that_are_there(void **state)
{
	(void)state;
	assert_int_equal(tlb_accessed(0x5003), 0x5023);
	assert_int_equal(tlb_accessed(0x5023), 0x5023);
	/* As NUMA balancing leaves them, or migration. */
	assert_int_equal(tlb_accessed(0x5102), 0x5102);
	assert_int_equal(tlb_accessed(0), 0);
}

int test_tlb(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_two_levels_keep_what_was_used_last),
		cmocka_unit_test(a_huge_page_is_one_translation),
		cmocka_unit_test(each_flush_drops_what_it_should),
		cmocka_unit_test(a_dropped_place_is_taken_first),
		cmocka_unit_test(a_walk_reads_what_is_not_known),
		cmocka_unit_test(a_walk_marks_pages_that_are_there),
	};

	return cmocka_run_group_tests_name("tlb", tests, NULL, NULL);
}
