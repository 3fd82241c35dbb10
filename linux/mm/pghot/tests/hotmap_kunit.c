// SPDX-License-Identifier: GPL-2.0
/* Tests of the hot map: sections come and go, each record is counted once. */
#include <linux/irq_work.h>

#include "fixture.h"

static void untracked_pages_are_not_recorded(struct kunit *test)
{
	struct fixture *f = test->priv;
	const unsigned long pfns[] = {
		pfn_in(0, 0),			/* no leaf */
		pfn_in(SECTION_A - 1, LAST_PAGE),
		pfn_in(SECTION_C + 1, 0),
		pfn_in(MAX_SECTIONS, 0),	/* beyond the map */
		ULONG_MAX,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(pfns); i++) {
		KUNIT_EXPECT_EQ(test, record_at(f, pfns[i], 0, 9, NOW),
				PGHOT_UNTRACKED);
		KUNIT_EXPECT_NULL(test, pghot_map_owner(&f->map, pfns[i]));
		KUNIT_EXPECT_FALSE(test, pghot_map_take(&f->map, pfns[i]));
		KUNIT_EXPECT_EQ(test, collect(f, pfns[i]), 0);
		pghot_map_mark(&f->map, pfns[i]);
	}
}

static void sections_have_an_owner(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct pghot_access access = {
		.pfn = pfn_in(SECTION_D, 5), .weight = 2,
	};
	struct pghot_map_node *node = NULL;

	KUNIT_EXPECT_PTR_EQ(test, pghot_map_owner(&f->map, pfn_in(SECTION_A, 0)),
			    &f->node);
	KUNIT_EXPECT_PTR_EQ(test,
			    pghot_map_owner(&f->map,
					    pfn_in(SECTION_D, LAST_PAGE)),
			    &f->other);
	pghot_map_record(&f->map, &access, NOW, &f->t, &node);
	KUNIT_EXPECT_PTR_EQ(test, node, &f->other);
}

static void ready_once_until_taken(struct kunit *test)
{
	unsigned long pfn = pfn_in(SECTION_B, 700);
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, record_at(f, pfn, 0, 1, NOW), PGHOT_COUNTED);
	KUNIT_EXPECT_FALSE(test, pghot_map_take(&f->map, pfn));
	KUNIT_EXPECT_EQ(test, record_at(f, pfn, 0, 1, NOW), PGHOT_BECAME_READY);
	KUNIT_EXPECT_EQ(test, record_at(f, pfn, 0, 1, NOW), PGHOT_COUNTED);
	KUNIT_EXPECT_TRUE(test, pghot_map_take(&f->map, pfn));
	KUNIT_EXPECT_FALSE(test, pghot_map_take(&f->map, pfn));
	KUNIT_EXPECT_EQ(test, record_at(f, pfn, 0, 1, NOW), PGHOT_COUNTED);
	KUNIT_EXPECT_EQ(test, record_at(f, pfn, 0, 1, NOW), PGHOT_BECAME_READY);
}

static void taken_as_seen_only_if_not_accessed_since(struct kunit *test)
{
	unsigned long pfn = pfn_in(SECTION_B, 700);
	struct fixture *f = test->priv;

	make_ready(test, pfn);
	KUNIT_ASSERT_EQ(test, collect(f, pfn_in(SECTION_B, 512)), 1);
	record_at(f, pfn, 0, 1, NOW);
	KUNIT_EXPECT_FALSE(test, pghot_map_take_seen(&f->map, f->entries));
	KUNIT_EXPECT_EQ(test, pghot_map_ready(&f->node, NULL), 1);

	KUNIT_ASSERT_EQ(test, collect(f, pfn_in(SECTION_B, 512)), 1);
	KUNIT_EXPECT_TRUE(test, pghot_map_take_seen(&f->map, f->entries));
	KUNIT_EXPECT_FALSE(test, pghot_map_take_seen(&f->map, f->entries));
	KUNIT_EXPECT_EQ(test, pghot_map_ready(&f->node, NULL), 0);
}

