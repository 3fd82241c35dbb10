// SPDX-License-Identifier: GPL-2.0
/* When a node's thread sleeps, and what wakes it. */
#include "unit.h"
#include "machine.h"

#include <linux/kthread.h>
#include <linux/sched/stat.h>
#include <linux/smp.h>

/* What they copy nobody has used. */
TEST(who_promotes_is_known)
{
	struct task_struct someone = { .flags = 0 };

	machine_start(false);
	machine_thread(2);
	machine_thread(3);
	machine_run(1);
	assert_true(pghot_is_kmigrated(machine_lower[2].kmigrated));
	assert_true(pghot_is_kmigrated(machine_lower[3].kmigrated));
	assert_false(pghot_is_kmigrated(&someone));
	machine_stop();
}

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

/* Which keeps it there as CPUs come and go, those that are yet to come as well. */
TEST(a_thread_belongs_to_the_node_with_the_nearest_cpus)
{
	machine_start(false);
	machine_thread(2);
	assert_int_equal(machine_thread_node, 0);
	machine_thread(3);
	assert_int_equal(machine_thread_node, 1);
	machine_stop();
}

TEST(cpus_that_are_offline_count)
{
	machine_start(false);
	node_clear(1, node_states[N_CPU]);
	machine_thread(3);
	assert_int_equal(machine_thread_node, 1);
	machine_stop();
}

TEST(cpus_that_have_no_node_do_not)
{
	int usual[4];

	memcpy(usual, machine_cpu_node, sizeof(usual));
	machine_start(false);
	machine_cpu_node[2] = machine_cpu_node[3] = NUMA_NO_NODE;
	machine_thread(3);
	assert_int_equal(machine_thread_node, 0);
	machine_cpu_node[0] = machine_cpu_node[1] = NUMA_NO_NODE;
	machine_thread(2);
	assert_int_equal(machine_thread_node, NUMA_NO_NODE);
	machine_stop();
	memcpy(machine_cpu_node, usual, sizeof(usual));
}

static void ready(unsigned long first, unsigned int nr)
{
	unsigned long i;

	for (i = first; i < first + nr; i++)
		machine_ready(2, i, 0);
}

/* Many become ready, and the thread sees them, and whether others want its CPU. */
static void start_seen(bool crowded)
{
	machine_start(false);
	machine_thread(2);
	machine_crowded = crowded;
	ready(0, 100);
	/* It has not run, so nobody knows. */
	assert_false(pghot_is_behind(2));
	machine_run(10);
	assert_false(pghot_is_behind(2));
}

TEST(a_thread_with_a_cpu_for_itself_is_behind_with_many)
{
	start_seen(false);
	ready(100, 256);
	assert_false(pghot_is_behind(2));
	ready(356, 1);
	assert_true(pghot_is_behind(2));
	machine_run(10);
	assert_false(pghot_is_behind(2));
	machine_stop();
}

TEST(who_shares_a_cpu_is_behind_with_more_than_a_few)
{
	start_seen(true);
	ready(100, 4);
	assert_false(pghot_is_behind(2));
	ready(104, 1);
	assert_true(pghot_is_behind(2));
	assert_false(pghot_is_behind(3));
	/* Only what it did not see counts. */
	machine_run(10);
	assert_false(pghot_is_behind(2));
	machine_stop();
}

TEST(who_gets_a_cpu_again_is_no_longer_behind)
{
	start_seen(true);
	machine_crowded = false;
	ready(100, 5);
	assert_true(pghot_is_behind(2));
	machine_run(10);
	ready(200, 100);
	assert_false(pghot_is_behind(2));
	machine_stop();
}

/* Of 40 that become ready one after the other. */
static unsigned long batches(bool crowded, bool full)
{
	unsigned long i, before;

	start_seen(crowded);
	if (!full)
		machine_plenty(1);
	before = machine_stat("batches");
	for (i = 100; i < 140; i++) {
		ready(i, 1);
		machine_run(1);
	}
	before = machine_stat("batches") - before;
	machine_stop();
	return before;
}

TEST(a_thread_leaves_a_crowded_cpu_to_others_for_a_slice)
{
	assert_in_range(batches(false, false), 15, 40);
	assert_in_range(batches(true, false), 5, 10);
}

/* Faults move nothing there. */
TEST(a_thread_makes_fewer_batches_on_a_crowded_cpu_without_room_for_all)
{
	assert_in_range(batches(false, true), 15, 40);
	assert_in_range(batches(true, true), 2, batches(true, false) * 2 / 3);
}

/* Whoever reports to it wakes it, and only that does. */
TEST(a_thread_that_nobody_kicked_is_not_behind)
{
	struct pghot_node *node = &machine_lower[2];

	start_seen(true);
	atomic_long_set(&node->unseen, 100);
	assert_false(node->kick);
	assert_false(pghot_is_behind(2));
	ready(100, 1);
	assert_true(pghot_is_behind(2));
	machine_run(1);
	assert_int_equal(machine_moved(2, 100, 101, 0), 1);
	assert_false(pghot_is_behind(2));
	machine_stop();
}

