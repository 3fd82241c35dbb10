// SPDX-License-Identifier: GPL-2.0
/* record.h: both layouts. */
#include "unit.h"

#include "record.h"

static const struct pghot_layout *const layouts[] = {
	&pghot_layout_default, &pghot_layout_precise,
};

#define for_each_layout(l) \
	for (size_t _i = 0; _i < 2 && (l = layouts[_i]); _i++)

static struct pghot_rec rec(u32 freq, u32 who, u32 time, bool ready)
{
	return (struct pghot_rec) {
		.freq = freq, .who = who, .time = time, .ready = ready,
	};
}

static void assert_rec(struct pghot_rec a, struct pghot_rec b)
{
	assert_int_equal(a.freq, b.freq);
	assert_int_equal(a.who, b.who);
	assert_int_equal(a.time, b.time);
	assert_int_equal(a.ready, b.ready);
}

TEST(fields_fill_the_record)
{
	const struct pghot_layout *l;

	for_each_layout(l)
		assert_int_equal(l->bits, 1 + l->freq_bits + l->who_bits +
					  l->time_bits);
	assert_int_equal(pghot_layout_default.bits, 8);
	assert_int_equal(pghot_layout_precise.bits, 32);
}

TEST(every_byte_survives_unpacking)
{
	const struct pghot_layout *l = &pghot_layout_default;
	u32 w;

	for (w = 0; w < 256; w++)
		assert_int_equal(pghot_pack(l, pghot_unpack(l, w)), w);
}

TEST(each_precise_bit_survives_unpacking)
{
	const struct pghot_layout *l = &pghot_layout_precise;
	int bit;

	for (bit = 0; bit < 32; bit++) {
		u32 w = 1U << bit;

		assert_int_equal(pghot_pack(l, pghot_unpack(l, w)), w);
		assert_int_equal(pghot_pack(l, pghot_unpack(l, ~w)), ~w);
	}
}

TEST(each_field_is_apart_from_the_others)
{
	const struct pghot_layout *l;

	for_each_layout(l) {
		u32 f = pghot_freq_max(l), w = pghot_who_mask(l);
		u32 t = pghot_time_mask(l);

		assert_rec(pghot_unpack(l, pghot_pack(l, rec(f, 0, 0, false))),
			   rec(f, 0, 0, false));
		assert_rec(pghot_unpack(l, pghot_pack(l, rec(0, w, 0, false))),
			   rec(0, w, 0, false));
		assert_rec(pghot_unpack(l, pghot_pack(l, rec(0, 0, t, false))),
			   rec(0, 0, t, false));
		assert_rec(pghot_unpack(l, pghot_pack(l, rec(0, 0, 0, true))),
			   rec(0, 0, 0, true));
	}
}

TEST(ready_is_the_top_bit)
{
	assert_int_equal(pghot_ready_bit(&pghot_layout_default), 0x80);
	assert_int_equal(pghot_ready_bit(&pghot_layout_precise), 0x80000000U);
}

TEST(an_empty_record_is_zero)
{
	const struct pghot_layout *l;

	for_each_layout(l) {
		assert_int_equal(pghot_pack(l, rec(0, 0, 0, false)), 0);
		assert_false(pghot_in_window(l, pghot_unpack(l, 0), 0));
		assert_false(pghot_is_hot(l, pghot_unpack(l, 0), 0, 1));
		assert_int_equal(pghot_class(l, pghot_unpack(l, 0)), 0);
	}
}

TEST(bucket_is_a_fraction_of_the_window)
{
	const struct pghot_layout *d = &pghot_layout_default;
	const struct pghot_layout *p = &pghot_layout_precise;

	assert_int_equal(pghot_bucket_ms(d, 4000), 1000);
	assert_int_equal(pghot_bucket_ms(d, 103), 25);
	assert_int_equal(pghot_bucket_ms(p, 4000), 250);
	assert_int_equal(pghot_bucket_ms(p, 100), 6);
	assert_int_equal(pghot_bucket_ms(p, 15), 1);
	assert_int_equal(pghot_bucket_ms(d, 0), 1);
}

