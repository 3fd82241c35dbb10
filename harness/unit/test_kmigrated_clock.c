// SPDX-License-Identifier: GPL-2.0
/* The clock: when it begins, when it wraps, and times that are long over. */
#include <linux/err.h>
#include <linux/kthread.h>

#include "unit.h"
#include "machine.h"

#define SECOND		1000U
#define FIVE_MINUTES	(300U * SECOND)
#define DAY		(24UL * 3600 * SECOND)
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

/* When it is to run again targets may take something. */
TEST(a_parked_thread_keeps_no_target_closed)
{
	struct pghot_node *node;

	start_waiting(false, DAY);
	machine_run(5);
	node = pghot_node(2);
	assert_true(node_isset(0, node->closed));
	kthread_park(node->kmigrated);
	assert_true(nodes_empty(node->closed));
	jiffies += 30 * DAY;
	machine_room(0, 1000);
	kthread_unpark(node->kmigrated);
	machine_ready(2, 2000, 0);
	machine_run(5);
	assert_int_equal(machine_moved(2, 2000, 2001, 0), 1);
	machine_stop();
}

TEST(who_promotes_once_a_month_finds_targets_open)
{
	unsigned long pages[NR_PGHOT_VERDICTS];
	struct pghot_promoter *p;
	struct pghot_range r;

	start_waiting(false, DAY);
	p = pghot_promoter_create(2);
	assert_false(IS_ERR(p));
	r = (struct pghot_range) { .pfn = machine_pfn(2, 5000), .nr = 8 };
	assert_int_equal(pghot_promote_ranges(p, &r, 1, ULONG_MAX, pages), 0);
	assert_int_equal(pages[PGHOT_PROMOTED], 0);
	jiffies += 30 * DAY;
	machine_room(0, 1000);
	r = (struct pghot_range) { .pfn = machine_pfn(2, 5000), .nr = 8 };
	assert_int_equal(pghot_promote_ranges(p, &r, 1, ULONG_MAX, pages), 0);
	assert_int_equal(pages[PGHOT_PROMOTED], 8);
	pghot_promoter_free(p);
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(what_is_ready_stays_so_when_jiffies_wrap_after_boot),
	cmocka_unit_test(a_thread_that_sleeps_has_all_forgotten_when_the_clock_wraps),
	cmocka_unit_test(a_parked_thread_keeps_no_target_closed),
	cmocka_unit_test(who_promotes_once_a_month_finds_targets_open),
)