static void weight_zero_is_no_access(struct kunit *test)
{
	unsigned long pfn = pfn_in(SECTION_B, 0);
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, record_at(f, pfn, 0, 0, NOW), PGHOT_COUNTED);
	KUNIT_EXPECT_EQ(test, record_at(f, pfn, 0, 1, NOW), PGHOT_COUNTED);
	KUNIT_EXPECT_EQ(test, record_at(f, pfn, 0, 0, NOW), PGHOT_COUNTED);
	KUNIT_EXPECT_EQ(test, pghot_map_ready(&f->node, NULL), 0);
}

static void clock_may_wrap(struct kunit *test)
{
	unsigned long pfn = pfn_in(SECTION_B, 1);
	struct fixture *f = test->priv;

	/* The count may begin anew, but not more than once. */
	record_at(f, pfn, 0, 1, U32_MAX - 10);
	record_at(f, pfn, 0, 1, 10);
	record_at(f, pfn, 0, 1, 20);
	KUNIT_EXPECT_TRUE(test, pghot_map_take(&f->map, pfn));
}

static void histogram_follows_the_records(struct kunit *test)
{
	unsigned long hist[PGHOT_CLASSES];
	unsigned long pfn = pfn_in(SECTION_C, 5);
	struct fixture *f = test->priv;

	make_ready(test, pfn);
	make_ready(test, pfn_in(SECTION_D, 5));
	KUNIT_EXPECT_EQ(test, pghot_map_ready(&f->node, hist), 1);
	KUNIT_EXPECT_EQ(test, hist[1], 1);
	/* Four accesses; the default layout counts to three. */
	record_at(f, pfn, 0, 2, NOW);
	KUNIT_EXPECT_EQ(test, pghot_map_ready(&f->node, hist), 1);
	KUNIT_EXPECT_EQ(test, hist[1], 0);
	KUNIT_EXPECT_EQ(test, hist[2], 1);
	/* Long after, it waits as one that was as hot. */
	record_at(f, pfn, 0, 1, NOW + 6000);
	KUNIT_EXPECT_EQ(test, pghot_map_ready(&f->node, hist), 1);
	KUNIT_EXPECT_EQ(test, hist[2], 1);
	KUNIT_EXPECT_TRUE(test, pghot_map_take(&f->map, pfn));
	KUNIT_EXPECT_EQ(test, pghot_map_ready(&f->node, NULL), 0);
	KUNIT_EXPECT_EQ(test, pghot_map_ready(&f->other, NULL), 1);
}

static void removal_counts_what_was_ready(struct kunit *test)
{
	struct fixture *f = test->priv;

	make_ready(test, pfn_in(SECTION_A, 0));
	make_ready(test, pfn_in(SECTION_B, 1));
	make_ready(test, pfn_in(SECTION_B, LAST_PAGE));
	make_ready(test, pfn_in(SECTION_C, 2));
	record_at(f, pfn_in(SECTION_B, 9), 0, 1, NOW);
	KUNIT_EXPECT_EQ(test, pghot_map_remove(&f->map, SECTION_B, 1), 2);
	KUNIT_EXPECT_EQ(test, f->node.sections, 2);
	KUNIT_EXPECT_EQ(test, pghot_map_ready(&f->node, NULL), 2);
	KUNIT_EXPECT_NULL(test, pghot_map_owner(&f->map, pfn_in(SECTION_B, 1)));
	/* What is gone already and what lies beyond the map is skipped. */
	KUNIT_EXPECT_EQ(test, pghot_map_remove(&f->map, SECTION_B, 1), 0);
	KUNIT_EXPECT_EQ(test, pghot_map_remove(&f->map, 0, 2 * MAX_SECTIONS),
			2);
	KUNIT_EXPECT_EQ(test, f->node.sections, 0);
	KUNIT_EXPECT_EQ(test, f->other.sections, 0);
	KUNIT_EXPECT_EQ(test, pghot_map_ready(&f->node, NULL), 0);
}