TEST(window_ends_after_its_buckets)
{
	const struct pghot_layout *l;

	for_each_layout(l) {
		u32 age;

		for (age = 0; age < pghot_time_mask(l); age++) {
			struct pghot_rec r = rec(1, 0, 3, false);

			assert_int_equal(pghot_age(l, r, 3 + age), age);
			assert_int_equal(pghot_in_window(l, r, 3 + age),
					 age < l->window_buckets);
		}
	}
}

TEST(age_wraps_with_the_bucket_number)
{
	const struct pghot_layout *l;

	for_each_layout(l) {
		u32 mask = pghot_time_mask(l);
		struct pghot_rec r = rec(1, 0, mask, false);

		assert_int_equal(pghot_age(l, r, mask), 0);
		assert_int_equal(pghot_age(l, r, mask + 1), 1);
		assert_int_equal(pghot_age(l, r, 0), 1);
		/* A whole turn later it looks fresh: the documented price. */
		assert_true(pghot_in_window(l, r, 2 * mask + 1));
	}
}

TEST(a_record_from_the_next_bucket_is_fresh)
{
	const struct pghot_layout *l;

	for_each_layout(l) {
		struct pghot_rec r = rec(1, 0, 6, false);

		assert_int_equal(pghot_age(l, r, 5), 0);
		r = pghot_account(l, r, 5, 0, 1, 100);
		assert_int_equal(r.freq, 2);
		/* Time does not go backwards. */
		assert_int_equal(r.time, 6);
		/* Nor does it from the last bucket number to the first. */
		r = rec(1, 0, 0, false);
		r = pghot_account(l, r, pghot_time_mask(l), 0, 1, 100);
		assert_int_equal(r.freq, 2);
		assert_int_equal(r.time, 0);
	}
}

TEST(count_adds_up_within_the_window)
{
	const struct pghot_layout *l;

	for_each_layout(l) {
		u32 last = l->window_buckets - 1;
		struct pghot_rec r = rec(0, 0, 0, false);

		r = pghot_account(l, r, 10, 1, 1, 3);
		assert_rec(r, rec(1, 1, 10, false));
		r = pghot_account(l, r, 10 + last, 0, 1, 3);
		assert_rec(r, rec(2, 0, (10 + last) & pghot_time_mask(l),
				  false));
		r = pghot_account(l, r, 10 + 2 * last, 1, 1, 3);
		assert_rec(r, rec(3, 1, (10 + 2 * last) & pghot_time_mask(l),
				  true));
	}
}

TEST(count_starts_again_after_the_window)
{
	const struct pghot_layout *l;

	for_each_layout(l) {
		struct pghot_rec r = rec(2, 1, 4, false);

		r = pghot_account(l, r, 4 + l->window_buckets, 0, 1, 3);
		assert_rec(r, rec(1, 0, 4 + l->window_buckets, false));
	}
}

TEST(count_saturates)
{
	const struct pghot_layout *l;

	for_each_layout(l) {
		u32 max = pghot_freq_max(l);
		struct pghot_rec r = rec(max, 0, 0, false);

		r = pghot_account(l, r, 0, 0, 1, max + 1);
		assert_int_equal(r.freq, max);
		r = pghot_account(l, rec(0, 0, 0, false), 0, 0, 0xffffffff, 1);
		assert_int_equal(r.freq, max);
		assert_true(r.ready);
	}
}

TEST(weight_zero_changes_nothing)
{
	const struct pghot_layout *l;

	for_each_layout(l) {
		struct pghot_rec r = rec(1, 1, 2, true);

		assert_rec(pghot_account(l, r, 9, 0, 0, 1), r);
	}
}

