// SPDX-License-Identifier: GPL-2.0
/* When a node's thread sleeps, and what wakes it. */
#include "unit.h"
#include "machine.h"

TEST(readiness_wakes_a_thread_that_sleeps)
{
	machine_start(false);
	machine_thread(2);
	machine_run(1000);
	machine_ready(2, 7, 0);
	machine_run(1);
	assert_int_equal(machine_moved(2, 7, 8, 0), 1);
	assert_int_equal(machine_stat("wakeups"), 1);
	machine_stop();
}

TEST(records_from_before_the_thread_are_found)
{
	machine_start(false);
	machine_ready(2, 7, 0);
	machine_thread(2);
	machine_run(PGHOT_PERIOD_MS + 1);
	assert_int_equal(machine_moved(2, 7, 8, 0), 1);
	machine_stop();
}

TEST(what_becomes_ready_soon_after_moves_together)
{
	unsigned long i;

	machine_start(false);
	machine_thread(2);
	machine_run(10);
	machine_ready(2, 0, 0);
	machine_run(1);
	for (i = 1; i < 6; i++)
		machine_ready(2, i, 0);
	machine_run(5);
	assert_int_equal(machine_stat("batches"), 2);
	assert_int_equal(machine_stat("wakeups"), 1);
	machine_stop();
}

TEST(each_lower_node_has_its_own_thread)
{
	machine_start(false);
	machine_thread(2);
	machine_thread(3);
	machine_ready(2, 0, 0);
	machine_ready(3, 0, 1);
	machine_run(PGHOT_PERIOD_MS + 1);
	assert_int_equal(machine_moved(2, 0, 1, 0), 1);
	assert_int_equal(machine_moved(3, 0, 1, 1), 1);
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(readiness_wakes_a_thread_that_sleeps),
	cmocka_unit_test(records_from_before_the_thread_are_found),
	cmocka_unit_test(what_becomes_ready_soon_after_moves_together),
	cmocka_unit_test(each_lower_node_has_its_own_thread),
)
