// SPDX-License-Identifier: GPL-2.0
/* Tests of record.h: how a record counts, ages and becomes ready. */
#include "layouts.h"

#define THRESHOLD	2

static const struct pghot_layout *layout_of(struct kunit *test)
{
	return ((const struct layout_param *)test->param_value)->layout;
}

/* One plain access. */
static struct pghot_rec access(const struct pghot_layout *l,
			       struct pghot_rec r, u32 bucket)
{
	return pghot_account(l, r, bucket, 0, 1, THRESHOLD);
}

/* An empty record after one access. */
static struct pghot_rec accessed_at(const struct pghot_layout *l, u32 bucket)
{
	return access(l, (struct pghot_rec) { }, bucket);
}

static void pack_and_unpack(struct kunit *test)
{
	const struct pghot_layout *l = layout_of(test);
	const u32 max = GENMASK(l->bits - 1, 0);
	const u32 step = l->bits == 8 ? 1 : 65521;
	u64 w;

	KUNIT_EXPECT_EQ(test, l->bits,
			1 + l->freq_bits + l->who_bits + l->time_bits);
	for (w = 0; w <= max; w += step) {
		struct pghot_rec r = pghot_unpack(l, w);

		KUNIT_ASSERT_EQ(test, pghot_pack(l, r), (u32)w);
		KUNIT_ASSERT_EQ(test, r.ready, w >> (l->bits - 1));
		KUNIT_ASSERT_LE(test, r.freq, pghot_freq_max(l));
		KUNIT_ASSERT_LE(test, r.who, pghot_who_mask(l));
		KUNIT_ASSERT_LE(test, r.time, pghot_time_mask(l));
	}
}

static void fields_do_not_overlap(struct kunit *test)
{
	const struct pghot_layout *l = layout_of(test);
	const struct pghot_rec fields[] = {
		{ .freq = pghot_freq_max(l) },
		{ .who = pghot_who_mask(l) },
		{ .time = pghot_time_mask(l) },
		{ .ready = true },
	};
	u32 seen = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		u32 w = pghot_pack(l, fields[i]);

		KUNIT_EXPECT_NE(test, w, 0);
		KUNIT_EXPECT_EQ(test, w & seen, 0);
		seen |= w;
	}
	KUNIT_EXPECT_EQ(test, seen, (u32)GENMASK(l->bits - 1, 0));
	/* What does not fit is cut off and leaves its neighbours alone. */
	KUNIT_EXPECT_EQ(test, pghot_pack(l, (struct pghot_rec) {
						    .who = U32_MAX }),
			pghot_pack(l, fields[1]));
}

static void count_saturates(struct kunit *test)
{
	const struct pghot_layout *l = layout_of(test);
	struct pghot_rec r = { };

	r = pghot_account(l, r, 5, 0, U32_MAX, THRESHOLD);
	KUNIT_EXPECT_EQ(test, r.freq, pghot_freq_max(l));
	r = pghot_account(l, r, 5, 0, U32_MAX, THRESHOLD);
	KUNIT_EXPECT_EQ(test, r.freq, pghot_freq_max(l));
	r = access(l, r, 5);
	KUNIT_EXPECT_EQ(test, r.freq, pghot_freq_max(l));
}

static void weight_zero_changes_nothing(struct kunit *test)
{
	const struct pghot_layout *l = layout_of(test);
	struct pghot_rec was = accessed_at(l, 3);
	struct pghot_rec is;

	is = pghot_account(l, was, 3 + 2 * l->window_buckets, 1, 0, 1);
	KUNIT_EXPECT_EQ(test, pghot_pack(l, is), pghot_pack(l, was));
	is = pghot_account(l, (struct pghot_rec) { }, 3, 1, 0, 1);
	KUNIT_EXPECT_EQ(test, pghot_pack(l, is), 0);
}

static void window_has_an_edge(struct kunit *test)
{
	const struct pghot_layout *l = layout_of(test);
	const u32 bucket = 100, last = bucket + l->window_buckets - 1;
	struct pghot_rec r = accessed_at(l, bucket);

	KUNIT_EXPECT_TRUE(test, pghot_in_window(l, r, last));
	KUNIT_EXPECT_FALSE(test, pghot_in_window(l, r, last + 1));
	KUNIT_EXPECT_EQ(test, access(l, r, last).freq, 2);
	KUNIT_EXPECT_EQ(test, access(l, r, last + 1).freq, 1);
	/* The last access counts, not the first. */
	r = access(l, r, last);
	KUNIT_EXPECT_TRUE(test, pghot_in_window(l, r, last + 1));
}

static void bucket_number_wraps(struct kunit *test)
{
	const struct pghot_layout *l = layout_of(test);
	const u32 ends[] = { pghot_time_mask(l), U32_MAX };
	int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		struct pghot_rec r = accessed_at(l, ends[i]);

		KUNIT_EXPECT_EQ(test, pghot_age(l, r, ends[i]), 0);
		KUNIT_EXPECT_EQ(test, pghot_age(l, r, ends[i] + 1), 1);
		KUNIT_EXPECT_EQ(test, access(l, r, ends[i] + 1).freq, 2);
		KUNIT_EXPECT_EQ(test, access(l, r, ends[i] +
					     l->window_buckets).freq, 1);
	}
}

/* The figures that Documentation/mm/pghot.rst gives. */
static void old_accesses_alias(struct kunit *test)
{
	const struct pghot_layout *l = layout_of(test);
	const u32 cycle = pghot_time_mask(l) + 1;
	struct pghot_rec r = accessed_at(l, 0);
	u32 age, fresh = 0;

	for (age = cycle; age < 2 * cycle; age++)
		fresh += pghot_in_window(l, r, age);
	KUNIT_EXPECT_EQ(test, fresh, l->window_buckets + 1);
}