/* Barriers that are yet to come before the other one's turn. */
static int turn_after;

static void others_report(void)
{
	if (turn_after--)
		return;
	machine_meanwhile = NULL;
	ready(100, 10);
}

static void thread_looks(void)
{
	if (turn_after--)
		return;
	machine_meanwhile = NULL;
	pghot_wake_seen(&machine_lower[2]);
}

/* As it is when the thread would sleep. Return if there was a turn. */
static bool kicked_if_unseen(void)
{
	struct pghot_node *node = &machine_lower[2];
	bool turn = !machine_meanwhile;

	machine_meanwhile = NULL;
	assert_true(node->kick || !atomic_long_read(&node->unseen));
	return turn;
}

TEST(a_kick_is_not_lost_while_the_thread_begins_to_look)
{
	int barrier = 0;
	bool turn;

	do {
		start_seen(true);
		ready(200, 10);
		turn_after = barrier++;
		machine_meanwhile = others_report;
		pghot_wake_seen(&machine_lower[2]);
		turn = kicked_if_unseen();
		machine_stop();
	} while (turn);
	assert_true(barrier > 2);
}

TEST(a_kick_is_not_lost_while_others_report)
{
	bool kicked, turn;
	int barrier;

	for (kicked = false;; kicked = true) {
		barrier = 0;
		do {
			start_seen(true);
			ready(200, kicked);
			turn_after = barrier++;
			machine_meanwhile = thread_looks;
			pghot_wake_kmigrated(&machine_lower[2], 0);
			turn = kicked_if_unseen();
			machine_stop();
		} while (turn);
		assert_true(barrier > 2);
		if (kicked)
			break;
	}
}

static void report_from(bool rt, bool preempt_off, bool irqs_off)
{
	struct pghot_node *node = &machine_lower[2];

	machine_start(false);
	machine_thread(2);
	machine_run(10);
	machine_preempt_rt = rt;
	machine_preempt_off = preempt_off;
	machine_irqs_off = irqs_off;
	machine_ready(2, 7, 0);
	machine_preempt_off = false;
	machine_irqs_off = false;
	assert_true(node->kick);
	assert_int_equal(node->wake_work.pending, irqs_off);
	irq_work_sync(&node->wake_work);
	machine_run(1);
	assert_int_equal(machine_moved(2, 7, 8, 0), 1);
	machine_preempt_rt = false;
	machine_stop();
}

/* Where the lock of the wait queue must not be taken an interrupt takes it. */
TEST(a_record_may_become_ready_wherever_that_is_seen)
{
	unsigned int i;

	for (i = 0; i < 8; i++)
		report_from(i & 1, i & 2, i & 4);
}

/* Nobody moves what waits for a full target, or is woken for it. */
TEST(what_waits_for_a_closed_target_is_not_behind)
{
	start_seen(true);
	machine_room(0, 0);
	machine_room(1, 0);
	ready(100, 4);
	machine_run(PGHOT_PERIOD_MS + 10);
	ready(200, 100);
	assert_false(pghot_is_behind(2));
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(who_promotes_is_known),
	cmocka_unit_test(readiness_wakes_a_thread_that_sleeps),
	cmocka_unit_test(records_from_before_the_thread_are_found),
	cmocka_unit_test(what_becomes_ready_soon_after_moves_together),
	cmocka_unit_test(each_lower_node_has_its_own_thread),
	cmocka_unit_test(a_thread_belongs_to_the_node_with_the_nearest_cpus),
	cmocka_unit_test(cpus_that_are_offline_count),
	cmocka_unit_test(cpus_that_have_no_node_do_not),
	cmocka_unit_test(a_thread_with_a_cpu_for_itself_is_behind_with_many),
	cmocka_unit_test(who_shares_a_cpu_is_behind_with_more_than_a_few),
	cmocka_unit_test(who_gets_a_cpu_again_is_no_longer_behind),
	cmocka_unit_test(a_thread_leaves_a_crowded_cpu_to_others_for_a_slice),
	cmocka_unit_test(a_thread_makes_fewer_batches_on_a_crowded_cpu_without_room_for_all),
	cmocka_unit_test(a_thread_that_nobody_kicked_is_not_behind),
	cmocka_unit_test(a_kick_is_not_lost_while_the_thread_begins_to_look),
	cmocka_unit_test(a_kick_is_not_lost_while_others_report),
	cmocka_unit_test(a_record_may_become_ready_wherever_that_is_seen),
	cmocka_unit_test(what_waits_for_a_closed_target_is_not_behind),
)
