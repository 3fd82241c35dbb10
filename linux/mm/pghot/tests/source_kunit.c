// SPDX-License-Identifier: GPL-2.0
/* Sources come, are switched, fail to start, and go. */
#include <kunit/test.h>
#include <linux/array_size.h>
#include <linux/gfp.h>
#include <linux/irqflags.h>
#include <linux/jump_label.h>
#include <linux/memory-tiers.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/pagewalk.h>
#include <linux/percpu.h>
#include <linux/pghot.h>
#include <linux/sched/sysctl.h>

#include "../internal.h"
#include "../source/page_table.h"

struct fake {
	struct pghot_source source;
	unsigned int starts;
	unsigned int stops;
	int err;
};

static struct fake *to_fake(struct pghot_source *source)
{
	return container_of(source, struct fake, source);
}

static int fake_start(struct pghot_source *source)
{
	to_fake(source)->starts++;
	return to_fake(source)->err;
}

static void fake_stop(struct pghot_source *source)
{
	to_fake(source)->stops++;
}

static struct fake *fake_make(struct kunit *test)
{
	struct fake *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	if (!pghot_is_enabled())
		kunit_skip(test, "pghot is switched off");
	fake->source = (struct pghot_source) {
		.name = "kunit", .on = true, .alone = true,
		.start = fake_start, .stop = fake_stop,
	};
	return fake;
}

static void runs_while_it_is_there(struct kunit *test)
{
	struct fake *fake = fake_make(test);

	KUNIT_ASSERT_EQ(test, pghot_register_source(&fake->source), 0);
	KUNIT_EXPECT_TRUE(test, fake->source.running);
	KUNIT_EXPECT_EQ(test, fake->starts, 1);
	KUNIT_EXPECT_EQ(test, fake->stops, 0);
	pghot_unregister_source(&fake->source);
	KUNIT_EXPECT_EQ(test, fake->starts, 1);
	KUNIT_EXPECT_EQ(test, fake->stops, 1);
}

static void stays_off_until_it_is_switched_on(struct kunit *test)
{
	struct fake *fake = fake_make(test);

	fake->source.on = false;
	KUNIT_ASSERT_EQ(test, pghot_register_source(&fake->source), 0);
	KUNIT_EXPECT_FALSE(test, fake->source.running);
	pghot_unregister_source(&fake->source);
	KUNIT_EXPECT_EQ(test, fake->starts, 0);
	KUNIT_EXPECT_EQ(test, fake->stops, 0);
}

static void what_does_not_start_is_switched_off(struct kunit *test)
{
	struct fake *fake = fake_make(test);

	fake->err = -EIO;
	KUNIT_ASSERT_EQ(test, pghot_register_source(&fake->source), 0);
	KUNIT_EXPECT_FALSE(test, fake->source.on);
	KUNIT_EXPECT_FALSE(test, fake->source.running);
	KUNIT_EXPECT_FALSE(test, pghot_needs_headroom());
	pghot_unregister_source(&fake->source);
	KUNIT_EXPECT_EQ(test, fake->stops, 0);
}

static void two_of_one_name_do_not_fit(struct kunit *test)
{
	struct fake *fake = fake_make(test), *other = fake_make(test);

	KUNIT_ASSERT_EQ(test, pghot_register_source(&fake->source), 0);
	KUNIT_EXPECT_EQ(test, pghot_register_source(&other->source), -EEXIST);
	KUNIT_EXPECT_EQ(test, other->starts, 0);
	pghot_unregister_source(&fake->source);
}

static void one_that_works_alone_keeps_headroom(struct kunit *test)
{
	struct fake *fake = fake_make(test);

	if (pghot_needs_headroom())
		kunit_skip(test, "another source keeps it");
	KUNIT_ASSERT_EQ(test, pghot_register_source(&fake->source), 0);
	KUNIT_EXPECT_TRUE(test, pghot_needs_headroom());
	pghot_unregister_source(&fake->source);
	KUNIT_EXPECT_FALSE(test, pghot_needs_headroom());
}

/* Nobody changes the mode while KUnit tests run. */
static void one_that_does_not_runs_with_memory_tiering(struct kunit *test)
{
	bool tiering = sysctl_numa_balancing_mode & NUMA_BALANCING_MEMORY_TIERING;
	struct fake *fake = fake_make(test);

	fake->source.alone = false;
	KUNIT_ASSERT_EQ(test, pghot_register_source(&fake->source), 0);
	KUNIT_EXPECT_TRUE(test, fake->source.on);
	KUNIT_EXPECT_EQ(test, fake->source.running, tiering);
	pghot_balancing_changed();
	KUNIT_EXPECT_EQ(test, fake->starts, tiering);
	pghot_unregister_source(&fake->source);
	KUNIT_EXPECT_EQ(test, fake->stops, tiering);
}

static u32 all_of_it(const struct pghot_access *access, void *data)
{
	return access->weight;
}

