// SPDX-License-Identifier: GPL-2.0
/* Tests of the focus: a page table is in one at a time, and from where it is accessed. */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "../source/page_table.h"

/* Not the first table: what has no address at all is at 0. */
#define ADDR	(4UL * PMD_SIZE)

struct focus_fixture {
	struct mm_struct *mm;
	struct pt_focus *a;
	struct pt_focus *b;
};

static void focus_free(void *focus)
{
	pghot_pt_empty(focus);
	kvfree(focus);
}

static void focus_drop_mm(void *mm)
{
	mmput(mm);
}

static struct pt_focus *focus_new(struct kunit *test)
{
	struct pt_focus *focus = kvzalloc_obj(*focus);

	KUNIT_ASSERT_NOT_NULL(test, focus);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, focus_free, focus), 0);
	return focus;
}

static int focus_init(struct kunit *test)
{
	struct focus_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->mm = mm_alloc();
	KUNIT_ASSERT_NOT_NULL(test, f->mm);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, focus_drop_mm, f->mm), 0);
	f->a = focus_new(test);
	f->b = focus_new(test);
	test->priv = f;
	return 0;
}

static void who_comes_second_leaves_it_out(struct kunit *test)
{
	struct focus_fixture *f = test->priv;

	KUNIT_EXPECT_TRUE(test, pghot_pt_admit(f->a, f->mm, ADDR, NUMA_NO_NODE));
	KUNIT_EXPECT_TRUE(test, pghot_pt_admit(f->b, f->mm, ADDR, NUMA_NO_NODE));
	KUNIT_EXPECT_TRUE(test, pghot_pt_admit(f->b, f->mm, ADDR + PMD_SIZE, NUMA_NO_NODE));
	KUNIT_EXPECT_EQ(test, f->a->nr, 1);
	KUNIT_EXPECT_EQ(test, f->a->others, 0);
	KUNIT_ASSERT_EQ(test, f->b->nr, 1);
	KUNIT_EXPECT_EQ(test, f->b->others, 1);
	KUNIT_EXPECT_EQ(test, f->b->slots[0].addr, ADDR + PMD_SIZE);

	pghot_pt_empty(f->a);
	KUNIT_EXPECT_TRUE(test, pghot_pt_admit(f->b, f->mm, ADDR, NUMA_NO_NODE));
	KUNIT_EXPECT_EQ(test, f->b->nr, 2);
}

static void who_looks_is_told_the_node(struct kunit *test)
{
	struct focus_fixture *f = test->priv;

	pghot_pt_admit(f->a, f->mm, ADDR, NUMA_NO_NODE);
	KUNIT_EXPECT_EQ(test, f->a->slots[0].nid, NUMA_NO_NODE);
	pghot_pt_admit(f->b, f->mm, ADDR, 0);
	KUNIT_EXPECT_EQ(test, f->a->slots[0].nid, 0);
	pghot_pt_admit(f->b, f->mm, ADDR, NUMA_NO_NODE);
	KUNIT_EXPECT_EQ(test, f->a->slots[0].nid, 0);
}

static void once_in_a_focus_is_enough(struct kunit *test)
{
	struct focus_fixture *f = test->priv;

	pghot_pt_admit(f->a, f->mm, ADDR, NUMA_NO_NODE);
	pghot_pt_admit(f->a, f->mm, ADDR, NUMA_NO_NODE);
	KUNIT_EXPECT_EQ(test, f->a->nr, 1);
	KUNIT_EXPECT_EQ(test, f->a->others, 0);
}

static void one_that_is_full_takes_no_more(struct kunit *test)
{
	struct focus_fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < PT_FOCUS_MAX; i++)
		KUNIT_ASSERT_TRUE(test, pghot_pt_admit(f->a, f->mm, ADDR + i * PMD_SIZE,
						       NUMA_NO_NODE));
	KUNIT_EXPECT_FALSE(test, pghot_pt_admit(f->a, f->mm, 0, NUMA_NO_NODE));
	pghot_pt_admit(f->b, f->mm, 0, NUMA_NO_NODE);
	KUNIT_EXPECT_EQ(test, f->b->nr, 1);
	KUNIT_EXPECT_EQ(test, f->b->others, 0);
}

/* However its parts are met, in one look they are the same accesses. */
static void a_large_folio_of_two_tables_is_reported_once(struct kunit *test)
{
	const struct pghot_access head = { .pfn = 512, .weight = 1, .interval_ms = 10 };
	const struct pghot_access tail = { .pfn = 512, .weight = 3, .interval_ms = 30 };
	const struct pghot_access next = { .pfn = 1024, .weight = 2 };
	struct focus_fixture *f = test->priv;

	pghot_pt_met_large(f->a, &head);
	pghot_pt_met_large(f->a, &tail);
	pghot_pt_met_large(f->a, &head);
	KUNIT_EXPECT_EQ(test, f->a->nr_hot, 0);
	pghot_pt_met_large(f->a, &next);
	KUNIT_ASSERT_EQ(test, f->a->nr_hot, 1);
	KUNIT_EXPECT_EQ(test, f->a->hot[0].pfn, 512);
	KUNIT_EXPECT_EQ(test, f->a->hot[0].weight, 3);
	KUNIT_EXPECT_EQ(test, f->a->hot[0].interval_ms, 30);
	KUNIT_EXPECT_EQ(test, f->a->large.pfn, 1024);
	KUNIT_EXPECT_EQ(test, f->a->large.weight, 2);
}

/* As the first thread of a process where others go on: it is listed until they have ended. */
static void a_thread_that_has_ended_is_nowhere(struct kunit *test)
{
	struct signal_struct *all = kunit_kzalloc(test, sizeof(*all), GFP_KERNEL);
	struct task_struct *one = kunit_kzalloc(test, sizeof(*one), GFP_KERNEL);
	struct focus_fixture *f = test->priv;
	struct pt_accessor accessor;

	KUNIT_ASSERT_NOT_NULL(test, all);
	KUNIT_ASSERT_NOT_NULL(test, one);
	INIT_LIST_HEAD(&all->thread_head);
	one->signal = all;
	list_add(&one->thread_node, &all->thread_head);
	rcu_assign_pointer(f->mm->owner, one);
	pghot_pt_accessor(f->mm, &accessor);
	KUNIT_EXPECT_EQ(test, accessor.most, cpu_to_node(0));

	one->exit_state = EXIT_ZOMBIE;
	pghot_pt_accessor(f->mm, &accessor);
	RCU_INIT_POINTER(f->mm->owner, NULL);
	KUNIT_EXPECT_EQ(test, accessor.most, NUMA_NO_NODE);
}

static struct kunit_case focus_cases[] = {
	KUNIT_CASE(who_comes_second_leaves_it_out),
	KUNIT_CASE(who_looks_is_told_the_node),
	KUNIT_CASE(once_in_a_focus_is_enough),
	KUNIT_CASE(one_that_is_full_takes_no_more),
	KUNIT_CASE(a_large_folio_of_two_tables_is_reported_once),
	KUNIT_CASE(a_thread_that_has_ended_is_nowhere),
	{ }
};

static struct kunit_suite focus_suite = {
	.name = "pghot_page_table",
	.init = focus_init,
	.test_cases = focus_cases,
};

kunit_test_suite(focus_suite);
