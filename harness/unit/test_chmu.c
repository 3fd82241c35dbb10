// SPDX-License-Identifier: GPL-2.0
/* source/chmu.c: what the registers of a hotness monitoring unit mean. */
#include "unit.h"

#include <linux/bitfield.h>
#include <linux/limits.h>

#include "source/chmu.h"

#define CAP0(scale_min, min, scale_max, max)				\
	(FIELD_PREP(CHMU_CAP0_VECTOR, 3ULL) | CHMU_CAP0_FILL_IRQ |	\
	 FIELD_PREP(CHMU_CAP0_TRACK, 7ULL) |				\
	 FIELD_PREP(CHMU_CAP0_EPOCH_MIN_SCALE, (u64)(scale_min)) |	\
	 FIELD_PREP(CHMU_CAP0_EPOCH_MIN_COUNT, (u64)(min)) |		\
	 FIELD_PREP(CHMU_CAP0_EPOCH_MAX_SCALE, (u64)(scale_max)) |	\
	 FIELD_PREP(CHMU_CAP0_EPOCH_MAX_COUNT, (u64)(max)) |		\
	 FIELD_PREP(CHMU_CAP0_ENTRIES, 100ULL))
#define CAP1(units)							\
	(FIELD_PREP(CHMU_CAP1_UNITS, (u64)(units)) |			\
	 FIELD_PREP(CHMU_CAP1_SAMPLING, 1ULL) | CHMU_CAP1_BY_EPOCH)

#define USUAL_CAP0	CAP0(CHMU_EPOCH_100US, 1, CHMU_EPOCH_100MS, 10)
#define USUAL_CAP1	CAP1(0xffffff)

static struct chmu_caps usual(void)
{
	struct chmu_caps caps;

	assert_int_equal(chmu_parse_caps(USUAL_CAP0, USUAL_CAP1, &caps), 0);
	return caps;
}

static int plan(const struct chmu_caps *caps, u32 epoch_us, u32 threshold,
		unsigned int count_bits, struct chmu_setup *setup)
{
	return chmu_plan(caps, epoch_us, setup) ?:
	       chmu_plan_threshold(setup, threshold, count_bits);
}

TEST(capabilities_are_read)
{
	struct chmu_caps caps = usual();

	assert_int_equal(caps.vector, 3);
	assert_true(caps.fill_irq);
	assert_false(caps.overflow_irq);
	assert_true(caps.by_epoch);
	assert_false(caps.always_on);
	assert_int_equal(caps.tracks, 7);
	assert_int_equal(caps.units, 0xffffff);
	assert_int_equal(caps.samplings, 1);
	assert_int_equal(caps.entries, 100);
	assert_int_equal(caps.epoch_min_us, 100);
	assert_int_equal(caps.epoch_max_us, 1000000);
}

TEST(what_makes_no_sense_is_refused)
{
	static const struct {
		u64 cap0, cap1;
	} bad[] = {
		{ ~0ULL, ~0ULL },
		{ 0, 0 },
		{ USUAL_CAP0 & ~CHMU_CAP0_TRACK, USUAL_CAP1 },
		{ USUAL_CAP0 & ~CHMU_CAP0_ENTRIES, USUAL_CAP1 },
		{ CAP0(CHMU_EPOCH_100US, 0, CHMU_EPOCH_1MS, 1), USUAL_CAP1 },
		{ CAP0(CHMU_EPOCH_10MS, 2, CHMU_EPOCH_1MS, 1), USUAL_CAP1 },
		{ CAP0(0, 1, CHMU_EPOCH_1MS, 1), USUAL_CAP1 },
		{ CAP0(6, 1, CHMU_EPOCH_1MS, 1), USUAL_CAP1 },
		{ CAP0(CHMU_EPOCH_1MS, 1, 15, 1), USUAL_CAP1 },
		{ USUAL_CAP0, CAP1(0) },
		{ USUAL_CAP0, USUAL_CAP1 & ~CHMU_CAP1_SAMPLING },
		{ USUAL_CAP0, USUAL_CAP1 & ~CHMU_CAP1_BY_EPOCH },
	};
	struct chmu_caps caps;
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(chmu_parse_caps(bad[i].cap0, bad[i].cap1, &caps),
				 -EINVAL);
}

