/* SPDX-License-Identifier: GPL-2.0 */
/* Allocations that fail while pghot boots, is switched, or memory comes. */
#ifndef _UNIT_LIVES_H
#define _UNIT_LIVES_H

#include "unit.h"

#include <stdio.h>
#include <sys/mman.h>

#include <linux/pghot.h>

#include "whole.h"

/* Of each node, with which pghot does all that it does with more. */
#define SECTIONS		2

/* Just one allocation fails, or all from that one on. */
static bool only_one;

/* What is kept where nothing fails. Shared by all lives; the first one sets it. */
static struct harness_live *usual;

/* The end of a life: nothing is lost. There is another one while there are failures. */
static inline bool lives_on(unsigned int n, unsigned int failed)
{
	struct harness_live live = harness_live();

	if (!n)
		*usual = live;
	assert_memory_equal(&live, usual, sizeof(live));
	return failed || !n;
}

/* There are at least so many allocations that can fail. */
static inline void all_lives(bool (*life)(unsigned int n), unsigned int least)
{
	usual = mmap(NULL, sizeof(*usual), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(usual != MAP_FAILED);
	only_one = false;
	assert_in_range(machine_lives(life), least, 1000);
	only_one = true;
	assert_in_range(machine_lives(life), least, 1000);
	munmap(usual, sizeof(*usual));
}

/* In the first life nothing fails, in the next the first allocation, and so on. */
static inline void fail_in_life(unsigned int n)
{
	harness_fail = (struct harness_fail) {
		.pages = n, .vmalloc = n, .slab = n,
		.once = only_one, .after = n - 1,
	};
}

/* There is memory again. Return how many allocations failed. */
static inline unsigned int fail_no_more(void)
{
	unsigned int failed = harness_fail.failed;

	harness_fail = (struct harness_fail) { };
	return failed;
}

static inline void memory_comes(void)
{
	int nid;

	/* Of the lower tier first: nobody else comes after a target. */
	for (nid = NODES - 1; nid >= 0; nid--)
		machine_online(nid, 0, SECTIONS);
}

static inline bool has_dir(const char *kind, int nid)
{
	char name[24];

	snprintf(name, sizeof(name), "%s%d", kind, nid);
	return machine_has_dir(name);
}

static inline unsigned long tracked(int nid)
{
	unsigned long i, n = 0;

	for (i = 0; i < NODE_SECTIONS; i++)
		n += !!pghot_map_owner(&pghot_map, machine_pfn(nid, i * PAGES_PER_SECTION));
	return n;
}

/* Nodes and targets can be looked at, which they work without. */
static inline void assert_all_is_shown(void)
{
	int nid;

	for (nid = 0; nid < NODES; nid++)
		assert_true(has_dir(nid < LOWER ? "target" : "node", nid));
}

/* Each node is served, and its thread promotes. */
static inline void assert_all_works(void)
{
	int nid;

	for (nid = 0; nid < LOWER; nid++)
		assert_true(pghot_target_active(nid));
	for (; nid < NODES; nid++) {
		assert_true(pghot_node(nid)->active);
		assert_int_equal(tracked(nid), SECTIONS);
		machine_ready(nid, 7, 0);
		machine_run(PGHOT_PERIOD_MS);
		assert_int_equal(machine_moved(nid, 7, 8, 0), 1);
		machine_demote(nid, 7);
	}
	assert_int_equal(machine_awake(), NODES - LOWER);
	machine_check();
}

/* No maps, and nobody at work. */
static inline void assert_all_is_off(void)
{
	struct harness_live live = harness_live();
	int nid;

	for (nid = LOWER; nid < NODES; nid++)
		assert_int_equal(tracked(nid), 0);
	assert_int_equal(live.pages + live.vmalloc, 0);
	assert_int_equal(machine_awake(), 0);
	assert_false(pghot_needs_headroom());
}

#endif
