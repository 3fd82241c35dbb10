// SPDX-License-Identifier: GPL-2.0
/* What a hint fault does with a page of a lower tier: where it is booked, and who is asked. */
#include "hint_fault.h"

static struct task_struct other_thread;
static struct pghot_source others = { .accesses = &accesses };

TEST(a_fault_is_booked_where_its_page_goes)
{
	int booked;

	start();
	machine_thread(2);
	assert_int_equal(booked_on(0, 0), 0);
	assert_int_equal(booked_on(1, 1), 1);
	/* It is ready already. */
	assert_int_equal(fault(0, 0, &booked), NUMA_NO_NODE);
	assert_int_equal(booked, 2);
	machine_run(10);
	assert_int_equal(machine_moved(2, 0, 1, 0) + machine_moved(2, 1, 2, 1), 2);
	machine_stop();
}

/* Without room for all there is an order to keep to. */
TEST(a_fault_moves_its_page_only_where_all_may_come)
{
	const unsigned long *all = &machine_node[0].stat[PGPROMOTE_CANDIDATE_NRL];
	const unsigned long *hot = &machine_node[0].stat[PGPROMOTE_CANDIDATE];
	int booked;

	start();
	machine_plenty(0);
	machine_behind(2);
	assert_int_equal(fault(50, 0, &booked), 0);
	assert_int_equal(machine_stat("in_fault"), 1);
	assert_int_equal(*all, 1);
	/* Each is counted once, whoever moves it. */
	machine_folio(2, 51)->shared = true;
	assert_int_equal(booked_on(51, 0), 0);
	assert_int_equal(*all, 2);
	machine_room(0, TOP_PAGES / 8);
	assert_int_equal(booked_on(52, 0), 0);
	assert_int_equal(machine_stat("in_fault"), 1);
	assert_int_equal(*all, 2);
	assert_int_equal(*hot, 1);
	memset(&machine_node[0].stat, 0, sizeof(machine_node[0].stat));
	machine_stop();
}

/* As it is not without pghot, where the fault fails to move its page. */
TEST(a_fault_whose_page_waits_is_not_booked_on_its_target)
{
	start();
	machine_distance = machine_apart;
	machine_thread(2);
	machine_room(0, 0);
	/* That it has no room is not known before it was tried. */
	booked_on(0, 0);
	machine_run(10);
	assert_int_equal(booked_on(1, 0), 2);
	/* The other one takes what is accessed from there. */
	assert_int_equal(booked_on(2, 1), 1);
	machine_room(0, 1000);
	machine_run(PGHOT_PERIOD_MS);
	assert_int_equal(booked_on(3, 0), 0);
	machine_run(10);
	assert_int_equal(machine_moved(2, 0, 4, 0), 3);
	machine_stop();
}

TEST(a_fault_whose_page_waits_for_tokens_is_not_booked_on_its_target)
{
	start();
	machine_distance = machine_apart;
	machine_thread(2);
	sysctl_numa_balancing_promote_rate_limit = 0;
	booked_on(0, 0);
	machine_run(10);
	assert_int_equal(booked_on(1, 0), 2);
	machine_stop();
}

/* A thread other than the first, with a policy that nobody else has. */
static void start_bound(void)
{
	start();
	thread(&other_thread);
	machine_task_policy = (struct mempolicy) {
		.mode = MPOL_BIND, .flags = MPOL_F_MORON, .nodes = { { BIT(0) | BIT(2) } },
	};
	/* A quarter of a second's worth at once: 64 pages. */
	sysctl_numa_balancing_promote_rate_limit = 1;
}

/* Of so many pages, those that a fault may move itself. */
static unsigned int faults_move(unsigned long from, unsigned int nr)
{
	unsigned int n = 0;
	unsigned long i;
	int booked;

	for (i = from; i < from + nr; i++)
		n += fault(i, 0, &booked) == 0;
	return n;
}

static unsigned long node_0_takes(void)
{
	struct pghot_share share;

	pghot_target_share(0, 2, &share);
	return share.pages;
}

TEST(faults_that_move_pages_take_tokens)
{
	start_bound();
	assert_int_equal(node_0_takes(), 64);
	assert_int_equal(faults_move(0, 40), 40);
	assert_int_equal(node_0_takes(), 24);
	assert_int_equal(faults_move(40, 100), 24);
	assert_int_equal(node_0_takes(), 0);
	machine_run(125);
	assert_int_equal(faults_move(200, 100), 32);
	assert_int_equal(machine_stat("ready"), 0);
	machine_stop();
}

/* What a large page took too much of. */
TEST(faults_wait_for_what_kmigrated_took)
{
	unsigned long paid;
	u32 wait_ms;

	start_bound();
	assert_true(pghot_take_tokens(0, 2, 512, &paid, &wait_ms));
	assert_int_equal(faults_move(0, 10), 0);
	machine_run(2000);
	assert_int_equal(faults_move(0, 10), 10);
	machine_stop();
}

/* It finds that out itself, and has room made. */
TEST(a_fault_that_finds_no_room_takes_no_tokens)
{
	start_bound();
	machine_room(0, 0);
	assert_int_equal(faults_move(0, 10), 10);
	machine_room(0, 1000);
	assert_int_equal(node_0_takes(), 64);
	machine_stop();
}