TEST(units_are_pages_or_parts_of_them_or_little_more)
{
	static const struct {
		u32 units;
		int shift;
	} cases[] = {
		{ 0xffffff, 12 }, { 0xfffff0, 12 }, { 0x00000f, 11 },
		{ 0x000001, 8 }, { 0xffffe0, 13 }, { 0x002000, 21 },
		{ 0xffc000, -EOPNOTSUPP }, { 0x80000000, -EOPNOTSUPP },
		{ 0x80000001, 8 },
	};
	struct chmu_caps caps = usual();
	struct chmu_setup setup;
	unsigned int i;
	int err;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		caps.units = cases[i].units;
		err = plan(&caps, 20000, 2, 16, &setup);
		assert_int_equal(err, cases[i].shift < 0 ? cases[i].shift : 0);
		if (err)
			continue;
		assert_int_equal(setup.unit_shift, cases[i].shift);
		assert_int_equal(FIELD_GET(CHMU_CFG1_UNIT, setup.cfg[1]),
				 cases[i].shift);
	}
}

static u64 us_of(const struct chmu_setup *setup)
{
	static const u64 us[] = { 0, 100, 1000, 10000, 100000, 1000000 };

	return us[FIELD_GET(CHMU_CFG1_EPOCH_SCALE, setup->cfg[1])] *
	       FIELD_GET(CHMU_CFG1_EPOCH_COUNT, setup->cfg[1]);
}

/* Whatever is asked for, the register says what the setup says, within the caps. */
TEST(an_epoch_is_the_nearest_there_is)
{
	static const u32 wanted[] = {
		0, 1, 99, 100, 150, 4095, 4096, 20000, 409500, 409600, 999999,
		1000000, 5000000, U32_MAX,
	};
	struct chmu_caps caps = usual();
	struct chmu_setup setup;
	unsigned int i;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		u64 near = wanted[i] < 100 ? 100 : wanted[i] > 1000000 ?
			   1000000 : wanted[i];

		assert_int_equal(plan(&caps, wanted[i], 2, 16, &setup), 0);
		assert_int_equal(us_of(&setup), setup.epoch_us);
		assert_in_range(setup.epoch_us, caps.epoch_min_us,
				caps.epoch_max_us);
		assert_true(setup.epoch_us <= near);
		assert_true(near - setup.epoch_us < 100 ||
			    near - setup.epoch_us <= near / 40);
	}
	/* Longer than a second, where there are such. */
	caps.epoch_max_us = 5000000000;
	assert_int_equal(plan(&caps, 420000000, 2, 16, &setup), 0);
	assert_int_equal(setup.epoch_us, 420000000);
	assert_int_equal(us_of(&setup), 420000000);
	/* One that falls between two values, and is the shortest there is. */
	caps.epoch_min_us = 4150;
	assert_int_equal(plan(&caps, 1, 2, 16, &setup), 0);
	assert_int_equal(setup.epoch_us, 4200);
	assert_int_equal(us_of(&setup), 4200);
}

