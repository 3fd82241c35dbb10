// SPDX-License-Identifier: GPL-2.0
/* The clock: when it begins, and when it wraps. */
#include "unit.h"
#include "machine.h"

#define SECOND		1000U
#define FIVE_MINUTES	(300U * SECOND)
#define READY		100UL

/* Pages of node 2 are ready for node 0, which has no room, as no node has. */
static void start_waiting(bool precise, unsigned long since_boot_ms)
{
	unsigned long i;

	machine_start(precise);
	jiffies = INITIAL_JIFFIES + since_boot_ms;
	machine_room(0, 0);
	machine_room(1, 0);
	machine_thread(2);
	for (i = 0; i < READY; i++)
		machine_ready(2, i, 0);
}

static void jiffies_wrap(bool precise)
{
	start_waiting(precise, FIVE_MINUTES - SECOND / 2);
	machine_run(SECOND);
	assert_int_equal(machine_stat("skip_stale"), 0);
	machine_room(0, 1000);
	machine_run(2 * PGHOT_PERIOD_MS);
	assert_int_equal(machine_moved(2, 0, READY, 0), READY);
	machine_stop();
}

TEST(what_is_ready_stays_so_when_jiffies_wrap_after_boot)
{
	jiffies_wrap(false);
	jiffies_wrap(true);
}

static void accesses_are_one(bool precise, u32 window_ms)
{
	machine_start(precise);
	pghot_tunables.window_ms = window_ms;
	jiffies = INITIAL_JIFFIES + U32_MAX - 10;
	machine_thread(2);
	machine_access(2, 0, 0, 1);
	/* Nobody wakes the thread. */
	machine_run(20);
	machine_access(2, 0, 0, 1);
	machine_run(20);
	assert_int_equal(machine_stat("ready"), 0);
	machine_stop();
}

/* Windows with which the first era looks like the one after the last. */
TEST(a_thread_that_sleeps_has_all_forgotten_when_the_clock_wraps)
{
	static const u32 windows[] = { 4000, 31076, 31079, 49356, 55936, 59932 };
	unsigned int i;

	for (i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		accesses_are_one(false, windows[i]);
		accesses_are_one(true, windows[i]);
	}
}

UNIT_MAIN(
	cmocka_unit_test(what_is_ready_stays_so_when_jiffies_wrap_after_boot),
	cmocka_unit_test(a_thread_that_sleeps_has_all_forgotten_when_the_clock_wraps),
)
