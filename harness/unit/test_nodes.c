// SPDX-License-Identifier: GPL-2.0
/*
 * There is no memory for what pghot needs: nothing is left of what it began, and
 * all works once there is memory. And what is known of all nodes together.
 */
#include "lives.h"

static struct pghot_source source = { .name = "source", .on = true };

static void switch_on(void)
{
	assert_int_equal(machine_write("pghot", "enabled", "1"), 0);
	assert_true(pghot_is_enabled());
	assert_true(source.running);
	assert_all_works();
	assert_all_is_shown();
}

static void switch_off(void)
{
	assert_int_equal(machine_write("pghot", "enabled", "0"), 0);
	assert_all_is_off();
}

/* Everything is yet to be made: when memory came there was none for pghot. */
static bool switched_on(unsigned int n)
{
	unsigned int failed;
	int err;

	machine_power_on();
	assert_int_equal(machine_boot(), 0);
	switch_off();
	assert_int_equal(pghot_register_source(&source), 0);
	harness_fail.pages = harness_fail.vmalloc = harness_fail.slab = true;
	memory_comes();
	fail_no_more();
	assert_all_is_off();

	fail_in_life(n);
	err = machine_write("pghot", "enabled", "1");
	failed = fail_no_more();
	if (err) {
		assert_int_equal(err, -ENOMEM);
		assert_false(pghot_is_enabled());
		assert_false(source.running);
		assert_all_is_off();
	} else {
		assert_true(!failed || only_one);
		assert_true(source.running);
		assert_all_works();
		switch_off();
	}
	switch_on();
	switch_off();
	return lives_on(n, failed);
}

TEST(switching_on_needs_all_it_allocates)
{
	all_lives(switched_on, 19);
}

static bool booted(unsigned int n)
{
	unsigned int failed;
	int err;

	machine_power_on();
	memory_comes();
	fail_in_life(n);
	err = machine_boot();
	failed = fail_no_more();
	if (err) {
		const struct harness_live none = { };
		struct harness_live live = harness_live();

		assert_int_equal(err, -ENOMEM);
		assert_memory_equal(&live, &none, sizeof(live));
		assert_false(machine_has_dir("pghot"));
		assert_int_equal(pghot_register_source(&source), -ENODEV);
		return true;
	}
	assert_int_equal(pghot_register_source(&source), 0);
	switch_on();
	switch_off();
	return lives_on(n, failed);
}

TEST(boot_fails_as_a_whole_or_is_made_up_for)
{
	all_lives(booted, 20);
}

static bool grown(unsigned int n)
{
	unsigned int failed;

	machine_power_on();
	machine_online(0, 0, SECTIONS);
	machine_online(2, 0, 1);
	assert_int_equal(machine_boot(), 0);
	assert_int_equal(pghot_register_source(&source), 0);

	fail_in_life(n);
	machine_online(1, 0, SECTIONS);
	machine_online(2, 1, SECTIONS - 1);
	machine_online(3, 0, SECTIONS);
	failed = fail_no_more();
	/* What there was works on. */
	assert_true(source.running);
	machine_ready(2, 5, 0);
	machine_run(PGHOT_PERIOD_MS);
	assert_int_equal(machine_moved(2, 5, 6, 0), 1);
	/* What is missing comes when all nodes are looked at again. */
	machine_tiers(LOWER);
	assert_all_is_shown();
	assert_all_works();
	switch_off();
	return lives_on(n, failed);
}

TEST(memory_that_comes_without_memory_for_it_leaves_the_rest_alone)
{
	all_lives(grown, 10);
}

/* A node whose thread could not be started is asked for again by its next block. */
static bool came_in_blocks(unsigned int n)
{
	unsigned int failed;
	int nid;

	machine_power_on();
	assert_int_equal(machine_boot(), 0);
	assert_int_equal(pghot_register_source(&source), 0);
	fail_in_life(n);
	for (nid = 0; nid < NODES; nid++)
		machine_online(nid, 0, 1);
	failed = fail_no_more();
	for (nid = 0; nid < NODES; nid++) {
		machine_online(nid, 1, 1);
		assert_true(nid < LOWER ? pghot_target_active(nid) :
					  pghot_node(nid)->active);
	}
	for (nid = 0; nid < NODES; nid++)
		machine_offline(nid, 0, SECTIONS);
	assert_all_is_off();
	for (nid = LOWER; nid < NODES; nid++) {
		assert_false(pghot_node(nid)->active);
		assert_false(has_dir("node", nid));
	}
	memory_comes();
	assert_all_is_shown();
	assert_all_works();
	switch_off();
	return lives_on(n, failed);
}