static void only_tracked_pages_count(struct kunit *test)
{
	struct pghot_access nowhere = { .pfn = ULONG_MAX, .weight = 1 };
	struct fake *fake = fake_make(test);

	KUNIT_ASSERT_EQ(test, pghot_register_source(&fake->source), 0);
	KUNIT_EXPECT_EQ(test, pghot_record(&nowhere, &fake->source),
			PGHOT_UNTRACKED);
	nowhere.pfn--;
	KUNIT_EXPECT_FALSE(test, pghot_record_range(&nowhere, 1, &fake->source,
						    all_of_it, NULL));
	KUNIT_EXPECT_EQ(test, *per_cpu_ptr(fake->source.accesses, 0), 0);
	pghot_unregister_source(&fake->source);
}

static void what_a_ring_has_no_room_for_is_lost(struct kunit *test)
{
	struct pghot_access nowhere = { .pfn = ULONG_MAX, .weight = 1 };
	struct fake *fake = fake_make(test);
	unsigned int i, taken = 0;
	unsigned long flags;
	bool again;

	fake->source.nmi = true;
	KUNIT_ASSERT_EQ(test, pghot_register_source(&fake->source), 0);
	local_irq_save(flags);
	for (i = 0; i < 100000; i++)
		taken += pghot_record_nmi(&nowhere, 1, &fake->source);
	local_irq_restore(flags);
	pghot_ring_sync(&fake->source);
	local_irq_save(flags);
	again = pghot_record_nmi(&nowhere, 1, &fake->source);
	local_irq_restore(flags);
	pghot_unregister_source(&fake->source);

	KUNIT_EXPECT_GT(test, taken, 0);
	KUNIT_EXPECT_LT(test, taken, 100000);
	KUNIT_EXPECT_TRUE(test, again);
}

static struct page *lower_tier_page(void)
{
	int nid;

	for_each_node_state(nid, N_MEMORY)
		if (!node_is_toptier(nid))
			return alloc_pages_node(nid, GFP_HIGHUSER_MOVABLE |
						__GFP_THISNODE, 0);
	return NULL;
}

static unsigned long all_accesses(const struct pghot_source *source)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += *per_cpu_ptr(source->accesses, cpu);
	return sum;
}

/* A page may go between a sample and the interrupt that records it. */
static void what_is_free_by_then_is_not_recorded(struct kunit *test)
{
	struct fake *fake = fake_make(test);
	struct page *kept = lower_tier_page(), *gone = lower_tier_page();
	struct pghot_access accesses[2] = {};
	unsigned long flags;

	if (!kept || !gone) {
		if (kept)
			__free_page(kept);
		kunit_skip(test, "there is no memory of a lower tier");
	}
	accesses[0] = (struct pghot_access) { .pfn = page_to_pfn(kept), .weight = 1 };
	accesses[1] = (struct pghot_access) { .pfn = page_to_pfn(gone), .weight = 1 };
	fake->source.nmi = true;
	KUNIT_ASSERT_EQ(test, pghot_register_source(&fake->source), 0);
	local_irq_save(flags);
	pghot_record_nmi(accesses, ARRAY_SIZE(accesses), &fake->source);
	__free_page(gone);
	local_irq_restore(flags);
	pghot_ring_sync(&fake->source);
	KUNIT_EXPECT_EQ(test, all_accesses(&fake->source), 1);
	pghot_unregister_source(&fake->source);
	__free_page(kept);
}

/* It would be split, to look at a part. */
static void what_maps_a_gigabyte_is_left_alone(struct kunit *test)
{
#ifdef CONFIG_HAVE_ARCH_TRANSPARENT_HUGEPAGE_PUD
	pud_t none = __pud(0), leaf = pud_mkhuge(pfn_pud(0, PAGE_KERNEL));
	struct mm_walk walk = { .action = ACTION_SUBTREE };

	KUNIT_EXPECT_EQ(test, pghot_pt_pud(&none, 0, PUD_SIZE, &walk), 0);
	KUNIT_EXPECT_EQ(test, walk.action, ACTION_SUBTREE);
	KUNIT_EXPECT_EQ(test, pghot_pt_pud(&leaf, 0, PUD_SIZE, &walk), 0);
	KUNIT_EXPECT_EQ(test, walk.action, ACTION_CONTINUE);
#else
	kunit_skip(test, "no entry maps as much here");
#endif
}

static struct kunit_case source_cases[] = {
	KUNIT_CASE(runs_while_it_is_there),
	KUNIT_CASE(stays_off_until_it_is_switched_on),
	KUNIT_CASE(what_does_not_start_is_switched_off),
	KUNIT_CASE(two_of_one_name_do_not_fit),
	KUNIT_CASE(one_that_works_alone_keeps_headroom),
	KUNIT_CASE(one_that_does_not_runs_with_memory_tiering),
	KUNIT_CASE(only_tracked_pages_count),
	KUNIT_CASE(what_a_ring_has_no_room_for_is_lost),
	KUNIT_CASE(what_is_free_by_then_is_not_recorded),
	KUNIT_CASE(what_maps_a_gigabyte_is_left_alone),
	{ }
};

static struct kunit_suite source_suite = {
	.name = "pghot_source",
	.test_cases = source_cases,
};

kunit_test_suite(source_suite);
