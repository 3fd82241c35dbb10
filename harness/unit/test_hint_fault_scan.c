// SPDX-License-Identifier: GPL-2.0
/* source/hint_scan.c: which pages the scanner unmaps, and which page tables it leaves out. */
#include <string.h>

#include "hint_fault.h"

/* So many pages have their turn together. */
#define TABLES	4096UL

/* All that can be done by node 2's memory, so often. */
static unsigned long scan(unsigned int windows)
{
	unsigned long start, n = 0;
	unsigned int w;

	memset(looked, 0, sizeof(looked));
	memset(unmapped, 0, sizeof(unmapped));
	for (w = 0; w < windows; w++) {
		for (start = 0; start < NODE_PAGES; start += 2 * TABLES)
			n += pghot_scan(&vma, start << PAGE_SHIFT,
					(start + 2 * TABLES) << PAGE_SHIFT);
		jiffies += msecs_to_jiffies(PGHOT_WINDOW_MS);
	}
	return n;
}

static unsigned long sum(const unsigned int of[])
{
	unsigned long i, n = 0;

	for (i = 0; i < NODE_PAGES; i++)
		n += of[i];
	return n;
}

TEST(as_long_as_nothing_is_held_back_all_are_unmapped)
{
	start();
	assert_int_equal(scan(2), 2 * NODE_PAGES);
	assert_int_equal(sum(looked), 2 * NODE_PAGES);
	assert_int_equal(machine_stat("hint_spared"), 0);
	machine_stop();
}

/* By its number alone a page is known to be of the top tier, which memory tiering leaves mapped. */
TEST(a_scan_passes_over_what_lies_outside_lower_tiers)
{
	const struct pghot_scan_pfns any = pghot_scan_pfns;
	unsigned long first = machine_pfn(2, 0);

	start();
	assert_false(pghot_scan_passes(0));
	assert_false(pghot_scan_passes(ULONG_MAX - 1));
	pghot_scan_pfns = (struct pghot_scan_pfns) { first, NODE_PAGES };
	assert_true(pghot_scan_passes(first - 1));
	assert_false(pghot_scan_passes(first));
	assert_false(pghot_scan_passes(first + NODE_PAGES - 1));
	assert_true(pghot_scan_passes(first + NODE_PAGES));
	/* To balance sockets it is to unmap others. */
	sysctl_numa_balancing_mode |= NUMA_BALANCING_NORMAL;
	assert_false(pghot_scan_passes(first - 1));
	sysctl_numa_balancing_mode &= ~NUMA_BALANCING_NORMAL;
	/* There are no lower tiers. */
	pghot_scan_pfns = (struct pghot_scan_pfns) { ULONG_MAX, 0 };
	assert_true(pghot_scan_passes(0));
	assert_true(pghot_scan_passes(first));
	pghot_scan_pfns = any;
	machine_stop();
}

/* As few as before, and for what less of them costs. */
TEST(where_few_are_wanted_few_page_tables_are_looked_at)
{
	const unsigned int windows = 256;
	unsigned long all = windows * NODE_PAGES, i, never = 0;
	u32 held;

	for (held = 1; held <= PGHOT_SPEED_HELD_MAX; held++) {
		u32 tables = held > 2 ? held - 2 : 0;

		start();
		pghot_held_back = held;
		scan(windows);
		assert_in_range(sum(looked), (all >> tables) * 3 / 4, (all >> tables) * 4 / 3);
		assert_in_range(sum(unmapped), (all >> held) * 3 / 4, (all >> held) * 4 / 3);
		assert_int_equal(machine_stat("hint_spared"), all - sum(unmapped));
		for (i = 0; i < NODE_PAGES; i++)
			never += !unmapped[i];
		machine_stop();
	}
	/* Each has its turn. */
	assert_in_range(never, 0, NODE_PAGES / 50);
	pghot_held_back = 0;
}

/* Or it would go through all memory eight times as fast, and unmap as many more. */
TEST(what_is_left_out_counts_as_scanned)
{
	unsigned long at;

	start();
	pghot_held_back = PGHOT_SPEED_HELD_MAX;
	for (at = 0; at < NODE_PAGES; at += TABLES)
		assert_true(pghot_scan(&vma, at << PAGE_SHIFT, (at + TABLES) << PAGE_SHIFT) > 0);
	pghot_held_back = 0;
	machine_stop();
}

/* As where nothing is mapped, or all is in the top tier. */
TEST(where_there_is_nothing_to_unmap_that_is_said)
{
	unsigned int w, nothing = 0;

	start();
	pghot_held_back = PGHOT_SPEED_HELD_MAX;
	there_is_nothing = true;
	for (w = 0; w < 64; w++) {
		nothing += !pghot_scan(&vma, 0, 8 * TABLES << PAGE_SHIFT);
		jiffies += msecs_to_jiffies(PGHOT_WINDOW_MS);
	}
	there_is_nothing = false;
	assert_in_range(nothing, 16, 64);
	pghot_held_back = 0;
	machine_stop();
}

/* Between sockets other pages are looked for, in all tables. */
TEST(who_balances_between_sockets_looks_at_all_tables)
{
	start();
	pghot_held_back = PGHOT_SPEED_HELD_MAX;
	sysctl_numa_balancing_mode |= NUMA_BALANCING_NORMAL;
	scan(64);
	assert_int_equal(sum(looked), 64 * NODE_PAGES);
	assert_in_range(sum(unmapped), 2 * NODE_PAGES * 3 / 4, 2 * NODE_PAGES * 4 / 3);
	pghot_held_back = 0;
	machine_stop();
}

/* It asks about what it knows to be hot, whatever the table's turn is. */
TEST(a_thread_of_the_kernels_does_not_scan)
{
	start();
	pghot_held_back = PGHOT_SPEED_HELD_MAX;
	thread(&kernel_thread);
	scan(1);
	assert_int_equal(sum(looked), NODE_PAGES);
	pghot_held_back = 0;
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(as_long_as_nothing_is_held_back_all_are_unmapped),
	cmocka_unit_test(a_scan_passes_over_what_lies_outside_lower_tiers),
	cmocka_unit_test(where_few_are_wanted_few_page_tables_are_looked_at),
	cmocka_unit_test(what_is_left_out_counts_as_scanned),
	cmocka_unit_test(where_there_is_nothing_to_unmap_that_is_said),
	cmocka_unit_test(who_balances_between_sockets_looks_at_all_tables),
	cmocka_unit_test(a_thread_of_the_kernels_does_not_scan),
)
