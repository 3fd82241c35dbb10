// SPDX-License-Identifier: GPL-2.0
/* Tests of accessed.c: whether a page was accessed, by made-up processes. */
#include <kunit/test.h>
#include <linux/ktime.h>
#include <linux/memory-tiers.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/page_idle.h>
#include <linux/swap.h>
#include <asm/tlbflush.h>

#include "../../internal.h"
#include "../internal.h"
#include "shared.h"

#define PLENTY	100000U

/* On the LRU list, as memory of users is before long. */
static struct shared *accessed_new(struct kunit *test, unsigned int processes)
{
	struct shared *s = shared_new(test);

	lru_add_drain_all();
	KUNIT_EXPECT_TRUE(test, folio_test_lru(s->folio));
	KUNIT_EXPECT_EQ(test, shared_by(s, processes), processes);
	return s;
}

/* A CPU that still has the translation would not look at the page table. */
static void access_by(struct kunit *test, struct mm_struct *mm)
{
	unsigned long addr;
	u32 word;

	mmap_read_lock(mm);
	addr = find_vma(mm, 0)->vm_start;
	mmap_read_unlock(mm);
	kthread_use_mm(mm);
	flush_tlb_mm(mm);
	KUNIT_EXPECT_EQ(test, get_user(word, (u32 __user *)addr), 0);
	kthread_unuse_mm(mm);
}

/* Look at the page, to the end. */
static bool was_accessed(struct kunit *test, struct shared *s)
{
	unsigned int left = PLENTY;
	enum pghot_accessed did = pghot_clear_accessed(s->folio, &left);

	KUNIT_EXPECT_NE(test, did, PGHOT_ACCESS_UNKNOWN);
	KUNIT_EXPECT_EQ(test, left, PLENTY - max(s->nr, 1));
	return did == PGHOT_ACCESSED;
}

static void each_access_is_seen_once(struct kunit *test)
{
	struct shared *s = accessed_new(test, 3);
	unsigned int i;

	KUNIT_EXPECT_TRUE(test, was_accessed(test, s));
	KUNIT_EXPECT_FALSE(test, was_accessed(test, s));
	for (i = 0; i < s->nr; i++) {
		access_by(test, s->mm[i]);
		KUNIT_EXPECT_TRUE(test, was_accessed(test, s));
		KUNIT_EXPECT_FALSE(test, was_accessed(test, s));
	}
	shared_free(s);
}

static void nobody_accesses_what_nobody_maps(struct kunit *test)
{
	struct shared *s = accessed_new(test, 0);

	KUNIT_EXPECT_FALSE(test, was_accessed(test, s));
	shared_free(s);
}

/* What was cleared is there for reclaim, and idle page tracking. */
static void others_learn_of_it(struct kunit *test)
{
	struct shared *s;

	s = accessed_new(test, 1);
	folio_set_idle(s->folio);
	folio_test_clear_young(s->folio);
	KUNIT_EXPECT_TRUE(test, was_accessed(test, s));
	KUNIT_EXPECT_TRUE(test, folio_test_young(s->folio));
	KUNIT_EXPECT_FALSE(test, folio_test_idle(s->folio));
	shared_free(s);
}

/* Aging does not ask all pages of DRAM for the sake of some. */
static void few_of_the_top_tier_are_marked(struct kunit *test)
{
	struct shared *s = accessed_new(test, 1);
	int nid = folio_nid(s->folio);

	KUNIT_EXPECT_EQ(test, pghot_flush_accessed(s->folio), PGHOT_ACCESSED);
	KUNIT_EXPECT_TRUE(test, folio_test_young(s->folio));
	KUNIT_EXPECT_EQ(test, node_is_toptier(nid), !__pghot_marks_young(nid));
	shared_free(s);
}

#ifdef CONFIG_MMU_NOTIFIER
/*
 * A guest's TLB keeps what it uses most, and its bits stay clear: such a page is not to look
 * unused. Who does not depend on that may look.
 */
static void of_what_guests_map_it_is_unknown(struct kunit *test)
{
	static const struct mmu_notifier_ops ops;
	struct mmu_notifier guest = { .ops = &ops };
	struct shared *s = accessed_new(test, 2);

	KUNIT_EXPECT_EQ(test, pghot_flush_accessed(s->folio), PGHOT_ACCESSED);
	access_by(test, s->mm[0]);
	access_by(test, s->mm[1]);
	KUNIT_ASSERT_EQ(test, mmu_notifier_register(&guest, s->mm[1]), 0);
	KUNIT_EXPECT_EQ(test, pghot_flush_accessed(s->folio), PGHOT_ACCESS_UNKNOWN);
	KUNIT_EXPECT_TRUE(test, was_accessed(test, s));
	mmu_notifier_unregister(&guest, s->mm[1]);
	shared_free(s);
}
#else
static void of_what_guests_map_it_is_unknown(struct kunit *test)
{
	kunit_skip(test, "without MMU notifiers there are no guests");
}
#endif

/* Of a mapping that is accessed in order reclaim takes no bit for use; others may have it, too. */
static void what_has_no_recency_is_not_marked(struct kunit *test)
{
	struct shared *s = accessed_new(test, 2);

	folio_set_idle(s->folio);
	folio_test_clear_young(s->folio);
	pghot_tell_accessed(s->folio, false);
	KUNIT_EXPECT_FALSE(test, folio_test_young(s->folio));
	KUNIT_EXPECT_FALSE(test, folio_test_idle(s->folio));
	shared_free(s);
}

