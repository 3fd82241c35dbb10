// SPDX-License-Identifier: GPL-2.0
/* fault_yield.c: where hint faults tell of nothing that is hot. */
#include "unit.h"

#include <string.h>

#include <linux/bits.h>
#include <linux/limits.h>

#include "fault_yield.h"

#define AREAS	PGHOT_YIELD_AREAS
#define AREA	BIT(PGHOT_YIELD_ORDER)
/* As the kernel ships it, and a tick of the slowest clock. */
#define REF_MS	1000U
#define TICK_MS	10U

static struct pghot_fault_yield yield;
/* Faults of these tests come one after the other, unless a test says otherwise. */
static u16 slot;

/* Of memory where faults told of nothing but what is hot. */
static void forget(void)
{
	memset(&yield, 0, sizeof(yield));
}

static u32 held(unsigned long area)
{
	return pghot_yield_held(&yield, area * AREA);
}

/*
 * Pages of an area that are used every @period_ms each and unmapped at any time. Return
 * of how many faults it was spared by half or more before.
 */
static unsigned int used(unsigned long area, u32 period_ms, unsigned int faults)
{
	static unsigned int seed = 1;
	unsigned int spared = 0;

	while (faults--) {
		u32 latency;

		seed = seed * 1103515245 + 12345;
		latency = (seed >> 8) % period_ms / TICK_MS * TICK_MS;
		spared += !!held(area);
		pghot_yield_fault(&yield, area * AREA + faults % AREA,
				  pghot_fault_says(latency, REF_MS), slot++);
	}
	return spared;
}

TEST(what_is_used_now_and_then_is_hardly_unmapped)
{
	u32 period;

	for (period = 4 * REF_MS; period <= 60 * REF_MS; period += REF_MS) {
		forget();
		used(1, period, 500 * period / REF_MS);
		assert_in_range(held(1), 1, PGHOT_YIELD_HELD_MAX);
		/* And it stays so: it is a few that come soon by chance. */
		assert_in_range(used(1, period, 10000), 9000, 10000);
	}
}

TEST(what_is_used_often_is_always_unmapped)
{
	u32 period;

	for (period = TICK_MS; period <= 2 * REF_MS; period += TICK_MS) {
		forget();
		assert_int_equal(used(1, period, 100000), 0);
	}
}

/* Faults that come with the first use for long, and say nothing of the next. */
TEST(what_was_not_used_for_long_may_be_hot)
{
	unsigned int i;

	forget();
	for (i = 0; i < 10000; i++)
		pghot_yield_fault(&yield, AREA,
				  pghot_fault_says(4 * REF_MS + i, REF_MS), slot++);
	assert_int_equal(held(1), 0);
}

/* One fault in three is of such, among those on others that are used now and then. */
TEST(a_few_hot_pages_are_enough)
{
	unsigned int i, spared = 0;

	forget();
	for (i = 0; i < 10000; i++) {
		spared += used(1, 10 * REF_MS, 2);
		spared += used(1, REF_MS, 1);
	}
	assert_in_range(spared, 0, 1000);
}

TEST(it_is_unmapped_again_when_it_is_hot)
{
	forget();
	used(1, 60 * REF_MS, 10000);
	assert_int_equal(held(1), PGHOT_YIELD_HELD_MAX);
	assert_in_range(used(1, REF_MS, 100), 1, 40);
	assert_int_equal(held(1), 0);
}

TEST(other_areas_go_by_their_own)
{
	unsigned long area;

	forget();
	/* One of two counts, whatever the time. */
	for (area = 0; area < AREAS; area++)
		used(area, REF_MS, 2);
	used(1, 60 * REF_MS, 10000);
	for (area = 0; area < AREAS; area++)
		assert_int_equal(held(area), area == 1 ? PGHOT_YIELD_HELD_MAX : 0);
	/* Of a lot of memory some go by one. */
	assert_int_equal(held(AREAS + 1), PGHOT_YIELD_HELD_MAX);
	assert_int_equal(pghot_yield_held(&yield, ULONG_MAX), 0);
}

TEST(it_has_an_end)
{
	unsigned int i;

	forget();
	for (i = 0; i < 1000; i++) {
		u8 before = yield.futile[0];

		pghot_yield_fault(&yield, 0, PGHOT_FAULT_SELDOM, slot++);
		assert_in_range(yield.futile[0], before, U8_MAX);
	}
	assert_int_equal(pghot_yield_held(&yield, 0), PGHOT_YIELD_HELD_MAX);
	for (i = 0; i < 1000; i++) {
		u8 before = yield.futile[0];

		pghot_yield_fault(&yield, 0, PGHOT_FAULT_OFTEN, slot++);
		assert_in_range(yield.futile[0], 0, before);
	}
	assert_int_equal(pghot_yield_held(&yield, 0), 0);
	assert_int_equal(yield.all, 0);
}

TEST(where_nothing_is_known_it_is_as_in_most)
{
	unsigned long area;

	forget();
	for (area = 0; area < 64; area++)
		used(area, 60 * REF_MS, 100);
	for (area = 64; area < AREAS; area++)
		assert_int_equal(held(area), PGHOT_YIELD_HELD_MAX);
	/* Who was told goes by its own, and of a guess little is left with the first. */
	used(64, REF_MS, 1);
	assert_in_range(held(64), 0, 1);
	used(64, REF_MS, 1);
	assert_int_equal(held(64), 0);
	pghot_yield_found(&yield, 65 * AREA);
	pghot_yield_found(&yield, 65 * AREA);
	assert_int_equal(held(65), 0);
	assert_int_equal(held(AREAS - 1), PGHOT_YIELD_HELD_MAX);
}