TEST(the_rest_is_what_says_most)
{
	struct chmu_caps caps = usual();
	struct chmu_setup setup;

	assert_int_equal(plan(&caps, 20000, 5, 16, &setup), 0);
	assert_int_equal(FIELD_GET(CHMU_CFG0_TRACK, setup.cfg[0]),
			 CHMU_TRACK_PLAIN_READS);
	assert_int_equal(FIELD_GET(CHMU_CFG0_THRESHOLD, setup.cfg[0]), 5);
	assert_int_equal(FIELD_GET(CHMU_CFG1_MODE, setup.cfg[1]),
			 CHMU_MODE_BY_EPOCH);
	assert_int_equal(FIELD_GET(CHMU_CFG2_FILL, setup.cfg[2]), 1);
	assert_true(setup.cfg[0] & CHMU_CFG0_FILL_IRQ);
	assert_false(setup.cfg[0] & (CHMU_CFG0_OVERFLOW_IRQ | CHMU_CFG0_ENABLE |
				     CHMU_CFG0_RANDOM));

	caps.tracks = 0x3f;
	caps.by_epoch = false;
	caps.samplings = 0xc;
	assert_int_equal(plan(&caps, 20000, 5, 16, &setup), 0);
	assert_int_equal(FIELD_GET(CHMU_CFG0_TRACK, setup.cfg[0]), CHMU_TRACK_READS);
	assert_int_equal(FIELD_GET(CHMU_CFG1_MODE, setup.cfg[1]),
			 CHMU_MODE_ALWAYS_ON);
	assert_int_equal(FIELD_GET(CHMU_CFG1_SAMPLING, setup.cfg[1]), 2);
	/* Of four requests one is counted. */
	assert_int_equal(FIELD_GET(CHMU_CFG0_THRESHOLD, setup.cfg[0]), 1);
	caps.tracks = 1 << (CHMU_TRACK_PLAIN_WRITES - 1);
	assert_int_equal(plan(&caps, 20000, 0, 16, &setup), 0);
	assert_int_equal(FIELD_GET(CHMU_CFG0_TRACK, setup.cfg[0]),
			 CHMU_TRACK_PLAIN_WRITES);
	assert_int_equal(FIELD_GET(CHMU_CFG0_THRESHOLD, setup.cfg[0]), 1);

	assert_int_equal(plan(&caps, 20000, U32_MAX, 4, &setup), 0);
	assert_int_equal(FIELD_GET(CHMU_CFG0_THRESHOLD, setup.cfg[0]), 15);
	assert_int_equal(plan(&caps, 20000, 2, 0, &setup), -EINVAL);
	assert_int_equal(plan(&caps, 20000, 2, 33, &setup), -EINVAL);
	/* What an entry has room for, of one request in four. */
	assert_int_equal(chmu_threshold_max(&setup, 4), 60);
	assert_int_equal(chmu_threshold_max(&setup, 32), U32_MAX);
}

/* What is written back was used before, and a page that is moved there is written. */
TEST(reads_are_counted_where_that_can_be_done)
{
	static const struct {
		u32 tracks, track;
	} cases[] = {
		{ 0x3f, CHMU_TRACK_READS }, { 0x07, CHMU_TRACK_PLAIN_READS },
		{ 0x25, CHMU_TRACK_PLAIN_READS }, { 0x36, CHMU_TRACK_ALL },
		{ 0x16, CHMU_TRACK_PLAIN_ALL }, { 0x12, CHMU_TRACK_WRITES },
		{ 0x02, CHMU_TRACK_PLAIN_WRITES },
	};
	struct chmu_caps caps = usual();
	struct chmu_setup setup;
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		caps.tracks = cases[i].tracks;
		assert_int_equal(plan(&caps, 20000, 5, 16, &setup), 0);
		assert_int_equal(FIELD_GET(CHMU_CFG0_TRACK, setup.cfg[0]),
				 cases[i].track);
	}
}

TEST(instances_share_the_ranges)
{
	u64 sizes[] = { 1, 1ULL << 28, (1ULL << 28) + 1, 7ULL << 28, 1ULL << 40 };
	u64 first, end, at, ranges;
	unsigned int i, n, nr;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ranges = (sizes[i] + (1ULL << 28) - 1) >> 28;
		for (nr = 1; nr < 9; nr++) {
			for (at = n = 0; n < nr; n++, at = end) {
				chmu_share(sizes[i], nr, n, &first, &end);
				assert_int_equal(first, at);
				assert_true(end >= first);
			}
			assert_int_equal(at, ranges);
		}
	}
}

TEST(what_waits_is_bounded_whatever_the_device_says)
{
	u32 head, tail;

	assert_int_equal(chmu_used(0, 0, 16), 0);
	assert_int_equal(chmu_used(3, 7, 16), 4);
	assert_int_equal(chmu_used(15, 1, 16), 2);
	for (head = 0; head < 40; head++)
		for (tail = 0; tail < 40; tail++)
			assert_true(chmu_used(head, tail, 16) < 16);
	assert_int_equal(chmu_used(16, 1, 16), 0);
	assert_int_equal(chmu_used(1, 0xffff, 16), 0);
	assert_int_equal(chmu_used(0xfffe, 1, 0xffff), 2);
}