TEST(the_next_block_brings_what_the_first_could_not)
{
	all_lives(came_in_blocks, 17);
}

/* With a gap, as large as that of memory that is yet to come. */
static bool with_a_gap(unsigned int n)
{
	unsigned long before = harness_resched;

	machine_power_on();
	machine_online(0, 0, 1);
	machine_online(2, 0, 1);
	machine_online(2, NODE_SECTIONS - 1, 1);
	assert_int_equal(machine_boot(), 0);
	assert_int_equal(pghot_register_source(&source), 0);
	assert_int_equal(tracked(2), 2);
	assert_true(harness_resched - before >= NODE_SECTIONS);

	before = harness_resched;
	switch_off();
	assert_true(harness_resched - before >= NODE_SECTIONS);
	return false;
}

TEST(others_may_run_after_each_section_of_a_node)
{
	assert_int_equal(machine_lives(with_a_gap), 0);
}

static void begin_full(void)
{
	machine_power_on();
	memory_comes();
	assert_int_equal(machine_boot(), 0);
	assert_int_equal(pghot_register_source(&source), 0);
	machine_room(0, 0);
	machine_room(1, 0);
}

/* Of what is ready all waits: nodes on which nothing is have no say. */
static bool one_waits(unsigned int n)
{
	begin_full();
	machine_run(100);
	assert_false(pghot_all_waiting());
	machine_ready(LOWER, 7, NUMA_NO_NODE);
	machine_run(100);
	assert_true(pghot_all_waiting());
	assert_true(pghot_few_ready());
	machine_room(0, 1000);
	machine_run(500);
	assert_int_equal(machine_moved(LOWER, 7, 8, 0), 1);
	assert_false(pghot_all_waiting());
	return false;
}

/* Whoever comes now is moved after all of those. */
static bool many_wait(unsigned int n)
{
	begin_full();
	assert_true(pghot_few_ready());
	machine_ready_first(LOWER, 1024, NUMA_NO_NODE);
	assert_true(pghot_few_ready());
	machine_ready(LOWER, 1024, NUMA_NO_NODE);
	assert_false(pghot_few_ready());
	return false;
}

TEST(few_are_ready_until_more_wait_than_are_moved_at_once)
{
	assert_int_equal(machine_lives(many_wait), 0);
}

TEST(all_waits_though_another_node_has_nothing_ready)
{
	assert_int_equal(machine_lives(one_waits), 0);
}

/* What records are in cannot go offline, and each report waits for it. */
static bool records_of(unsigned long full, unsigned long where)
{
	machine_power_on();
	memory_comes();
	assert_int_equal(machine_boot(), 0);
	harness_fail.nodes = full;
	harness_had = 0;
	assert_int_equal(pghot_register_source(&source), 0);
	harness_fail.nodes = 0;
	assert_true(source.running);
	assert_int_equal(harness_had, where);
	return false;
}

static bool records_in_top_tier(unsigned int n)
{
	/* Each lower node's nearest. */
	return records_of(0, BIT(0) | BIT(1));
}

static bool records_in_one_of_them(unsigned int n)
{
	return records_of(BIT(0), BIT(1));
}

static bool records_anywhere(unsigned int n)
{
	return records_of(BIT(0) | BIT(1), HARNESS_HAD_ANY);
}

TEST(records_are_in_the_top_tier_as_long_as_it_has_memory)
{
	assert_int_equal(machine_lives(records_in_top_tier), 0);
	assert_int_equal(machine_lives(records_in_one_of_them), 0);
	assert_int_equal(machine_lives(records_anywhere), 0);
}

/* It may take minutes to get a block offline, or for ever. */
static bool switched_meanwhile(unsigned int n)
{
	machine_power_on();
	memory_comes();
	assert_int_equal(machine_boot(), 0);
	assert_int_equal(pghot_register_source(&source), 0);
	machine_hotplug_off = MACHINE_HOTPLUG;
	switch_off();
	switch_on();
	machine_hotplug_off = 0;
	return false;
}

