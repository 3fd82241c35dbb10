// SPDX-License-Identifier: GPL-2.0
/*
 * evicted.c: where nothing is demoted for what is promoted, but evicted, promotion goes on
 * unless that is wanted again.
 */
#include <linux/mm_inline.h>
#include <linux/vmstat.h>

#include "evicted.h"
#include "exchange.h"

/* For so many that come so many are evicted; of so many of these one is read again; 0: none. */
static unsigned int evicts_in, evicts_of, back_in;
/* Where that is. */
static int back_to;
/* For what comes, and not for a memory cgroup's limit. */
static bool by_kswapd;
/* How many are evicted from another node beside each. */
static unsigned int evict_elsewhere;
static unsigned long evicted, before;

static void count(unsigned int nid, enum node_stat_item item, unsigned long n)
{
	mod_node_page_state(NODE_DATA(nid), item, n);
}

/* By kswapd, to make room. */
static void steal(unsigned int nid, enum node_stat_item item, unsigned long n)
{
	count(nid, item, n);
	count(nid, PGSTEAL_KSWAPD, n);
}

static void evict(void)
{
	unsigned long n;

	tick();
	for (n = came / evicts_in * evicts_of; evicted < n; evicted++) {
		if (by_kswapd)
			steal(0, PGSTEAL_FILE, 1);
		else
			count(0, PGSTEAL_FILE, 1);
		steal(2, PGSTEAL_FILE, evict_elsewhere);
		if (back_in && evicted % back_in == 0)
			count(back_to, WORKINGSET_REFAULT_FILE, 1);
	}
}

static void begin_evicting(unsigned int in, unsigned int of, unsigned int back)
{
	begin(20, 0);
	give_away = false;
	evicts_in = in;
	evicts_of = of;
	back_in = back;
	back_to = 0;
	by_kswapd = true;
	evict_elsewhere = 0;
	evicted = 0;
	machine_work = evict;
}

TEST(what_is_evicted_and_wanted_again_slows_promotion_down)
{
	unsigned int in;

	for (in = 1; in <= 2; in++) {
		begin_evicting(in, 1, 8);
		machine_run(4 * WINDOW);
		assert_true(is_held_back());
		assert_int_equal(pghot_target(0)->gain_percent, PGHOT_EVICTED_PERCENT);
		assert_true(machine_stat("exchange_loss") > 0);
		came = evicted = 0;
		machine_run(8 * WINDOW);
		assert_in_range(came, 0, 8 * WINDOW * come_a_tick / 20);
		machine_stop();
	}
}

TEST(what_is_evicted_and_not_missed_is_no_loss)
{
	begin_evicting(1, 1, 0);
	machine_run(8 * WINDOW);
	assert_false(is_held_back());
	back_in = 40;
	machine_run(8 * WINDOW);
	assert_false(is_held_back());
	assert_int_equal(machine_stat("exchange_loss"), 0);
	machine_stop();
}

TEST(it_comes_back_when_nothing_is_missed_any_more)
{
	begin_evicting(1, 1, 4);
	machine_run(20 * WINDOW);
	assert_true(is_held_back());
	back_in = 0;
	machine_run((PGHOT_SPEED_WINDOWS + 20) * WINDOW);
	assert_false(is_held_back());
	machine_stop();
}

/* Others are short of memory, and promotion has little part in it. */
TEST(others_may_evict_far_less_or_far_more)
{
	begin_evicting(8, 1, 1);
	machine_run(8 * WINDOW);
	assert_false(is_held_back());
	machine_stop();
	begin_evicting(1, 8, 1);
	machine_run(8 * WINDOW);
	assert_false(is_held_back());
	assert_int_equal(machine_stat("exchange_loss"), 0);
	machine_stop();
}