static const struct chmu_setup pages = { .unit_shift = 12 };

static u64 entry(u64 unit, u32 count)
{
	return unit << 16 | count;
}

static void expect(const struct chmu_span *span, u64 page, u64 nr, u32 weight)
{
	assert_int_equal(span->page, page);
	assert_int_equal(span->pages, nr);
	assert_int_equal(span->weight, weight);
}

TEST(neighbours_that_weigh_the_same_are_one_span)
{
	u64 entries[] = {
		entry(4, 1), entry(5, 64), entry(6, 65), entry(7, 128),
		entry(9, 128), entry(10, 0xffff), entry(11, 300),
	};
	struct chmu_span spans[7];

	assert_int_equal(chmu_merge(entries, 7, 16, &pages, 3, spans), 4);
	expect(&spans[0], 4, 2, 1);
	expect(&spans[1], 6, 2, 2);
	expect(&spans[2], 9, 1, 2);
	expect(&spans[3], 10, 2, 3);
	assert_int_equal(chmu_merge(entries, 0, 16, &pages, 3, spans), 0);
}

TEST(the_same_page_twice_adds_up)
{
	u64 entries[] = { entry(4, 60), entry(4, 60), entry(5, 10) };
	struct chmu_span spans[3];

	assert_int_equal(chmu_merge(entries, 3, 16, &pages, 9, spans), 2);
	expect(&spans[0], 4, 1, 2);
	expect(&spans[1], 5, 1, 1);
}

TEST(parts_of_a_page_add_up)
{
	static const struct chmu_setup parts = { .unit_shift = 10 };
	u64 entries[] = {
		entry(16, 30), entry(17, 30), entry(19, 30), entry(20, 64),
	};
	struct chmu_span spans[4];

	assert_int_equal(chmu_merge(entries, 4, 16, &parts, 9, spans), 2);
	expect(&spans[0], 4, 1, 2);
	expect(&spans[1], 5, 1, 1);
}

TEST(a_large_unit_is_as_hot_as_its_lines)
{
	static const struct chmu_setup large = { .unit_shift = 16 };
	u64 entries[] = { entry(1, 1024), entry(2, 1023), entry(4, 1025) };
	struct chmu_span spans[3];

	assert_int_equal(chmu_merge(entries, 3, 16, &large, 9, spans), 2);
	expect(&spans[0], 16, 32, 1);
	expect(&spans[1], 64, 16, 2);
}

TEST(samples_stand_for_what_they_were_taken_from)
{
	static const struct chmu_setup sampled = {
		.unit_shift = 12, .sampling_shift = 5,
	};
	u64 entries[] = { entry(1, 2), entry(2, 3) };
	struct chmu_span spans[2];

	assert_int_equal(chmu_merge(entries, 2, 16, &sampled, 9, spans), 2);
	expect(&spans[0], 1, 1, 1);
	expect(&spans[1], 2, 1, 2);
}

UNIT_MAIN(
	cmocka_unit_test(capabilities_are_read),
	cmocka_unit_test(what_makes_no_sense_is_refused),
	cmocka_unit_test(units_are_pages_or_parts_of_them_or_little_more),
	cmocka_unit_test(an_epoch_is_the_nearest_there_is),
	cmocka_unit_test(the_rest_is_what_says_most),
	cmocka_unit_test(reads_are_counted_where_that_can_be_done),
	cmocka_unit_test(instances_share_the_ranges),
	cmocka_unit_test(what_waits_is_bounded_whatever_the_device_says),
	cmocka_unit_test(neighbours_that_weigh_the_same_are_one_span),
	cmocka_unit_test(the_same_page_twice_adds_up),
	cmocka_unit_test(parts_of_a_page_add_up),
	cmocka_unit_test(a_large_unit_is_as_hot_as_its_lines),
	cmocka_unit_test(samples_stand_for_what_they_were_taken_from),
)
