// SPDX-License-Identifier: GPL-2.0
/* Who goes first when not all can: by hotness, by address, by node. */
#include "unit.h"
#include "machine.h"

#define PAGES		8192UL

static unsigned long moves[PAGES];
static unsigned int work_ms;

/* All that is promoted is demoted soon, and accessed as it was. */
static void accessed_for_ever(void)
{
	unsigned long i;

	if (work_ms++ % 20)
		return;
	for (i = 0; i < PAGES; i++) {
		if (machine_moved(2, i, i + 1, 0)) {
			moves[i]++;
			machine_demote(2, i);
		}
		machine_ready(2, i, 0);
	}
}

TEST(low_addresses_are_not_served_first)
{
	unsigned long i, most = 0, least = ULONG_MAX;

	machine_start(false);
	memset(moves, 0, sizeof(moves));
	sysctl_numa_balancing_promote_rate_limit = 8;
	machine_work = accessed_for_ever;
	machine_thread(2);
	machine_run(20000);
	for (i = 0; i < PAGES; i++) {
		most = max(most, moves[i]);
		least = min(least, moves[i]);
	}
	/* 2048 a second, so each has had about five turns. */
	assert_in_range(least, 3, 6);
	assert_in_range(most, 4, 7);
	machine_work = NULL;
	machine_stop();
}

/* Two targets that are refused at different places. */
TEST(each_target_goes_on_where_it_was_refused)
{
	unsigned long i;

	machine_start(false);
	pghot_tunables.window_ms = 60000;
	sysctl_numa_balancing_promote_rate_limit = 1;
	for (i = 0; i < 4096; i++)
		machine_ready(2, i, i % 8 == 0);
	machine_thread(2);
	for (i = 0; i < 40; i++) {
		machine_run(100);
		/* What is at the beginning is in demand again at once. */
		for (unsigned long k = 0; k < 64; k++) {
			if (machine_folio(2, k)->refs)
				continue;
			machine_demote(2, k);
			machine_ready(2, k, k % 8 == 0);
		}
	}
	/* Four seconds take a thousand pages to each target. */
	assert_true(machine_moved(2, 64, 4096, 0) > 700);
	assert_true(machine_moved(2, 64, 4096, 1) > 400);
	machine_stop();
}

TEST(hottest_first_holds_beside_a_target_with_plenty)
{
	unsigned long i, hot = 0;

	machine_start(false);
	machine_plenty(1);
	pghot_tunables.window_ms = 60000;
	sysctl_numa_balancing_promote_rate_limit = 1;
	for (i = 0; i < PAGES; i++)
		machine_access(2, i, i % 4 == 3, i % 2 ? 3 : 2);
	machine_thread(2);
	machine_run(2000);
	for (i = 0; i < PAGES; i++) {
		if (i % 2)
			hot += machine_moved(2, i, i + 1, 0);
		else
			assert_int_equal(machine_moved(2, i, i + 1, 0), 0);
	}
	assert_true(hot > 400);
	/* What has plenty takes all of its own, hot or less so. */
	assert_int_equal(machine_moved(2, 0, PAGES, 1), PAGES / 4);
	machine_stop();
}

/* Most of what is ready, and hotter, is for a target that takes nothing. */
TEST(another_targets_queue_does_not_hold_back_a_class)
{
	unsigned long i;

	machine_start_apart(false);
	machine_room(0, 0);
	pghot_tunables.window_ms = 60000;
	for (i = 0; i < PAGES; i++)
		machine_access(2, i, i % 16 == 0, i % 16 ? 3 : 2);
	machine_room(1, PAGES / 16 + 10);
	machine_thread(2);
	machine_run(300);
	assert_int_equal(machine_moved(2, 0, PAGES, 1), PAGES / 16);
	machine_stop();
}

static void both_ready(void)
{
	unsigned long i;

	if (work_ms++ % 1000)
		return;
	for (i = 0; i < PAGES; i++) {
		if (machine_folio(2, i)->refs)
			machine_ready(2, i, 0);
		if (machine_folio(3, i)->refs)
			machine_ready(3, i, 0);
	}
}

static void assert_shared(unsigned long at_least)
{
	unsigned long a = machine_moved(2, 0, PAGES, 0);
	unsigned long b = machine_moved(3, 0, PAGES, 0);

	assert_true(a + b >= at_least);
	assert_in_range(100 * a / (a + b), 45, 55);
}

static void start_both_ready(void (*work)(void))
{
	machine_start(false);
	work_ms = 0;
	machine_work = work;
	sysctl_numa_balancing_promote_rate_limit = 2;
	machine_thread(2);
}

TEST(nodes_share_a_rate_limit)
{
	start_both_ready(both_ready);
	machine_thread(3);
	machine_run(10000);
	assert_shared(5000);
	machine_work = NULL;
	machine_stop();
}

static void both_ready_and_some_room(void)
{
	both_ready();
	if (work_ms % 50 == 0)
		machine_node[0].node_zones[0].free += 40;
}

TEST(nodes_share_room)
{
	start_both_ready(both_ready_and_some_room);
	sysctl_numa_balancing_promote_rate_limit = 65536;
	machine_room(0, 40);
	machine_room(1, 0);
	machine_thread(3);
	machine_run(10000);
	assert_shared(7000);
	machine_work = NULL;
	machine_stop();
}

/* A huge page takes tokens of seconds at once. */
TEST(nodes_share_whatever_the_size_of_folios)
{
	unsigned long i, a, b;

	machine_start(false);
	pghot_tunables.window_ms = 60000;
	sysctl_numa_balancing_promote_rate_limit = 2;
	for (i = 0; i < 20; i++) {
		machine_large(2, i * 512, 9);
		machine_ready(2, i * 512, 0);
	}
	for (i = 0; i < PAGES; i++)
		machine_ready(3, i, 0);
	machine_thread(2);
	machine_thread(3);
	machine_run(16000);
	a = 512 * (20 - pghot_map_ready(&machine_lower[2].map, NULL));
	b = machine_moved(3, 0, PAGES, 0);
	assert_true(a + b >= 7000);
	assert_in_range(100 * a / (a + b), 40, 60);
	machine_stop();
}

TEST(a_node_alone_has_all_of_its_target)
{
	start_both_ready(both_ready);
	machine_run(10000);
	assert_true(machine_moved(2, 0, PAGES, 0) > 5000);
	machine_work = NULL;
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(low_addresses_are_not_served_first),
	cmocka_unit_test(each_target_goes_on_where_it_was_refused),
	cmocka_unit_test(hottest_first_holds_beside_a_target_with_plenty),
	cmocka_unit_test(another_targets_queue_does_not_hold_back_a_class),
	cmocka_unit_test(nodes_share_a_rate_limit),
	cmocka_unit_test(nodes_share_room),
	cmocka_unit_test(nodes_share_whatever_the_size_of_folios),
	cmocka_unit_test(a_node_alone_has_all_of_its_target),
)