static void section_added_again_is_empty(struct kunit *test)
{
	unsigned long pfn = pfn_in(SECTION_B, 1);
	struct pghot_cursor c = { };
	struct fixture *f = test->priv;

	make_ready(test, pfn);
	pghot_map_remove(&f->map, SECTION_B, 1);
	KUNIT_EXPECT_EQ(test, pghot_map_add(&f->map, &f->other, SECTION_B,
					    numa_mem_id()), 0);
	KUNIT_EXPECT_PTR_EQ(test, pghot_map_owner(&f->map, pfn), &f->other);
	KUNIT_EXPECT_FALSE(test, pghot_map_take(&f->map, pfn));
	KUNIT_EXPECT_FALSE(test, pghot_map_next_block(&f->map, &f->other, &c,
						      &pfn));
}

static void section_added_twice_keeps_its_records(struct kunit *test)
{
	struct fixture *f = test->priv;

	make_ready(test, pfn_in(SECTION_A, 4));
	KUNIT_EXPECT_EQ(test, pghot_map_add(&f->map, &f->other, SECTION_A,
					    numa_mem_id()), 0);
	KUNIT_EXPECT_EQ(test, f->node.sections, 3);
	KUNIT_EXPECT_EQ(test, f->other.sections, 1);
	KUNIT_EXPECT_TRUE(test, pghot_map_take(&f->map, pfn_in(SECTION_A, 4)));
}

static void sections_beyond_the_map_are_refused(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, pghot_map_add(&f->map, &f->node, MAX_SECTIONS,
					    numa_mem_id()), -ERANGE);
	KUNIT_EXPECT_EQ(test, pghot_map_add(&f->map, &f->node, ULONG_MAX,
					    numa_mem_id()), -ERANGE);
	KUNIT_EXPECT_EQ(test, f->node.sections, 3);
}

struct report {
	struct irq_work work;
	struct fixture *f;
	bool in_hardirq;
	enum pghot_recorded did;
};

static void report_in_irq(struct irq_work *work)
{
	struct report *r = container_of(work, struct report, work);

	r->in_hardirq = in_hardirq();
	r->did = record_at(r->f, pfn_in(SECTION_A, 3), 0, 2, NOW);
}

/* With lockdep this says that no lock is taken which a task might hold. */
static void interrupts_may_record(struct kunit *test)
{
	struct report r = { .f = test->priv };

	r.work = IRQ_WORK_INIT_HARD(report_in_irq);
	KUNIT_ASSERT_TRUE(test, irq_work_queue(&r.work));
	irq_work_sync(&r.work);
	KUNIT_EXPECT_TRUE(test, r.in_hardirq);
	KUNIT_EXPECT_EQ(test, r.did, PGHOT_BECAME_READY);
}

static struct kunit_case hotmap_cases[] = {
	KUNIT_CASE_PARAM(untracked_pages_are_not_recorded, layout_gen_params),
	KUNIT_CASE_PARAM(sections_have_an_owner, layout_gen_params),
	KUNIT_CASE_PARAM(ready_once_until_taken, layout_gen_params),
	KUNIT_CASE_PARAM(taken_as_seen_only_if_not_accessed_since, layout_gen_params),
	KUNIT_CASE_PARAM(weight_zero_is_no_access, layout_gen_params),
	KUNIT_CASE_PARAM(clock_may_wrap, layout_gen_params),
	KUNIT_CASE_PARAM(histogram_follows_the_records, layout_gen_params),
	KUNIT_CASE_PARAM(removal_counts_what_was_ready, layout_gen_params),
	KUNIT_CASE_PARAM(section_added_again_is_empty, layout_gen_params),
	KUNIT_CASE_PARAM(section_added_twice_keeps_its_records,
			 layout_gen_params),
	KUNIT_CASE_PARAM(sections_beyond_the_map_are_refused,
			 layout_gen_params),
	KUNIT_CASE_PARAM(interrupts_may_record, layout_gen_params),
	{ }
};

static struct kunit_suite hotmap_suite = {
	.name = "pghot_hotmap",
	.init = fixture_init,
	.test_cases = hotmap_cases,
};

kunit_test_suite(hotmap_suite);