/* As MADV_FREE clears accessed bits: reclaim is to free it, whatever was accessed before. */
static void what_is_freed_lazily_has_no_mark(struct kunit *test)
{
	struct shared *s = accessed_new(test, 1);

	pghot_tell_accessed(s->folio, true);
	folio_mark_lazyfree(s->folio);
	KUNIT_EXPECT_FALSE(test, folio_test_young(s->folio));
	shared_free(s);
}

/* As an accessed bit of a file's page is. While others map it, it is theirs. */
static void the_last_mapping_passes_a_mark_on(struct kunit *test)
{
	struct shared *s = accessed_new(test, 2);
	struct folio *folio = s->folio;

	static_branch_inc(&pghot_young_key);
	folio_get(folio);
	KUNIT_EXPECT_TRUE(test, was_accessed(test, s));
	KUNIT_EXPECT_FALSE(test, pghot_zap_young(folio, false, 1));
	KUNIT_EXPECT_TRUE(test, folio_test_young(folio));
	folio_clear_referenced(folio);
	shared_free(s);
	KUNIT_EXPECT_FALSE(test, folio_test_young(folio));
	KUNIT_EXPECT_TRUE(test, folio_test_referenced(folio));
	folio_put(folio);
	static_branch_dec(&pghot_young_key);
}

/* Else what was made idle would count as accessed since. */
static void aging_leaves_the_mark_of_what_is_idle(struct kunit *test)
{
	struct shared *s = accessed_new(test, 1);

	pghot_tell_accessed(s->folio, true);
	folio_set_idle(s->folio);
	KUNIT_EXPECT_FALSE(test, __pghot_take_young(s->folio));
	KUNIT_EXPECT_TRUE(test, folio_test_young(s->folio));
	pghot_tell_accessed(s->folio, true);
	KUNIT_EXPECT_TRUE(test, __pghot_take_young(s->folio));
	KUNIT_EXPECT_FALSE(test, __pghot_take_young(s->folio));
	shared_free(s);
}

static void locks_are_not_waited_for(struct kunit *test)
{
	struct shared *s = accessed_new(test, 1);
	unsigned int left = PLENTY;

	folio_lock(s->folio);
	KUNIT_EXPECT_EQ(test, pghot_clear_accessed(s->folio, &left),
			PGHOT_ACCESS_UNKNOWN);
	folio_unlock(s->folio);
	i_mmap_lock_write(s->file->f_mapping);
	KUNIT_EXPECT_EQ(test, pghot_clear_accessed(s->folio, &left),
			PGHOT_ACCESS_UNKNOWN);
	i_mmap_unlock_write(s->file->f_mapping);
	KUNIT_EXPECT_TRUE(test, was_accessed(test, s));
	shared_free(s);
}

static void what_is_being_changed_is_waited_for(struct kunit *test)
{
	struct shared *s = accessed_new(test, 1);
	struct shared_change change;

	shared_change_begin(test, &change, s->mm[0]);
	KUNIT_EXPECT_TRUE(test, was_accessed(test, s));
	shared_change_end(&change);
	KUNIT_EXPECT_FALSE(test, was_accessed(test, s));
	shared_free(s);
}

static void no_more_is_looked_at_than_allowed(struct kunit *test)
{
	struct shared *s = accessed_new(test, 3);
	unsigned int left = 2;

	KUNIT_EXPECT_EQ(test, pghot_clear_accessed(s->folio, &left),
			PGHOT_ACCESS_UNKNOWN);
	KUNIT_EXPECT_EQ(test, left, 0);
	/* The third. */
	KUNIT_EXPECT_TRUE(test, was_accessed(test, s));
	left = 3;
	KUNIT_EXPECT_EQ(test, pghot_clear_accessed(s->folio, &left),
			PGHOT_NOT_ACCESSED);
	KUNIT_EXPECT_EQ(test, left, 0);
	shared_free(s);
}

static u64 bits_ns(struct kunit *test, struct shared *s)
{
	const unsigned int looks = 2000;
	u64 start = ktime_get_ns();
	unsigned int i;

	for (i = 0; i < looks; i++)
		was_accessed(test, s);
	return (ktime_get_ns() - start) / looks;
}

/* What looking costs; nothing to fail by. */
static void cost_of_bits(struct kunit *test)
{
	struct shared *s = accessed_new(test, 1);

	kunit_info(test, "mapped by 1 process: %llu ns per look\n", bits_ns(test, s));
	KUNIT_EXPECT_EQ(test, shared_by(s, PROCESSES - 1), PROCESSES - 1);
	kunit_info(test, "mapped by %u processes: %llu ns per look\n", PROCESSES,
		   bits_ns(test, s));
	shared_free(s);
}

static struct kunit_case accessed_cases[] = {
	KUNIT_CASE(each_access_is_seen_once),
	KUNIT_CASE(nobody_accesses_what_nobody_maps),
	KUNIT_CASE(others_learn_of_it),
	KUNIT_CASE(few_of_the_top_tier_are_marked),
	KUNIT_CASE(of_what_guests_map_it_is_unknown),
	KUNIT_CASE(aging_leaves_the_mark_of_what_is_idle),
	KUNIT_CASE(what_has_no_recency_is_not_marked),
	KUNIT_CASE(what_is_freed_lazily_has_no_mark),
	KUNIT_CASE(the_last_mapping_passes_a_mark_on),
	KUNIT_CASE(locks_are_not_waited_for),
	KUNIT_CASE(what_is_being_changed_is_waited_for),
	KUNIT_CASE(no_more_is_looked_at_than_allowed),
	KUNIT_CASE_SLOW(cost_of_bits),
	{}
};

static struct kunit_suite accessed_suite = {
	.name = "pghot_accessed",
	.test_cases = accessed_cases,
};

kunit_test_suite(accessed_suite);
