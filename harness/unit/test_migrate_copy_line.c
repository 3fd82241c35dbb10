// SPDX-License-Identifier: GPL-2.0
/* mm/migrate_copy/choice.c: what an engine's set-up and rate are, and how much it is given. */
#include "unit.h"

#include "migrate_copy/choice.h"

#define NS(cost)	((u64)(cost) >> MIGRATE_COPY_SHIFT)

static void line_of(struct migrate_copy_line *l, u64 setup, u64 ns_per_kib,
		    const u64 *kib, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		migrate_copy_line_add(l, kib[i], setup + kib[i] * ns_per_kib);
}

TEST(setup_and_rate_are_told_apart)
{
	static const u64 sizes[] = { 64, 256, 64, 128, 1024, 64, 256, 4 };
	static const u64 setups[] = { 0, 700, 5000, 100000 };
	size_t i, j;

	for (i = 0; i < 4; i++) {
		struct migrate_copy_line l = { };
		u64 setup, rate;

		for (j = 0; j < 20; j++)
			line_of(&l, setups[i], 250, sizes, 8);
		migrate_copy_line_fit(&l, &setup, &rate);
		assert_in_range(NS(rate), 245, 255);
		assert_in_range(setup, setups[i] - setups[i] / 16,
				setups[i] + setups[i] / 16 + 300);
	}
}

TEST(jobs_of_one_size_are_all_rate)
{
	static const u64 size = 64;
	struct migrate_copy_line l = { };
	u64 setup, rate, i;

	migrate_copy_line_fit(&l, &setup, &rate);
	assert_int_equal(rate, 0);
	for (i = 0; i < 40; i++)
		line_of(&l, 6400, 100, &size, 1);
	migrate_copy_line_fit(&l, &setup, &rate);
	assert_int_equal(setup, 0);
	assert_in_range(NS(rate), 199, 201);
}

TEST(no_job_breaks_a_line)
{
	struct migrate_copy_line l = { };
	u64 seed = 1, setup, rate, i;

	for (i = 0; i < 100000; i++) {
		u64 kib = harness_random(&seed) >> harness_random(&seed) % 64;
		u64 ns = harness_random(&seed) >> harness_random(&seed) % 64;

		migrate_copy_line_add(&l, kib, ns);
		migrate_copy_line_fit(&l, &setup, &rate);
		assert_true(rate > 0);
		assert_true(setup <= 1ULL << 27);
		assert_in_range(migrate_copy_chunk(&l, ns, i), MIGRATE_COPY_CHUNK,
				1 << 14);
	}
}

TEST(a_chunk_follows_setup_and_patience)
{
	static const u64 sizes[] = { 64, 256, 1024, 64, 128 };
	struct migrate_copy_line l = { };
	size_t i;
	u64 kib;

	assert_int_equal(migrate_copy_chunk(&l, 100000, 1), MIGRATE_COPY_CHUNK);
	for (i = 0; i < 20; i++)
		line_of(&l, 5000, 250, sizes, 5);
	/* An eighth of its time is set-up: 8 * 5000 / 250. */
	kib = migrate_copy_chunk(&l, 10000000, 1);
	assert_in_range(kib, 150, 170);
	assert_in_range(migrate_copy_chunk(&l, 10000000, 2 * MIGRATE_COPY_VARY),
			600, 680);
	/* The first of it waits 25 us: (25000 - 5000) / 250. */
	assert_in_range(migrate_copy_chunk(&l, 25000, 1), 75, 85);
	/* Whoever cannot wait has the least there is. */
	assert_int_equal(migrate_copy_chunk(&l, 0, 1), MIGRATE_COPY_CHUNK);
}

UNIT_MAIN(
	cmocka_unit_test(setup_and_rate_are_told_apart),
	cmocka_unit_test(jobs_of_one_size_are_all_rate),
	cmocka_unit_test(no_job_breaks_a_line),
	cmocka_unit_test(a_chunk_follows_setup_and_patience),
)