TEST(where_there_is_plenty_faults_take_no_tokens)
{
	start_bound();
	machine_plenty(0);
	assert_int_equal(faults_move(0, 500), 500);
	machine_room(0, 1000);
	assert_int_equal(node_0_takes(), 64);
	machine_stop();
}

/* A container that has no more than nodes 0 and 2, with all threads of the process. */
static void start_in_cpuset(void)
{
	start();
	machine_mems_allowed = (nodemask_t) { { BIT(0) | BIT(2) } };
	process.cpuset = machine_mems_allowed;
}

/* What is asked later is what it knows. */
TEST(the_first_thread_does_not_ask_itself)
{
	start_in_cpuset();
	assert_int_equal(booked_on(0, 0), 0);
	process.policy = machine_task_policy.nodes = machine_mems_allowed;
	machine_task_policy.mode = MPOL_BIND;
	assert_int_equal(booked_on(1, 0), 0);
	assert_int_equal(machine_process_asked, 0);
	machine_stop();
}

TEST(another_thread_asks_what_the_first_allows)
{
	int booked;

	start_in_cpuset();
	thread(&other_thread);
	assert_int_equal(booked_on(0, 0), 0);
	assert_int_equal(machine_process_asked, 1);
	/* It does not forbid node 1: nobody else would know. */
	node_set(1, process.cpuset);
	assert_int_equal(fault(1, 0, &booked), 0);
	assert_int_equal(machine_stat("ready"), 1);
	machine_stop();
}

TEST(who_may_go_anywhere_asks_nobody)
{
	start();
	thread(&other_thread);
	process.cpuset = (nodemask_t) { { BIT(0) | BIT(2) } };
	assert_int_equal(booked_on(0, 0), 0);
	assert_int_equal(machine_process_asked, 0);
	machine_stop();
}

/* Do two slow faults, the second a window after its scan, make a page ready? */
static bool slow_faults_count(unsigned long i)
{
	unsigned long before = machine_stat("ready");
	int booked;

	fault_after(i, 0, PGHOT_WINDOW_MS - 1, &booked);
	fault_after(i, 0, PGHOT_WINDOW_MS, &booked);
	return machine_stat("ready") > before;
}

/* Of one whom others have mapped too it knows no more than its own mapping. */
TEST(a_slow_fault_proves_that_nobody_came_if_nobody_else_can)
{
	start();
	assert_false(slow_faults_count(0));
	machine_folio(2, 1)->shared = true;
	assert_true(slow_faults_count(1));
	machine_stop();
}

/* One process keeps the page in use while it waits, the other comes by late. */
/* Does one slow fault make a page ready that @nid accesses? */
static bool one_slow_fault_counts(unsigned long i, int nid)
{
	unsigned long before = machine_stat("ready");
	int booked;

	assert_int_equal(fault_after(i, nid, PGHOT_WINDOW_MS - 1, &booked), NUMA_NO_NODE);
	return machine_stat("ready") != before;
}

/* Nor that of one who is no target, for whom the nearest one decides, full or not. */
TEST(plenty_of_room_elsewhere_makes_no_page_hot)
{
	/* Node 3 stands for one that has CPUs, and no memory of the top tier. */
	static const int distance[NODES][NODES] = {
		{ 10, 20, 40, 20 },
		{ 20, 10, 40, 30 },
		{ 40, 40, 10, 40 },
		{ 20, 30, 40, 10 },
	};

	start();
	machine_room(0, 0);
	machine_plenty(1);
	assert_false(one_slow_fault_counts(0, 0));
	machine_stop();

	machine_distance = distance;
	start();
	machine_room(0, 0);
	machine_plenty(1);
	assert_false(one_slow_fault_counts(1, 3));
	machine_plenty(0);
	assert_true(one_slow_fault_counts(2, 3));
	machine_stop();
}

TEST(a_slow_fault_leaves_what_waits_hot)
{
	unsigned int i;
	int booked;

	start();
	machine_thread(2);
	machine_room(0, 0);
	machine_room(1, 0);
	booked_on(0, 0);
	for (i = 0; i < 60; i++) {
		machine_touch(2, 0);
		machine_run(PGHOT_PERIOD_MS);
	}
	assert_true(machine_stat("refreshed") > 0);
	fault_after(0, 0, PGHOT_WINDOW_MS, &booked);
	machine_room(0, 1000);
	machine_run(2 * PGHOT_PERIOD_MS);
	assert_int_equal(machine_moved(2, 0, 1, 0), 1);
	assert_int_equal(machine_stat("skip_stale"), 0);
	machine_stop();
}

