// SPDX-License-Identifier: GPL-2.0
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "bandwidth.h"
#include "cache.h"

static struct bandwidth *fresh(uint32_t mbps)
{
	struct bandwidth *b = malloc(sizeof(*b));

	assert_non_null(b);
	bandwidth_init(b, mbps);
	return b;
}

static void one_stream_gets_all_of_it(void **state)
{
	uint32_t rates[] = { 70, 1000, 2147, 20132 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		struct bandwidth *b = fresh(rates[i]);
		uint64_t now = 1 << 20, start = now, n = 200000;
		double mbps;

		while (n--)
			now += bandwidth_take(b, 0, now, LINE_BYTES);
		mbps = 200000.0 * LINE_BYTES * 1000 / (now - start);
		assert_true(mbps > 0.99 * rates[i] && mbps < 1.01 * rates[i]);
		free(b);
	}
}

static void a_light_load_does_not_wait(void **state)
{
	struct bandwidth *b = fresh(1000);
	uint64_t now;

	(void)state;
	/* 64 bytes each 100 ns are 640 MB/s. */
	for (now = 0; now < 1000000; now += 100)
		assert_int_equal(bandwidth_take(b, 0, now, LINE_BYTES), 0);
	free(b);
}

/* Clocks that are apart share what there is, and no more than that. */
static void clocks_out_of_step(void **state)
{
	struct bandwidth *b = fresh(1000);
	uint64_t clock[4] = { 0, 20000, 5000, 60000 }, end = 4000000;
	uint64_t lines = 0, least;
	int turn = 0;

	(void)state;
	for (;;) {
		uint64_t until;
		int i, next = -1;

		for (i = 0, least = end; i < 4; i++)
			if (clock[i] < least) {
				least = clock[i];
				next = i;
			}
		if (next < 0)
			break;
		/* A turn of 20 us, during which the others stand. */
		for (until = clock[next] + 20000; clock[next] < until;) {
			clock[next] += bandwidth_take(b, next, clock[next], LINE_BYTES) + 30;
			lines++;
		}
		turn++;
	}
	/* Four times 64 bytes in 30 ns want 8.5 GB/s, one is there. */
	assert_true(lines * LINE_BYTES < 1.03 * end);
	assert_true(lines * LINE_BYTES > 0.95 * end);
	assert_true(turn > 100);
	free(b);
}

/*
 * CPUs run in turns of 10 us up to @end, each accesses memory this many ns after it has
 * waited for the access before, and goes on to its end. Lines that each had after a ms.
 */
static void in_turns(struct bandwidth *b, int cpus, const uint64_t *each, const uint64_t *end,
		     uint64_t *lines)
{
	uint64_t clock[4] = {}, until;
	int i;

	assert_in_range(cpus, 1, 4);
	memset(lines, 0, cpus * sizeof(*lines));
	for (until = 10000; until <= end[0]; until += 10000)
		for (i = 0; i < cpus; i++)
			while (clock[i] < until && clock[i] < end[i]) {
				clock[i] += bandwidth_take(b, i, clock[i], LINE_BYTES) + each[i];
				lines[i] += clock[i] > 1000000;
			}
}

/* Three of which two are alike share 2 GB/s: these get the same, and nothing is lost. */
static void three_in_turns(const uint64_t *each, uint64_t *lines)
{
	const uint64_t end[] = { 8000000, 8000000, 8000000 };
	struct bandwidth *b = fresh(2000);

	in_turns(b, 3, each, end, lines);
	assert_in_range(lines[1] * 100 / lines[0], 94, 106);
	assert_true((lines[0] + lines[1] + lines[2]) * LINE_BYTES > 0.97 * 2 * 7000000);
	free(b);
}

static void who_comes_first_gets_no_more(void **state)
{
	/* Each wants 1.6 GB/s. */
	const uint64_t each[] = { 40, 40, 40 };
	uint64_t lines[3];

	(void)state;
	three_in_turns(each, lines);
	assert_in_range(lines[2] * 100 / lines[0], 94, 106);
}

static void who_wants_little_gets_it_and_others_the_rest(void **state)
{
	/* 3.2 GB/s twice, and 0.32 by the one whose turn is last. */
	const uint64_t each[] = { 20, 20, 200 };
	uint64_t lines[3];

	(void)state;
	three_in_turns(each, lines);
	assert_true(lines[2] > 0.85 * 7000000 / each[2]);
}

static void what_nobody_else_wants_is_for_who_is_left(void **state)
{
	const uint64_t each[] = { 20, 20 }, end[] = { 8000000, 2000000 };
	struct bandwidth *b = fresh(2000);
	uint64_t lines[2];

	(void)state;
	in_turns(b, 2, each, end, lines);
	/* Half of it for another ms, and all of it after that. */
	assert_true(lines[0] * LINE_BYTES > 0.96 * (1000000 + 2 * 6000000));
	free(b);
}

static void who_is_far_behind_does_not_wait(void **state)
{
	struct bandwidth *b = fresh(100);
	const uint64_t late = 100000000;
	uint64_t n;

	(void)state;
	for (n = 0; n < 1000; n++)
		bandwidth_take(b, 0, late, LINE_BYTES);
	assert_int_equal(bandwidth_take(b, 0, late - ((uint64_t)BUCKETS << BUCKET_SHIFT),
					LINE_BYTES), 0);
	free(b);
}

static void the_queue_follows_the_load(void **state)
{
	uint32_t last = 0, step;

	(void)state;
	for (step = 1280; step >= 80; step /= 2) {
		struct bandwidth *b = fresh(1000);
		uint64_t now;
		uint32_t queue;

		for (now = 0; now < 1000000; now += step)
			bandwidth_take(b, 0, now, LINE_BYTES);
		queue = bandwidth_queue(b, now);
		assert_true(queue >= last);
		last = queue;
		/* Half full: 64 ns * 0.5 / (2 * 0.5). */
		if (step == 160)
			assert_in_range(queue, 18, 24);
		free(b);
	}
	/* 80%: 64 ns * 0.8 / (2 * 0.2). */
	assert_in_range(last, 110, 130);
}

static void nothing_is_left_of_an_old_load(void **state)
{
	struct bandwidth *b = fresh(1000);
	uint64_t now;

	(void)state;
	for (now = 0; now < 1000000; now += 70)
		bandwidth_take(b, 0, now, LINE_BYTES);
	assert_int_equal(bandwidth_queue(b, now + 1000000), 0);
	bandwidth_clear(b);
	assert_int_equal(bandwidth_queue(b, now), 0);
	free(b);
}

int test_bandwidth(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_stream_gets_all_of_it),
		cmocka_unit_test(a_light_load_does_not_wait),
		cmocka_unit_test(clocks_out_of_step),
		cmocka_unit_test(who_comes_first_gets_no_more),
		cmocka_unit_test(who_wants_little_gets_it_and_others_the_rest),
		cmocka_unit_test(what_nobody_else_wants_is_for_who_is_left),
		cmocka_unit_test(who_is_far_behind_does_not_wait),
		cmocka_unit_test(the_queue_follows_the_load),
		cmocka_unit_test(nothing_is_left_of_an_old_load),
	};

	return cmocka_run_group_tests_name("bandwidth", tests, NULL, NULL);
}
