// SPDX-License-Identifier: GPL-2.0
/* mm/migrate_copy/choice.c: who copies how much of many batches. */
#include "unit.h"

#include "migrate_copy.h"

/*
 * Batches of 512 pages as batch.c has them, copied by an engine and a CPU of 250 ns a KiB.
 * The engine has no room for one in so many jobs, if that is not 0. Return the share of the
 * pages that it copied, in percent.
 */
static unsigned int share_if_busy(u64 setup, u64 ns_per_kib, u64 first_ns,
				  unsigned int batches, unsigned int hiccup, unsigned int busy)
{
	struct migrate_copy_cost cpu = known(250), costs[MIGRATE_COPY_SIZES] = { };
	struct migrate_copy_cost took[MIGRATE_COPY_SIZES] = { };
	struct migrate_copy_line line = { };
	u64 copied = 0, asked = 0, jobs = 0, left, kib, ns;
	enum migrate_copy_verdict verdict;
	unsigned int i;
	u32 nth = 0;

	for (i = 0; i < batches; i++) {
		for (left = 2048; left; left -= kib) {
			unsigned int size;

			kib = migrate_copy_chunk(&line, first_ns, ++nth) & ~3ULL;
			kib = kib < left ? kib : left;
			kib = kib < 1024 ? kib : 1024;
			size = migrate_copy_size(kib / 4);
			verdict = migrate_copy_judge(&costs[size], &took[size], &cpu);
			/* No more of this batch: it is not asked again. */
			if (verdict == MIGRATE_COPY_BY_CPU)
				break;
			if (verdict == MIGRATE_COPY_RESTS)
				continue;
			if (busy && ++asked % busy == 0) {
				migrate_copy_was_busy(&costs[size]);
				continue;
			}
			ns = setup + kib * ns_per_kib;
			if (++jobs == hiccup)
				ns += 3000000;
			migrate_copy_line_add(&line, kib, ns);
			migrate_copy_learn(&costs[size], ns, kib);
			migrate_copy_learn(&took[size], ns, kib);
			copied += kib;
		}
	}
	return copied * 100 / (batches * 2048ULL);
}

static unsigned int share(u64 setup, u64 ns_per_kib, u64 first_ns, unsigned int batches,
			  unsigned int hiccup)
{
	return share_if_busy(setup, ns_per_kib, first_ns, batches, hiccup, 0);
}

TEST(an_engine_that_wins_is_used_whatever_happened_once)
{
	unsigned int hiccup;

	for (hiccup = 0; hiccup < 40; hiccup++)
		assert_true(share(2000, 50, 100000, 2000, hiccup) >= 90);
}

TEST(what_an_engine_is_good_for_is_not_forgotten)
{
	assert_true(share(20000, 50, 1000000, 2000, 0) >= 90);
	assert_true(share(20000, 50, 100000, 20000, 0) >= 90);
}

TEST(a_large_setup_pays_where_jobs_are_large)
{
	assert_true(share(90000, 10, 100000, 2000, 0) >= 90);
	/* And where they must be small it does not. */
	assert_true(share(90000, 10, 20000, 2000, 0) <= 10);
}

TEST(an_engine_that_loses_is_hardly_used)
{
	assert_true(share(5000, 300, 100000, 20000, 0) <= 1);
	assert_true(share(200000, 200, 100000, 20000, 0) <= 1);
}

/* It rests for some jobs, and not for the rest of this batch and of as many others. */
TEST(an_engine_that_is_busy_now_and_then_is_used_for_nearly_all)
{
	assert_true(share_if_busy(2000, 50, 100000, 2000, 0, 33) >= 85);
	assert_true(share_if_busy(2000, 50, 100000, 2000, 0, 330) >= 95);
	/* Where a batch is many jobs. */
	assert_true(share_if_busy(300, 50, 100000, 2000, 0, 33) >= 85);
}

/* And one that never has room copies nothing. */
TEST(an_engine_that_is_but_busy_copies_nothing)
{
	assert_int_equal(share_if_busy(2000, 50, 100000, 2000, 0, 1), 0);
}

UNIT_MAIN(
	cmocka_unit_test(an_engine_that_wins_is_used_whatever_happened_once),
	cmocka_unit_test(what_an_engine_is_good_for_is_not_forgotten),
	cmocka_unit_test(a_large_setup_pays_where_jobs_are_large),
	cmocka_unit_test(an_engine_that_loses_is_hardly_used),
	cmocka_unit_test(an_engine_that_is_busy_now_and_then_is_used_for_nearly_all),
	cmocka_unit_test(an_engine_that_is_but_busy_copies_nothing),
)
