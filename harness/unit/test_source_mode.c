// SPDX-License-Identifier: GPL-2.0
/*
 * A source that depends on NUMA balancing runs while that has memory tiering on.
 * Otherwise it takes no memory and has nothing promoted, whatever it had found;
 * its switch stays, and others go on.
 */
#include <linux/array_size.h>

#include "lives.h"

#define TIERING	NUMA_BALANCING_MEMORY_TIERING
#define NORMAL	NUMA_BALANCING_NORMAL

static unsigned int starts, stops;
static int start_err;

static int start(struct pghot_source *source)
{
	if (!start_err)
		starts++;
	return start_err;
}

static void stop(struct pghot_source *source)
{
	stops++;
}

static struct pghot_source source = {
	.name = "source", .on = true, .start = start, .stop = stop,
};

static void boot(int mode)
{
	machine_power_on();
	sysctl_numa_balancing_mode = mode;
	memory_comes();
	assert_int_equal(machine_boot(), 0);
	assert_int_equal(pghot_register_source(&source), 0);
}

static void assert_running(bool running)
{
	assert_int_equal(machine_read("source", "running"), running);
	assert_int_equal(starts - stops, running);
	assert_true(pghot_is_enabled());
}

static void assert_runs(void)
{
	assert_running(true);
	assert_all_works();
}

static void assert_rests(void)
{
	assert_running(false);
	assert_all_is_off();
}

static bool modes_change(unsigned int n)
{
	static const int without[] = { NUMA_BALANCING_DISABLED, NORMAL };
	static const int with[] = { TIERING, TIERING | NORMAL };
	unsigned int i, k;

	boot(NUMA_BALANCING_DISABLED);
	assert_rests();
	for (i = 0; i < ARRAY_SIZE(without); i++)
		for (k = 0; k < ARRAY_SIZE(with); k++) {
			machine_balance(without[i]);
			assert_rests();
			assert_int_equal(machine_read("source", "enabled"), 1);
			machine_balance(with[k]);
			assert_runs();
		}
	assert_int_equal(starts, 4);
	pghot_unregister_source(&source);
	assert_all_is_off();
	return false;
}

TEST(it_runs_in_the_modes_with_memory_tiering)
{
	assert_int_equal(machine_lives(modes_change), 0);
}

/* The handler of the sysctl sets the mode in between, and hint faults come at once. */
static bool before_and_after(unsigned int n)
{
	boot(NORMAL);
	pghot_balancing_changes(TIERING);
	assert_running(true);
	sysctl_numa_balancing_mode = TIERING;
	pghot_balancing_changed();
	assert_runs();
	assert_int_equal(starts, 1);
	pghot_balancing_changes(NORMAL);
	assert_running(true);
	sysctl_numa_balancing_mode = NORMAL;
	pghot_balancing_changed();
	assert_rests();
	return false;
}

TEST(it_runs_before_the_first_fault_and_until_the_last_one)
{
	assert_int_equal(machine_lives(before_and_after), 0);
}

static bool nothing_new(unsigned int n)
{
	boot(TIERING);
	assert_runs();
	machine_balance(TIERING);
	machine_balance(TIERING | NORMAL);
	assert_runs();
	machine_balance(TIERING);
	assert_int_equal(starts, 1);
	assert_int_equal(stops, 0);
	return false;
}

TEST(it_goes_on_where_memory_tiering_does)
{
	assert_int_equal(machine_lives(nothing_new), 0);
}

/* What waits for room does not go once there is some. */
static bool waited(unsigned int n)
{
	int nid;

	boot(TIERING);
	for (nid = 0; nid < LOWER; nid++)
		machine_room(nid, 0);
	machine_ready_first(LOWER, 100, 0);
	machine_run(PGHOT_PERIOD_MS);
	assert_true(machine_stat("delay_target_full") > 0);
	machine_balance(n ? NORMAL : NUMA_BALANCING_DISABLED);
	assert_rests();
	assert_int_equal(machine_stat("skip_disabled"), 100);
	for (nid = 0; nid < LOWER; nid++)
		machine_room(nid, TOP_PAGES / 8);
	machine_run(PGHOT_WINDOW_MS);
	assert_int_equal(machine_stat("promoted_pages"), 0);
	machine_check();
	/* Nor do they go for what was found before. */
	machine_balance(TIERING);
	machine_run(PGHOT_WINDOW_MS);
	assert_int_equal(machine_stat("promoted_pages"), 0);
	assert_runs();
	return !n;
}

TEST(what_waits_is_not_promoted_in_another_mode)
{
	assert_int_equal(machine_lives(waited), 1);
}

static bool switched(unsigned int n)
{
	boot(NORMAL);
	assert_int_equal(machine_write("source", "enabled", "0"), 0);
	machine_balance(TIERING);
	assert_rests();
	assert_int_equal(machine_write("source", "enabled", "1"), 0);
	assert_runs();
	assert_int_equal(machine_write("pghot", "enabled", "0"), 0);
	assert_int_equal(machine_read("source", "running"), 0);
	machine_balance(NORMAL);
	assert_int_equal(machine_write("pghot", "enabled", "1"), 0);
	assert_rests();
	assert_int_equal(machine_write("source", "enabled", "0"), 0);
	assert_int_equal(machine_write("source", "enabled", "1"), 0);
	assert_rests();
	machine_balance(TIERING);
	assert_runs();
	return false;
}

