// SPDX-License-Identifier: GPL-2.0
/* Which node is near: as seen from the CPUs, whatever firmware says of the way back. */
#include "unit.h"
#include "machine.h"

/*
 * As on the machine with a CXL node whose figures were posted with pghot: nodes
 * 0 to 2 are its three. The fourth one is the mirror image of the third.
 */
static const int posted[NODES][NODES] = {
	{ 10, 32, 50, 60 },
	{ 32, 10, 60, 50 },
	{ 255, 255, 10, 255 },
	{ 255, 255, 255, 10 },
};

/* A lower node that is nearer to its socket than the other socket's DRAM. */
static const int near[NODES][NODES] = {
	{ 10, 32, 20, 60 },
	{ 32, 10, 60, 20 },
	{ 255, 255, 10, 255 },
	{ 255, 255, 255, 10 },
};

/* Node 0 is memory without CPUs, as HBM beside the second socket. */
static const int beside[NODES][NODES] = {
	{ 10, 255, 255, 255 },
	{ 12, 10, 20, 40 },
	{ 255, 255, 10, 255 },
	{ 255, 255, 255, 10 },
};

static void start(const int (*distance)[NODES])
{
	machine_distance = distance;
	machine_start(false);
}

static int first(int nid, int src)
{
	return pghot_next_target(nid, src, NULL, NUMA_NO_NODE);
}

TEST(without_an_accessing_node_it_is_the_one_that_is_near)
{
	start(posted);
	assert_int_equal(first(NUMA_NO_NODE, 2), 0);
	assert_int_equal(first(NUMA_NO_NODE, 3), 1);
	machine_stop();
}

TEST(the_next_after_the_accessing_node_is_nearer_than_the_page)
{
	start(posted);
	assert_int_equal(first(1, 2), 1);
	assert_int_equal(pghot_next_target(1, 2, NULL, 1), 0);
	assert_int_equal(pghot_next_target(1, 3, NULL, 1), 0);
	machine_stop();

	/* Not worth the way: it waits for its own node. */
	start(near);
	assert_int_equal(pghot_next_target(1, 3, NULL, 1), NUMA_NO_NODE);
	assert_int_equal(pghot_next_target(1, 2, NULL, 1), 0);
	machine_stop();
}

TEST(memory_without_cpus_is_seen_from_the_nearest)
{
	start(beside);
	node_clear(0, node_states[N_CPU]);
	assert_int_equal(pghot_next_target(NUMA_NO_NODE, 2, NULL, NUMA_NO_NODE), 0);
	assert_int_equal(pghot_next_target(NUMA_NO_NODE, 2, NULL, 0), 1);
	assert_int_equal(pghot_next_target(0, 2, NULL, NUMA_NO_NODE), 0);
	assert_int_equal(pghot_next_target(0, 2, NULL, 0), 1);
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(without_an_accessing_node_it_is_the_one_that_is_near),
	cmocka_unit_test(the_next_after_the_accessing_node_is_nearer_than_the_page),
	cmocka_unit_test(memory_without_cpus_is_seen_from_the_nearest),
)
