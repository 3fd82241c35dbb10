/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hot map of its own for each test: three sections of node 2 on both sides of
 * the border between two leaves, and one of node 3 far off. Section numbers and
 * PFNs need not exist: the map never looks at the pages.
 */
#ifndef _MM_PGHOT_TESTS_FIXTURE_H
#define _MM_PGHOT_TESTS_FIXTURE_H

#include <kunit/resource.h>
#include <linux/mmzone.h>
#include <linux/topology.h>

#include "../hotmap.h"
#include "layouts.h"

#define MAX_SECTIONS	2048

#define SECTION_A	510UL
#define SECTION_B	511UL
#define SECTION_C	512UL
#define SECTION_D	1500UL

#define LAST_PAGE	(PAGES_PER_SECTION - 1)

/* A time at which no clock has wrapped. */
#define NOW		10000U

struct fixture {
	struct pghot_map map;
	struct pghot_map_node node;
	struct pghot_map_node other;
	struct pghot_tunables t;
	struct pghot_entry entries[PGHOT_BLOCK_PAGES];
};

static inline void fixture_exit(void *map)
{
	pghot_map_exit(map);
}

static inline int fixture_init(struct kunit *test)
{
	const struct layout_param *param = test->param_value;
	int nid = numa_mem_id();
	struct fixture *f;
	int err;

	f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	if (!f)
		return -ENOMEM;
	test->priv = f;
	f->t.freq_threshold = 2;
	f->t.window_ms = 4000;

	err = pghot_map_init(&f->map, MAX_SECTIONS, param->precise);
	if (err)
		return err;
	err = kunit_add_action_or_reset(test, fixture_exit, &f->map);
	if (err)
		return err;
	pghot_map_node_init(&f->node, 2);
	pghot_map_node_init(&f->other, 3);
	return pghot_map_add(&f->map, &f->node, SECTION_A, nid) ?:
	       pghot_map_add(&f->map, &f->node, SECTION_B, nid) ?:
	       pghot_map_add(&f->map, &f->node, SECTION_C, nid) ?:
	       pghot_map_add(&f->map, &f->other, SECTION_D, nid);
}

static inline unsigned long pfn_in(unsigned long section, unsigned long page)
{
	return section_nr_to_pfn(section) + page;
}

static inline enum pghot_recorded record_at(struct fixture *f,
					    unsigned long pfn, int nid,
					    u32 weight, u32 now_ms)
{
	struct pghot_access access = {
		.pfn = pfn, .nid = nid, .weight = weight,
	};
	struct pghot_map_node *node;

	return pghot_map_record(&f->map, &access, now_ms, &f->t, &node);
}

static inline void make_ready(struct kunit *test, unsigned long pfn)
{
	struct fixture *f = test->priv;

	KUNIT_ASSERT_EQ(test, record_at(f, pfn, 0, f->t.freq_threshold, NOW),
			PGHOT_BECAME_READY);
}

/* All ready records of a block, of whatever class. */
static inline unsigned int collect(struct fixture *f, unsigned long pfn)
{
	bool more;

	return pghot_map_collect(&f->map, pfn, 0, NOW, &f->t, f->entries,
				 &more);
}

#endif /* _MM_PGHOT_TESTS_FIXTURE_H */