TEST(its_switch_is_what_it_was_set_to)
{
	assert_int_equal(machine_lives(switched), 0);
}

static bool others_run(unsigned int n)
{
	struct pghot_source other = {
		.name = "other", .on = true, .alone = true,
	};

	boot(NUMA_BALANCING_DISABLED);
	assert_int_equal(pghot_register_source(&other), 0);
	assert_running(false);
	assert_true(other.running);
	assert_all_works();
	machine_balance(TIERING);
	assert_runs();
	machine_ready(LOWER, 9, 0);
	machine_balance(NORMAL);
	assert_running(false);
	assert_true(other.running);
	assert_int_equal(machine_stat("skip_disabled"), 0);
	assert_all_works();
	pghot_unregister_source(&other);
	assert_rests();
	return false;
}

TEST(one_that_works_alone_does_not_notice)
{
	assert_int_equal(machine_lives(others_run), 0);
}

/* On by default, but nowhere that nobody asked for promotion. */
static bool waits_for_it(unsigned int n)
{
	source.alone = true;
	source.tiering = true;
	boot(NUMA_BALANCING_DISABLED);
	assert_rests();
	assert_true(machine_shows("source", "enabled", "tiering"));
	machine_balance(TIERING);
	assert_runs();
	machine_balance(NORMAL);
	assert_rests();
	assert_int_equal(machine_write("source", "enabled", "1"), 0);
	assert_runs();
	assert_true(machine_shows("source", "enabled", "1"));
	assert_int_equal(machine_write("source", "enabled", "tier"), -EINVAL);
	assert_int_equal(machine_write("source", "enabled", "tieringx"), -EINVAL);
	assert_runs();
	assert_int_equal(machine_write("source", "enabled", "tiering\n"), 0);
	assert_rests();
	machine_balance(TIERING | NORMAL);
	assert_runs();
	assert_int_equal(machine_write("source", "enabled", "0"), 0);
	assert_rests();
	assert_true(machine_shows("source", "enabled", "0"));
	return false;
}

TEST(one_that_works_alone_may_wait_for_memory_tiering)
{
	assert_int_equal(machine_lives(waits_for_it), 0);
}

/* The word says nothing new of one that needs it anyway. */
static bool says_nothing_new(unsigned int n)
{
	boot(TIERING);
	assert_int_equal(machine_write("source", "enabled", "tiering"), 0);
	assert_true(machine_shows("source", "enabled", "1"));
	assert_runs();
	return false;
}

TEST(one_that_needs_memory_tiering_is_on_with_it)
{
	assert_int_equal(machine_lives(says_nothing_new), 0);
}

static bool no_memory(unsigned int n)
{
	unsigned int failed;

	boot(NUMA_BALANCING_DISABLED);
	fail_in_life(n);
	machine_balance(TIERING);
	failed = fail_no_more();
	if (!pghot_is_enabled()) {
		assert_all_is_off();
		assert_int_equal(machine_read("source", "enabled"), 1);
		assert_int_equal(machine_write("pghot", "enabled", "1"), 0);
	}
	assert_runs();
	pghot_unregister_source(&source);
	assert_all_is_off();
	return lives_on(n, failed);
}

TEST(memory_tiering_needs_maps)
{
	all_lives(no_memory, 5);
}

/* Who changes the mode is killed meanwhile. That takes nothing from what is on by default. */
static bool killed(unsigned int n)
{
	source.alone = source.tiering = true;
	boot(NUMA_BALANCING_DISABLED);
	start_err = -EINTR;
	machine_balance(TIERING);
	assert_rests();
	start_err = 0;
	machine_balance(NORMAL);
	machine_balance(TIERING);
	assert_runs();
	/* What cannot run here is not tried again and again. */
	machine_balance(NORMAL);
	start_err = -EOPNOTSUPP;
	machine_balance(TIERING);
	start_err = 0;
	machine_balance(NORMAL);
	machine_balance(TIERING);
	assert_rests();
	return false;
}

TEST(who_is_killed_switches_nothing_off_for_good)
{
	assert_int_equal(machine_lives(killed), 0);
}

/* The handler of the sysctl is there with pghot=off, too. */
static bool early(unsigned int n)
{
	machine_balance(TIERING);
	boot(TIERING);
	assert_runs();
	return false;
}

TEST(a_mode_may_change_before_pghot_starts)
{
	assert_int_equal(machine_lives(early), 0);
}

UNIT_MAIN(
	cmocka_unit_test(it_runs_in_the_modes_with_memory_tiering),
	cmocka_unit_test(it_runs_before_the_first_fault_and_until_the_last_one),
	cmocka_unit_test(it_goes_on_where_memory_tiering_does),
	cmocka_unit_test(what_waits_is_not_promoted_in_another_mode),
	cmocka_unit_test(its_switch_is_what_it_was_set_to),
	cmocka_unit_test(one_that_works_alone_does_not_notice),
	cmocka_unit_test(one_that_works_alone_may_wait_for_memory_tiering),
	cmocka_unit_test(one_that_needs_memory_tiering_is_on_with_it),
	cmocka_unit_test(memory_tiering_needs_maps),
	cmocka_unit_test(who_is_killed_switches_nothing_off_for_good),
	cmocka_unit_test(a_mode_may_change_before_pghot_starts),
)