TEST(switching_does_not_wait_for_memory_hotplug)
{
	assert_int_equal(machine_lives(switched_meanwhile), 0);
}

/* Ready pages of a full machine, and a window that is written. */
static unsigned long moved_after(const char *window_ms)
{
	begin_full();
	machine_ready_first(LOWER, 10, NUMA_NO_NODE);
	machine_run(10);
	assert_int_equal(machine_write("pghot", "window_ms", window_ms), 0);
	machine_room(0, 1000);
	machine_run(500);
	return machine_moved(LOWER, 0, 10, 0);
}

static bool same_window(unsigned int n)
{
	assert_int_equal(moved_after("4000"), 10);
	return false;
}

static bool other_window(unsigned int n)
{
	assert_int_equal(moved_after("4001"), 0);
	return false;
}

TEST(only_another_window_forgets)
{
	assert_int_equal(machine_lives(same_window), 0);
	assert_int_equal(machine_lives(other_window), 0);
}

/* In the default layout eras come round after so many buckets, here of 25 ms. */
#define ROUND	(4096UL * 5 * 25)

static bool shorter_window(unsigned int n)
{
	begin_full();
	/* By then the thread sleeps. */
	machine_run(1000);
	assert_int_equal(machine_write("pghot", "window_ms", "100"), 0);
	machine_run(125 - pghot_now_ms() % 125);
	machine_access(LOWER, 0, 0, 1);
	machine_run(ROUND);
	machine_access(LOWER, 0, 0, 1);
	assert_int_equal(machine_stat("ready"), 0);
	return false;
}

TEST(a_thread_that_sleeps_by_a_longer_window_is_woken)
{
	assert_int_equal(machine_lives(shorter_window), 0);
}

static bool looked_for(int nid)
{
	return machine_pfn(nid, 0) - pghot_scan_pfns.first < pghot_scan_pfns.nr;
}

static bool scan_follows_memory(unsigned int n)
{
	assert_true(looked_for(0) && looked_for(LOWER));
	machine_power_on();
	machine_online(0, 0, 1);
	assert_int_equal(machine_boot(), 0);
	assert_false(looked_for(0) || looked_for(LOWER));
	machine_online(LOWER, 0, 1);
	assert_false(looked_for(0) || looked_for(LOWER + 1));
	assert_true(looked_for(LOWER));
	machine_online(LOWER + 1, 0, 1);
	machine_online(1, 0, 1);
	assert_false(looked_for(0) || looked_for(1));
	assert_true(looked_for(LOWER) && looked_for(LOWER + 1));
	machine_offline(LOWER, 0, 1);
	assert_false(looked_for(LOWER));
	assert_true(looked_for(LOWER + 1));
	/* Of a node that is there already. */
	machine_online(LOWER + 1, 1, 1);
	assert_true(machine_pfn(LOWER + 1, 2 * PAGES_PER_SECTION - 1) - pghot_scan_pfns.first <
		    pghot_scan_pfns.nr);
	return false;
}

TEST(the_scan_passes_over_nodes_that_are_not_of_a_lower_tier)
{
	assert_int_equal(machine_lives(scan_follows_memory), 0);
}

UNIT_MAIN(
	cmocka_unit_test(switching_on_needs_all_it_allocates),
	cmocka_unit_test(boot_fails_as_a_whole_or_is_made_up_for),
	cmocka_unit_test(memory_that_comes_without_memory_for_it_leaves_the_rest_alone),
	cmocka_unit_test(the_next_block_brings_what_the_first_could_not),
	cmocka_unit_test(others_may_run_after_each_section_of_a_node),
	cmocka_unit_test(few_are_ready_until_more_wait_than_are_moved_at_once),
	cmocka_unit_test(all_waits_though_another_node_has_nothing_ready),
	cmocka_unit_test(records_are_in_the_top_tier_as_long_as_it_has_memory),
	cmocka_unit_test(switching_does_not_wait_for_memory_hotplug),
	cmocka_unit_test(only_another_window_forgets),
	cmocka_unit_test(a_thread_that_sleeps_by_a_longer_window_is_woken),
	cmocka_unit_test(the_scan_passes_over_nodes_that_are_not_of_a_lower_tier),
)
