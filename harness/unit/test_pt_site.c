// SPDX-License-Identifier: GPL-2.0
/* source/pt_site.c: the page tables where samples were. */
#include "unit.h"

#include <pthread.h>

#include <linux/numa.h>

#include "source/pt_site.h"

#define MIB	(1UL << 20)

static struct pghot_sites sites;

static void sampled(pid_t tgid, unsigned long table, int nid)
{
	struct pghot_site site = { .table = table, .tgid = tgid, .nid = nid };

	pghot_site_add(&sites, &site);
}

static void forget(void)
{
	sites.nr = sites.hits = sites.again = 0;
}

TEST(each_is_there_once_and_those_of_a_process_are_together)
{
	unsigned int seed = 1, i;

	forget();
	for (i = 0; i < 10000; i++) {
		seed = seed * 1103515245 + 12345;
		sampled(seed >> 16 & 7, (seed >> 20 & 63) * 2 * MIB, 0);
	}
	assert_int_equal(sites.nr, 8 * 64);
	for (i = 0; i < sites.nr; i++) {
		assert_int_equal(sites.site[i].tgid, i / 64);
		assert_int_equal(sites.site[i].table, i % 64 * 2 * MIB);
	}
}

TEST(whoever_accesses_it_most_has_it)
{
	unsigned int i;

	forget();
	sampled(1, 0, 0);
	sampled(1, 2 * MIB, 1);
	sampled(1, 2 * MIB, 0);
	assert_int_equal(sites.site[0].nid, 0);
	/* As often from one as from the other. */
	assert_int_equal(sites.site[1].nid, NUMA_NO_NODE);
	sampled(2, 0, 1);
	assert_int_equal(sites.site[2].nid, 1);
	/* A stray one does not matter, wherever it comes. */
	for (i = 0; i < 100; i++)
		sampled(1, 2 * MIB, i % 10 == 3);
	assert_int_equal(sites.site[1].nid, 0);
}

TEST(there_is_an_end)
{
	unsigned int i;

	forget();
	for (i = PGHOT_SITES + 10; i--;)
		sampled(1, i * 2 * MIB, 0);
	assert_int_equal(sites.nr, PGHOT_SITES);
	assert_int_equal(sites.site[0].table, 10 * 2 * MIB);
	assert_true(pghot_sites_enough(&sites));
	/* Known ones still count. */
	sampled(1, 10 * 2 * MIB, 1);
	assert_int_equal(sites.site[0].nid, NUMA_NO_NODE);
}

TEST(enough_is_when_hardly_any_is_new)
{
	unsigned int i;

	forget();
	assert_false(pghot_sites_enough(&sites));
	/* A few say nothing, and are counted along with the next. */
	for (i = 0; i < 15; i++)
		sampled(1, 0, 0);
	assert_false(pghot_sites_enough(&sites));
	sampled(1, 0, 0);
	assert_true(pghot_sites_enough(&sites));
	/* Counted anew: two of 17 are more than one in 16. */
	for (i = 0; i < 17; i++)
		sampled(1, (i < 2) * (i + 1) * 2 * MIB, 0);
	assert_false(pghot_sites_enough(&sites));
	for (i = 0; i < 32; i++)
		sampled(1, (i < 2) * (i + 3) * 2 * MIB, 0);
	assert_true(pghot_sites_enough(&sites));
}

/* What is full leaves out what comes, and nothing that was there. */
TEST(a_ring_is_forgotten_at_once)
{
	static struct pghot_site_ring ring;
	struct pghot_site site = { .tgid = 1 };

	assert_true(pghot_site_put(&ring, &site));
	pghot_site_drop(&ring);
	assert_false(pghot_site_any(&ring));
	assert_true(pghot_site_put(&ring, &site));
	forget();
	pghot_site_take(&ring, &sites);
	assert_int_equal(sites.hits, 1);
}

TEST(a_ring_that_is_full_loses_what_comes_last)
{
	static struct pghot_site_ring ring;
	unsigned int i, round;

	for (round = 0; round < 3; round++) {
		assert_false(pghot_site_any(&ring));
		for (i = 0; i < PGHOT_SITE_RING + 9; i++) {
			struct pghot_site site = { .table = i * 2 * MIB, .tgid = 1 };

			assert_int_equal(pghot_site_put(&ring, &site), i < PGHOT_SITE_RING);
		}
		assert_true(pghot_site_any(&ring));
		forget();
		pghot_site_take(&ring, &sites);
		assert_int_equal(sites.nr, PGHOT_SITE_RING);
		assert_int_equal(sites.site[PGHOT_SITE_RING - 1].table,
				 (PGHOT_SITE_RING - 1) * 2 * MIB);
	}
}

#define PUT	200000U

static void *putter(void *arg)
{
	struct pghot_site_ring *ring = arg;
	unsigned int i;

	for (i = 0; i < PUT;) {
		/* All of it says the same: half of one would be seen. */
		struct pghot_site site = {
			.table = i % 512 * 2 * MIB, .tgid = i % 512, .nid = i % 512,
		};

		i += pghot_site_put(ring, &site);
	}
	return NULL;
}

TEST(a_ring_may_be_filled_and_emptied_at_a_time)
{
	static struct pghot_site_ring ring;
	unsigned int i, taken = 0;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, putter, &ring), 0);
	while (taken < PUT) {
		forget();
		pghot_site_take(&ring, &sites);
		taken += sites.hits;
		for (i = 0; i < sites.nr; i++) {
			const struct pghot_site *s = &sites.site[i];

			assert_int_equal(s->table, s->tgid * 2 * MIB);
			assert_int_equal(s->nid, s->tgid);
		}
	}
	assert_int_equal(taken, PUT);
	pthread_join(thread, NULL);
}

UNIT_MAIN(
	cmocka_unit_test(each_is_there_once_and_those_of_a_process_are_together),
	cmocka_unit_test(whoever_accesses_it_most_has_it),
	cmocka_unit_test(there_is_an_end),
	cmocka_unit_test(enough_is_when_hardly_any_is_new),
	cmocka_unit_test(a_ring_is_forgotten_at_once),
	cmocka_unit_test(a_ring_that_is_full_loses_what_comes_last),
	cmocka_unit_test(a_ring_may_be_filled_and_emptied_at_a_time),
)