/* Where a fast one is nobody has to look: its page is ready. */
TEST(a_slow_fault_says_where_to_look)
{
	u32 slow = PGHOT_WINDOW_MS - 1;
	int booked;

	start();
	near_told = 0;
	fault(1, 0, &booked);
	/* It is ready already. */
	fault(1, 0, &booked);
	assert_int_equal(near_told, 0);
	fault_after(7, 0, slow, &booked);
	assert_int_equal(near_told, 1);
	assert_int_equal(near_addr, 7 << PAGE_SHIFT);
	/* The second one makes it ready. */
	fault_after(7, 0, slow, &booked);
	assert_int_equal(machine_stat("ready"), 2);
	assert_int_equal(near_told, 1);
	machine_thread(2);
	machine_run(10);
	/* With plenty of room the first one does. */
	machine_plenty(0);
	fault_after(8, 0, slow, &booked);
	assert_int_equal(near_told, 1);
	machine_stop();
}

/* Of the first pages of node 2, how many are to be unmapped in each of @windows. */
static unsigned int wanted(unsigned int windows, unsigned int in[])
{
	unsigned long i;
	unsigned int w, n = 0;

	for (w = 0; w < windows; w++) {
		for (i = 0; i < AREA; i++) {
			bool is = __pghot_hint_wanted(machine_folio(2, i));

			n += is;
			if (in)
				in[i] += is;
		}
		jiffies += msecs_to_jiffies(PGHOT_WINDOW_MS);
	}
	return n;
}

/* Pages that are used once in some windows. */
static void used_now_and_then(void)
{
	unsigned int ms = 3 * sysctl_numa_balancing_hot_threshold, i;
	int booked;

	for (i = 0; i < 2 * AREA; i++) {
		jiffies += msecs_to_jiffies(PGHOT_WINDOW_MS) / 16;
		fault_after(i % AREA, 0, ms, &booked);
	}
}

TEST(pages_where_nothing_is_hot_are_left_mapped)
{
	unsigned int in[AREA] = { }, i, never = 0, n, before;

	start();
	assert_int_equal(wanted(1, NULL), AREA);
	used_now_and_then();
	assert_int_equal(machine_stat("ready"), 0);
	before = machine_stat("hint_spared");
	n = wanted(16, in);
	assert_in_range(n, AREA / 2, 2 * AREA);
	assert_int_equal(machine_stat("hint_spared") - before, 16 * AREA - n);
	/* They are others in each window. */
	for (i = 0; i < AREA; i++)
		never += !in[i];
	assert_in_range(never, 0, AREA / 8);
	/* A thread of the kernel's asks about what it knows to be hot. */
	thread(&kernel_thread);
	assert_int_equal(wanted(1, NULL), AREA);
	thread(&first_thread);
	pghot_backoff = 0;
	assert_int_equal(wanted(1, NULL), AREA);
	pghot_backoff = 1;
	assert_in_range(wanted(1, NULL), 0, AREA / 8);
	/* One fault is all that a large one costs. */
	for (i = 0; i < AREA; i += 16)
		machine_large(2, i, 4);
	assert_int_equal(wanted(1, NULL), AREA);
	machine_stop();
}

/* What other sources report in bulk and find hot. */
TEST(where_others_find_something_hot_all_are_unmapped_again)
{
	struct pghot_access hot = { .pfn = machine_pfn(2, 0) };

	start();
	hot.weight = pghot_tunables.freq_threshold;
	used_now_and_then();
	assert_in_range(wanted(1, NULL), 0, AREA / 8);
	pghot_record_range(&hot, 40, &others, machine_all, NULL);
	assert_int_equal(wanted(1, NULL), AREA);
	machine_stop();
}

TEST(where_something_becomes_hot_all_are_unmapped_again)
{
	unsigned int i;
	int booked;

	start();
	used_now_and_then();
	for (i = 0; i < 40; i++) {
		jiffies += msecs_to_jiffies(10);
		fault(i, 0, &booked);
	}
	assert_int_equal(wanted(1, NULL), AREA);
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(a_fault_is_booked_where_its_page_goes),
	cmocka_unit_test(a_fault_moves_its_page_only_where_all_may_come),
	cmocka_unit_test(a_fault_whose_page_waits_is_not_booked_on_its_target),
	cmocka_unit_test(a_fault_whose_page_waits_for_tokens_is_not_booked_on_its_target),
	cmocka_unit_test(faults_that_move_pages_take_tokens),
	cmocka_unit_test(faults_wait_for_what_kmigrated_took),
	cmocka_unit_test(a_fault_that_finds_no_room_takes_no_tokens),
	cmocka_unit_test(where_there_is_plenty_faults_take_no_tokens),
	cmocka_unit_test(the_first_thread_does_not_ask_itself),
	cmocka_unit_test(another_thread_asks_what_the_first_allows),
	cmocka_unit_test(who_may_go_anywhere_asks_nobody),
	cmocka_unit_test(a_slow_fault_proves_that_nobody_came_if_nobody_else_can),
	cmocka_unit_test(plenty_of_room_elsewhere_makes_no_page_hot),
	cmocka_unit_test(a_slow_fault_leaves_what_waits_hot),
	cmocka_unit_test(a_slow_fault_says_where_to_look),
	cmocka_unit_test(pages_where_nothing_is_hot_are_left_mapped),
	cmocka_unit_test(where_others_find_something_hot_all_are_unmapped_again),
	cmocka_unit_test(where_something_becomes_hot_all_are_unmapped_again),
)