/* A fault here and one there are enough, and less than half a threshold. */
TEST(what_is_hot_is_known_to_others_soon)
{
	unsigned long area;

	forget();
	for (area = 0; area < 64; area++)
		used(area, 8 * REF_MS, 1000);
	for (; area < 128; area++)
		used(area, REF_MS, 1);
	for (; area < AREAS; area++)
		assert_int_equal(held(area), 0);
	/* Who was told otherwise stays at that. */
	assert_in_range(held(0), 1, PGHOT_YIELD_HELD_MAX);
}

/* Whoever goes through memory finds much of an area that was scanned together. */
TEST(an_area_says_little_of_others_at_once)
{
	unsigned int i;

	forget();
	for (i = 0; i < 100; i++)
		pghot_yield_fault(&yield, AREA, PGHOT_FAULT_SELDOM, slot++);
	assert_int_not_equal(held(1), 0);
	assert_int_equal(held(2), 0);
	/* All at one time are one. */
	for (i = 2; i < 1000; i++)
		pghot_yield_fault(&yield, i * AREA, PGHOT_FAULT_SELDOM, slot);
	assert_int_equal(held(1000), 0);
	/* In time it says as much as others. */
	used(1, 60 * REF_MS, 4000);
	assert_int_equal(held(1000), PGHOT_YIELD_HELD_MAX);
}

/*
 * Pages of an area that a program begins to use, all within @ms, which were scanned at
 * some time in the four thresholds before.
 */
static void begin(unsigned int ms)
{
	static u64 now;
	unsigned int i;

	for (i = 0; i < AREA; i++) {
		now += ms * 1000000ULL / AREA;
		pghot_yield_fault(&yield, AREA + i,
				  pghot_fault_says(i * 7919 % (4 * REF_MS), REF_MS),
				  pghot_fault_slot(now, REF_MS));
	}
}

TEST(what_is_begun_with_is_no_proof)
{
	forget();
	begin(REF_MS / 4);
	assert_int_equal(held(1), 0);
	/* And the same in some thresholds is. */
	begin(20 * REF_MS);
	assert_in_range(held(1), 1, PGHOT_YIELD_HELD_MAX);
}

TEST(what_others_find_hot_counts_at_once)
{
	unsigned int i;

	forget();
	used(1, 60 * REF_MS, 40000);
	assert_int_equal(held(1), PGHOT_YIELD_HELD_MAX);
	for (i = 0; i < 32; i++)
		pghot_yield_found(&yield, AREA + i);
	assert_int_equal(held(1), 0);
}

TEST(a_slot_is_a_part_of_the_threshold)
{
	unsigned int ref;

	for (ref = 1; ref <= 10000; ref *= 10) {
		u64 ns = ref * 1000000ULL;

		assert_in_range(pghot_fault_slot(ns, ref) - pghot_fault_slot(0, ref), 120, 128);
	}
	assert_int_equal(pghot_fault_slot(U64_MAX, 0), pghot_fault_slot(U64_MAX, 1));
}

TEST(what_a_fault_says_is_its_latency)
{
	assert_int_equal(pghot_fault_says(0, 1), PGHOT_FAULT_OFTEN);
	assert_int_equal(pghot_fault_says(999, 1000), PGHOT_FAULT_OFTEN);
	assert_int_equal(pghot_fault_says(1000, 1000), PGHOT_FAULT_SELDOM);
	assert_int_equal(pghot_fault_says(3999, 1000), PGHOT_FAULT_SELDOM);
	assert_int_equal(pghot_fault_says(4000, 1000), PGHOT_FAULT_NOTHING);
	assert_int_equal(pghot_fault_says(U32_MAX, 1000), PGHOT_FAULT_NOTHING);
	assert_int_equal(pghot_fault_says(U32_MAX, U32_MAX), PGHOT_FAULT_SELDOM);
}

UNIT_MAIN(
	cmocka_unit_test(what_is_used_now_and_then_is_hardly_unmapped),
	cmocka_unit_test(what_is_used_often_is_always_unmapped),
	cmocka_unit_test(what_was_not_used_for_long_may_be_hot),
	cmocka_unit_test(a_few_hot_pages_are_enough),
	cmocka_unit_test(it_is_unmapped_again_when_it_is_hot),
	cmocka_unit_test(other_areas_go_by_their_own),
	cmocka_unit_test(it_has_an_end),
	cmocka_unit_test(where_nothing_is_known_it_is_as_in_most),
	cmocka_unit_test(what_is_hot_is_known_to_others_soon),
	cmocka_unit_test(an_area_says_little_of_others_at_once),
	cmocka_unit_test(what_is_begun_with_is_no_proof),
	cmocka_unit_test(what_others_find_hot_counts_at_once),
	cmocka_unit_test(a_slot_is_a_part_of_the_threshold),
	cmocka_unit_test(what_a_fault_says_is_its_latency),
)