TEST(ready_stays_until_taken)
{
	const struct pghot_layout *l;

	for_each_layout(l) {
		struct pghot_rec r = rec(pghot_freq_max(l), 0, 1, true);
		u32 later = 1 + l->window_buckets;

		assert_false(pghot_is_hot(l, r, later, 2));
		/* It was hot, and it is in use: as hot as before. */
		r = pghot_account(l, r, later, 0, 1, 2);
		assert_rec(r, rec(pghot_freq_max(l), 0, later, true));
		assert_true(pghot_is_hot(l, r, later, 2));
	}
}

/* A ready record that was left alone for so many buckets. */
static u32 renewed_age(const struct pghot_layout *l, u32 freq, u32 age, u32 back)
{
	const u32 bucket = 1000;
	struct pghot_rec r = rec(freq, 1, (bucket - age) & pghot_time_mask(l),
				 true);
	struct pghot_rec after = pghot_renew(l, r, bucket, back, 2);

	assert_int_equal(after.freq, r.freq);
	assert_int_equal(after.who, r.who);
	assert_true(after.ready);
	return pghot_age(l, after, bucket);
}

TEST(a_record_is_renewed_to_the_time_that_is_known)
{
	const struct pghot_layout *l;

	for_each_layout(l) {
		u32 window = l->window_buckets, age, back;

		for (age = 0; age <= window + 2; age++) {
			for (back = 0; back < window; back++)
				assert_int_equal(renewed_age(l, 2, age, back),
						 age > back ? back : age);
			/* What is out of the window helps nobody. */
			assert_int_equal(renewed_age(l, 2, age, window), age);
			assert_int_equal(renewed_age(l, 2, age, -1U), age);
			/* Too few accesses stay too few. */
			assert_int_equal(renewed_age(l, 1, age, 0), age);
		}
	}
}

TEST(what_is_not_ready_is_not_renewed)
{
	const struct pghot_layout *l;

	for_each_layout(l) {
		struct pghot_rec r = rec(2, 1, 1, false);

		assert_rec(pghot_renew(l, r, 5, 0, 2), r);
	}
}

TEST(classes_rise_with_the_count)
{
	const struct pghot_layout *l;

	for_each_layout(l) {
		u32 freq, before = 0;

		for (freq = 1; freq <= pghot_freq_max(l); freq++) {
			u32 class = pghot_class(l, rec(freq, 0, 0, true));

			assert_in_range(class, before, PGHOT_CLASSES - 1);
			before = class;
		}
	}
	assert_int_equal(pghot_class(layouts[0], rec(3, 0, 0, true)), 2);
	assert_int_equal(pghot_class(layouts[1], rec(1, 0, 0, true)), 0);
	assert_int_equal(pghot_class(layouts[1], rec(64, 0, 0, true)), 6);
	assert_int_equal(pghot_class(layouts[1], rec(127, 0, 0, true)), 6);
}

UNIT_MAIN(
	cmocka_unit_test(fields_fill_the_record),
	cmocka_unit_test(every_byte_survives_unpacking),
	cmocka_unit_test(each_precise_bit_survives_unpacking),
	cmocka_unit_test(each_field_is_apart_from_the_others),
	cmocka_unit_test(ready_is_the_top_bit),
	cmocka_unit_test(an_empty_record_is_zero),
	cmocka_unit_test(bucket_is_a_fraction_of_the_window),
	cmocka_unit_test(window_ends_after_its_buckets),
	cmocka_unit_test(age_wraps_with_the_bucket_number),
	cmocka_unit_test(a_record_from_the_next_bucket_is_fresh),
	cmocka_unit_test(count_adds_up_within_the_window),
	cmocka_unit_test(count_starts_again_after_the_window),
	cmocka_unit_test(count_saturates),
	cmocka_unit_test(weight_zero_changes_nothing),
	cmocka_unit_test(ready_stays_until_taken),
	cmocka_unit_test(a_record_is_renewed_to_the_time_that_is_known),
	cmocka_unit_test(what_is_not_ready_is_not_renewed),
	cmocka_unit_test(classes_rise_with_the_count),
)
