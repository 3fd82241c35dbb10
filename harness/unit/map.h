/* SPDX-License-Identifier: GPL-2.0 */
/* A small map for unit tests: some sections of node 2, some of node 3. */
#ifndef _UNIT_MAP_H
#define _UNIT_MAP_H

#include "unit.h"

#include <string.h>

#include <linux/align.h>
#include <linux/limits.h>
#include <linux/mmzone.h>
#include <linux/numa.h>

#include "hotmap.h"

#define MAX_SECTIONS	2048

/* Both sides of the border between two leaves, and one far off. */
#define SECTION_A	510
#define SECTION_B	511
#define SECTION_C	512
#define SECTION_D	1500

struct fixture {
	struct pghot_map map;
	struct pghot_map_node node, other;
	struct pghot_tunables t;
	struct pghot_entry entries[PGHOT_BLOCK_PAGES];
};

static inline unsigned long pfn_in(unsigned long section, unsigned long page)
{
	return section_nr_to_pfn(section) + page;
}

static inline void fixture_init(struct fixture *f, bool precise)
{
	memset(f, 0, sizeof(*f));
	f->t = (struct pghot_tunables) {
		.freq_threshold = 2, .window_ms = 4000,
	};
	assert_int_equal(pghot_map_init(&f->map, MAX_SECTIONS, precise), 0);
	pghot_map_node_init(&f->node, 2);
	pghot_map_node_init(&f->other, 3);
	assert_int_equal(pghot_map_add(&f->map, &f->node, SECTION_A, 0), 0);
	assert_int_equal(pghot_map_add(&f->map, &f->node, SECTION_B, 0), 0);
	assert_int_equal(pghot_map_add(&f->map, &f->node, SECTION_C, 0), 0);
	assert_int_equal(pghot_map_add(&f->map, &f->other, SECTION_D, 0), 0);
}

static inline void fixture_exit(struct fixture *f)
{
	struct harness_live live;

	pghot_map_exit(&f->map);
	live = harness_live();
	assert_int_equal(live.pages, 0);
	assert_int_equal(live.vmalloc, 0);
	assert_int_equal(live.slab, 0);
}

/* Run the same checks on a map of each layout. */
#define for_each_map(f)							\
	for (int _p = 0; _p < 2 && (fixture_init(f, _p), true);		\
	     fixture_exit(f), _p++)

static inline enum pghot_recorded record_at(struct fixture *f,
					    unsigned long pfn, int nid,
					    u32 weight, u32 now_ms)
{
	struct pghot_access access = { .nid = nid, .pfn = pfn, .weight = weight };
	struct pghot_map_node *node = NULL;
	enum pghot_recorded got;

	got = pghot_map_record(&f->map, &access, now_ms, &f->t, &node);
	if (got == PGHOT_BECAME_READY)
		assert_ptr_equal(node, pghot_map_owner(&f->map, pfn));
	else
		assert_null(node);
	return got;
}

static inline void make_ready(struct fixture *f, unsigned long pfn)
{
	assert_int_equal(record_at(f, pfn, 0, f->t.freq_threshold, 1000),
			 PGHOT_BECAME_READY);
}

/* All ready records of a block, of whatever class, as they are then. */
static inline unsigned int collect_at(struct fixture *f, unsigned long pfn, u32 now_ms)
{
	bool more = false;
	unsigned int n;

	n = pghot_map_collect(&f->map, pfn, 0, now_ms, &f->t, f->entries, &more);
	assert_false(more);
	return n;
}

static inline unsigned int collect(struct fixture *f, unsigned long pfn)
{
	return collect_at(f, pfn, 1000);
}

#endif