static void record_from_the_future_is_fresh(struct kunit *test)
{
	const struct pghot_layout *l = layout_of(test);
	struct pghot_rec r = accessed_at(l, 8);

	KUNIT_EXPECT_EQ(test, pghot_age(l, r, 7), 0);
	r = access(l, r, 7);
	KUNIT_EXPECT_EQ(test, r.freq, 2);
	KUNIT_EXPECT_EQ(test, r.time, 8);
}

static void ready_at_the_threshold(struct kunit *test)
{
	const struct pghot_layout *l = layout_of(test);
	u32 threshold, n;

	for (threshold = 1; threshold <= pghot_freq_max(l); threshold++) {
		struct pghot_rec r = { };

		for (n = 1; n <= threshold; n++) {
			r = pghot_account(l, r, 9, 0, 1, threshold);
			KUNIT_ASSERT_EQ(test, r.ready, n == threshold);
		}
		r = pghot_account(l, (struct pghot_rec) { }, 9, 0, threshold,
				  threshold);
		KUNIT_ASSERT_TRUE(test, r.ready);
	}
}

static void ready_stays_until_taken(struct kunit *test)
{
	const struct pghot_layout *l = layout_of(test);
	const u32 later = 3 + l->window_buckets;
	struct pghot_rec r = access(l, accessed_at(l, 3), 3);

	KUNIT_EXPECT_TRUE(test, r.ready);
	KUNIT_EXPECT_TRUE(test, pghot_is_hot(l, r, 3, THRESHOLD));
	KUNIT_EXPECT_TRUE(test, pghot_is_hot(l, r, later - 1, THRESHOLD));
	KUNIT_EXPECT_FALSE(test, pghot_is_hot(l, r, later, THRESHOLD));
	/* A threshold raised meanwhile counts. */
	KUNIT_EXPECT_FALSE(test, pghot_is_hot(l, r, 3, THRESHOLD + 1));
	/* It was hot, and it is in use: one late access makes it so again. */
	r = access(l, r, later);
	KUNIT_EXPECT_TRUE(test, r.ready);
	KUNIT_EXPECT_EQ(test, r.freq, min(THRESHOLD + 1, pghot_freq_max(l)));
	KUNIT_EXPECT_TRUE(test, pghot_is_hot(l, r, later, THRESHOLD));
}

static void last_access_decides_who(struct kunit *test)
{
	const struct pghot_layout *l = layout_of(test);
	struct pghot_rec r = { };

	r = pghot_account(l, r, 1, 1, 1, THRESHOLD);
	KUNIT_EXPECT_EQ(test, r.who, 1);
	r = pghot_account(l, r, 1, 0, 1, THRESHOLD);
	KUNIT_EXPECT_EQ(test, r.who, 0);
}

static void hotter_is_a_higher_class(struct kunit *test)
{
	const struct pghot_layout *l = layout_of(test);
	u32 freq, last = 0;

	KUNIT_EXPECT_EQ(test, pghot_class(l, (struct pghot_rec) { }), 0);
	for (freq = 1; freq <= pghot_freq_max(l); freq++) {
		u32 class = pghot_class(l, (struct pghot_rec) { .freq = freq });

		KUNIT_ASSERT_GE(test, class, last);
		KUNIT_ASSERT_LT(test, class, PGHOT_CLASSES);
		last = class;
	}
	KUNIT_EXPECT_EQ(test, last, l->linear_classes ? 2 : 6);
}

static void buckets_fill_the_window(struct kunit *test)
{
	const struct pghot_layout *l = layout_of(test);

	KUNIT_EXPECT_EQ(test, pghot_bucket_ms(l, 4000),
			4000 / l->window_buckets);
	/* Rounded down: the window is never longer than was asked for. */
	KUNIT_EXPECT_EQ(test, pghot_bucket_ms(l, 103), 103 / l->window_buckets);
	KUNIT_EXPECT_EQ(test, pghot_bucket_ms(l, 1), 1);
}

static struct kunit_case record_cases[] = {
	KUNIT_CASE_PARAM(pack_and_unpack, layout_gen_params),
	KUNIT_CASE_PARAM(fields_do_not_overlap, layout_gen_params),
	KUNIT_CASE_PARAM(count_saturates, layout_gen_params),
	KUNIT_CASE_PARAM(weight_zero_changes_nothing, layout_gen_params),
	KUNIT_CASE_PARAM(window_has_an_edge, layout_gen_params),
	KUNIT_CASE_PARAM(bucket_number_wraps, layout_gen_params),
	KUNIT_CASE_PARAM(old_accesses_alias, layout_gen_params),
	KUNIT_CASE_PARAM(record_from_the_future_is_fresh, layout_gen_params),
	KUNIT_CASE_PARAM(ready_at_the_threshold, layout_gen_params),
	KUNIT_CASE_PARAM(ready_stays_until_taken, layout_gen_params),
	KUNIT_CASE_PARAM(last_access_decides_who, layout_gen_params),
	KUNIT_CASE_PARAM(hotter_is_a_higher_class, layout_gen_params),
	KUNIT_CASE_PARAM(buckets_fill_the_window, layout_gen_params),
	{ }
};

static struct kunit_suite record_suite = {
	.name = "pghot_record",
	.test_cases = record_cases,
};

kunit_test_suite(record_suite);
