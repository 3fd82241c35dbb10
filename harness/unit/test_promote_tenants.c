// SPDX-License-Identifier: GPL-2.0
/* Memory cgroups that share a target: many pages of one keep none waiting. */
#include "unit.h"
#include "machine.h"

#define MANY	(3UL * PAGES_PER_SECTION)
#define FEW	100UL

static struct mem_cgroup one = { .allowed.bits = { ~0UL } };
static struct mem_cgroup other = { .allowed.bits = { ~0UL } };

/* The other's few pages begin at @at, and are less hot; 512 a second may move. */
static void start(unsigned long at)
{
	unsigned long i;

	machine_start(false);
	pghot_tunables.window_ms = 8000;
	sysctl_numa_balancing_promote_rate_limit = 2;
	for (i = 0; i < MANY; i++) {
		bool few = i >= at && i < at + FEW;

		machine_folio(2, i)->memcg = few ? &other : &one;
		machine_access(2, i, 0, few ? 2 : 3);
	}
	machine_thread(2);
}

/* So many pages of each are in the top tier. */
static void moved(unsigned long *of_one, unsigned long *of_other)
{
	unsigned long i;

	*of_one = 0;
	*of_other = 0;
	for (i = 0; i < MANY; i++) {
		struct folio *folio = machine_folio(2, i);

		if (folio->target != 0)
			continue;
		if (folio->memcg == &one)
			++*of_one;
		else
			++*of_other;
	}
}

static void assert_the_few_go(void)
{
	unsigned long a, b;

	machine_run(4000);
	moved(&a, &b);
	assert_int_equal(b, FEW);
	/* And nothing is lost of what the target takes. */
	assert_in_range(a + b, 1900, 2200);
	machine_stop();
}

TEST(the_few_do_not_wait_for_the_many)
{
	start(MANY / 2);
	assert_the_few_go();
}

TEST(the_few_do_not_wait_at_the_end)
{
	start(MANY - FEW);
	assert_the_few_go();
}

static unsigned int room_comes;

static void some_room(void)
{
	if (++room_comes % 4 == 0)
		machine_node[0].node_zones[0].free += 4;
}

/* In passes of some ms each, whoever is looked for: many of them make a round. */
TEST(the_few_do_not_wait_where_room_comes_all_the_time)
{
	unsigned long a, b;

	start(MANY / 2);
	sysctl_numa_balancing_promote_rate_limit = 65536;
	machine_room(0, 0);
	machine_room(1, 0);
	room_comes = 0;
	machine_work = some_room;
	/* The first round begins after two seconds, a quarter of the window. */
	machine_run(3500);
	moved(&a, &b);
	assert_int_equal(b, FEW);
	machine_work = NULL;
	machine_stop();
}

TEST(one_alone_goes_as_ever)
{
	unsigned long i, from;

	start(0);
	for (i = 0; i < MANY; i++)
		machine_folio(2, i)->memcg = &one;
	machine_run(2000);
	/* In order, from the first. */
	for (from = 0; machine_moved(2, from, from + 1, 0) || from < FEW; from++)
		;
	assert_int_equal(machine_moved(2, from, MANY, 0), 0);
	assert_true(from > 900);
	machine_stop();
}

/* Not to see whether what waits is in use; that has a bound of its own. */
static unsigned long looked(void)
{
	return machine_looked - machine_bits_looked;
}

/* What is looked at in vain, a second: a bounded number of folios a pass. */
TEST(looking_costs_little)
{
	unsigned long asked;

	start(0);
	machine_run(1000);
	asked = looked();
	machine_run(4000);
	print_message("%lu looks for %lu pages\n", looked() - asked,
		      machine_stat("moved"));
	assert_true(looked() - asked <= 4 * 10 * 1100);
	machine_stop();
}

/* Who has many pages too gets about as much. */
TEST(both_that_have_many_go)
{
	unsigned long i, a, b;

	start(0);
	for (i = 0; i < MANY; i++)
		machine_folio(2, i)->memcg = i < MANY / 2 ? &one : &other;
	machine_run(6000);
	moved(&a, &b);
	assert_true(a > (a + b) / 5);
	assert_true(b > (a + b) / 5);
	machine_stop();
}

/* Where all can go, nobody is looked for. */
TEST(no_shortage_costs_nothing)
{
	unsigned long i;

	machine_start(false);
	machine_room(0, MANY + 100);
	for (i = 0; i < MANY; i++) {
		machine_folio(2, i)->memcg = i % 2 ? &one : &other;
		machine_ready(2, i, 0);
	}
	machine_thread(2);
	machine_run(PGHOT_PERIOD_MS + 10);
	assert_int_equal(machine_stat("moved"), MANY);
	assert_int_equal(machine_looked, MANY);
	machine_stop();
}

/* Who is found has all pages of the block looked at, each of them once. */
TEST(nobody_is_offered_twice)
{
	start(MANY / 2);
	/* None of them has moved before all are looked at. */
	pghot_batch_pages = PGHOT_BLOCK_PAGES;
	machine_run(4000);
	assert_int_equal(machine_stat("delay_busy"), 0);
	machine_stop();
}

TEST(a_frame_that_is_used_again_stays)
{
	start(MANY / 2);
	pghot_batch_pages = 1;
	machine_reuses = true;
	machine_run(4000);
	assert_true(machine_stat("moved") > 1900);
	assert_true(machine_cold_ms <= pghot_tunables.window_ms);
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(the_few_do_not_wait_for_the_many),
	cmocka_unit_test(the_few_do_not_wait_at_the_end),
	cmocka_unit_test(the_few_do_not_wait_where_room_comes_all_the_time),
	cmocka_unit_test(one_alone_goes_as_ever),
	cmocka_unit_test(looking_costs_little),
	cmocka_unit_test(both_that_have_many_go),
	cmocka_unit_test(no_shortage_costs_nothing),
	cmocka_unit_test(nobody_is_offered_twice),
	cmocka_unit_test(a_frame_that_is_used_again_stays),
)