/* Somebody else brings pages here, and reclaim has its own reasons. */
TEST(what_others_bring_is_not_judged_by_it)
{
	begin_evicting(1, 1, 1);
	machine_run(1);
	atomic_long_set(&pghot_target(0)->promoted, 0);
	come_a_tick = 0;
	steal(0, PGSTEAL_FILE, 10000);
	count(0, WORKINGSET_REFAULT_FILE, 10000);
	machine_run(8 * WINDOW);
	assert_int_equal(machine_stat("exchange_loss"), 0);
	machine_stop();
}

/* A memory cgroup at its limit reads its files again and again. The node has room. */
TEST(what_is_evicted_for_a_limit_is_not_for_room)
{
	begin_evicting(1, 1, 1);
	by_kswapd = false;
	machine_room(0, 100000);
	machine_run(8 * WINDOW);
	assert_int_equal(machine_stat("exchange_loss"), 0);
	assert_false(is_held_back());
	machine_stop();
}

/* What it reads again says nothing of the cold pages that kswapd takes meanwhile. */
static void evict_for_both(void)
{
	evict();
	count(0, PGSTEAL_FILE, 10 * come_a_tick);
	count(0, WORKINGSET_REFAULT_FILE, 10 * come_a_tick);
}

TEST(a_limit_beside_it_is_no_loss)
{
	begin_evicting(1, 1, 0);
	machine_work = evict_for_both;
	machine_run(8 * WINDOW);
	assert_int_equal(machine_stat("exchange_loss"), 0);
	assert_false(is_held_back());
	machine_stop();
}

/* As a program that starts and reads its files from where they were evicted hours ago. */
TEST(what_is_read_again_all_at_once_is_no_loss)
{
	begin_evicting(1, 1, 0);
	machine_run(WINDOW / 16);
	count(0, WORKINGSET_REFAULT_FILE, came / 8);
	machine_run(2 * WINDOW);
	assert_int_equal(machine_stat("exchange_loss"), 0);
	assert_false(is_held_back());
	machine_stop();
}

/* One in 4 comes back to another node, from which so many are evicted for each. */
static void begin_elsewhere(bool by_gen, unsigned int others)
{
	begin_evicting(1, 1, 4);
	back_to = 2;
	machine_lru_gen = by_gen;
	evict_elsewhere = others;
}

/* With the multi-gen LRU it is known from where; without it, only how much of all. */
TEST(what_others_evicted_comes_back)
{
	begin_elsewhere(true, 0);
	machine_run(8 * WINDOW);
	assert_false(is_held_back());
	machine_stop();

	begin_elsewhere(false, 0);
	machine_run(4 * WINDOW);
	assert_true(is_held_back());
	machine_stop();

	begin_elsewhere(false, 8);
	machine_run(8 * WINDOW);
	assert_false(is_held_back());
	machine_stop();
}

static void demote_most(void)
{
	evict();
	steal(0, PGSTEAL_ANON, came - before);
	count(0, PGDEMOTE_KSWAPD, came - before);
	before = came;
}

/* As long as most of what goes is demoted, it is by that that promotion is judged. */
TEST(what_is_demoted_is_not_evicted)
{
	begin_evicting(1, 1, 1);
	give_away = true;
	went_every = 80;
	before = 0;
	machine_work = demote_most;
	machine_run(8 * WINDOW);
	assert_false(is_held_back());
	assert_true(machine_stat("exchange_gain") > 3);
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(what_is_evicted_and_wanted_again_slows_promotion_down),
	cmocka_unit_test(what_is_evicted_and_not_missed_is_no_loss),
	cmocka_unit_test(it_comes_back_when_nothing_is_missed_any_more),
	cmocka_unit_test(others_may_evict_far_less_or_far_more),
	cmocka_unit_test(what_others_bring_is_not_judged_by_it),
	cmocka_unit_test(what_is_evicted_for_a_limit_is_not_for_room),
	cmocka_unit_test(a_limit_beside_it_is_no_loss),
	cmocka_unit_test(what_is_read_again_all_at_once_is_no_loss),
	cmocka_unit_test(what_others_evicted_comes_back),
	cmocka_unit_test(what_is_demoted_is_not_evicted),
)
