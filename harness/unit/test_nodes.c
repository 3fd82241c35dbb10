// SPDX-License-Identifier: GPL-2.0
/*
 * There is no memory for what pghot needs: nothing is left of what it began, and
 * all works once there is memory.
 */
#include "lives.h"

static struct pghot_source source = { .name = "source", .on = true };

static void switch_off(void)
{
	assert_int_equal(machine_write("pghot", "enabled", "0"), 0);
	assert_all_is_off();
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
	assert_all_works();
	switch_off();
	return lives_on(n, failed);
}

TEST(the_next_block_brings_what_the_first_could_not)
{
	all_lives(came_in_blocks, 17);
}

UNIT_MAIN(
	cmocka_unit_test(the_next_block_brings_what_the_first_could_not),
)
