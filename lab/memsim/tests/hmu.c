// SPDX-License-Identifier: GPL-2.0
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "hmu.h"
#include "memory.h"

#define PAGE		4096ULL
#define RANGE		(256 * PAGE)
#define EPOCH		1000000ULL

/* The node's memory in two parts, another node's between them. */
static const struct config machine = {
	.nodes = 2, .ranges = 3,
	.range = { { 0, RANGE, 1 }, { RANGE, 2 * RANGE, 0 },
		   { 1ULL << 32, (1ULL << 32) + 65 * RANGE, 1 } },
};

#define SECOND	(1ULL << 32)

static struct hmu *fresh(uint64_t threshold)
{
	struct hmu *h = malloc(sizeof(*h));

	assert_non_null(h);
	assert_true(hmu_init(h, &machine, 1));
	hmu_ops.write(h, HMU_EPOCH, EPOCH, 0);
	hmu_ops.write(h, HMU_THRESHOLD, threshold, 0);
	hmu_ops.write(h, HMU_CONTROL, HMU_ENABLE | HMU_INTERRUPT, 0);
	return h;
}

static void drop(struct hmu *h)
{
	hmu_exit(h);
	free(h);
}

static uint64_t entry(const struct hmu *h, uint64_t n)
{
	return hmu_ops.read(h, HMU_LIST + n % HMU_ENTRIES * 8);
}

static void registers_say_what_it_is(void **state)
{
	struct hmu *h = fresh(1);
	uint64_t cap = hmu_ops.read(h, HMU_CAPABILITY);

	(void)state;
	assert_int_equal(hmu_ops.read(h, HMU_ID), HMU_MAGIC);
	assert_int_equal(HMU_CAP_UNIT_MIN(cap), 12);
	assert_int_equal(HMU_CAP_UNIT_MAX(cap), 21);
	assert_int_equal(1 << HMU_CAP_ENTRIES(cap), HMU_ENTRIES);
	assert_int_equal(HMU_CAP_COUNT_BITS(cap), 16);
	assert_int_equal(hmu_ops.read(h, HMU_NODE), 1);
	assert_int_equal(hmu_ops.read(h, HMU_RANGES), 2);
	assert_int_equal(hmu_ops.read(h, HMU_RANGE(0)), 0);
	assert_int_equal(hmu_ops.read(h, HMU_RANGE(0) + 8), RANGE);
	assert_int_equal(hmu_ops.read(h, HMU_RANGE(1)), SECOND);
	assert_int_equal(hmu_ops.read(h, HMU_RANGE(2)), 0);
	assert_int_equal(hmu_ops.read(h, HMU_BYTES + 8), 0);
	assert_int_equal(hmu_ops.read(h, 4), 0);
	drop(h);
}

static void values_are_bounded_and_fixed_while_it_counts(void **state)
{
	struct hmu *h = fresh(1);

	(void)state;
	hmu_ops.write(h, HMU_UNIT, 14, 0);
	assert_int_equal(hmu_ops.read(h, HMU_UNIT), 12);
	hmu_ops.write(h, HMU_CONTROL, 0, 0);
	hmu_ops.write(h, HMU_UNIT, 64, 0);
	assert_int_equal(hmu_ops.read(h, HMU_UNIT), HMU_UNIT_MAX);
	hmu_ops.write(h, HMU_UNIT, 0, 0);
	assert_int_equal(hmu_ops.read(h, HMU_UNIT), HMU_UNIT_MIN);
	hmu_ops.write(h, HMU_EPOCH, 0, 0);
	assert_int_equal(hmu_ops.read(h, HMU_EPOCH), HMU_EPOCH_MIN);
	hmu_ops.write(h, HMU_THRESHOLD, 0, 0);
	assert_int_equal(hmu_ops.read(h, HMU_THRESHOLD), 1);
	hmu_ops.write(h, HMU_SAMPLE, ~0ULL, 0);
	assert_int_equal(hmu_ops.read(h, HMU_SAMPLE), HMU_SAMPLE_MAX);
	hmu_ops.write(h, HMU_TAIL, 5, 0);
	assert_int_equal(hmu_ops.read(h, HMU_TAIL), 0);
	drop(h);
}

static void the_epoch_s_end_lists_what_is_hot(void **state)
{
	struct hmu *h = fresh(3);
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		hmu_request(h, 5 * PAGE + i * 64, false, 10);
		hmu_request(h, SECOND + 7 * PAGE, i & 1, 20);
	}
	hmu_request(h, 6 * PAGE, false, 30);
	/* Of another node: somebody else's. */
	for (i = 0; i < 9; i++)
		hmu_request(h, RANGE, false, 40);
	assert_false(hmu_ops.advance(h, EPOCH - 1));
	assert_int_equal(hmu_ops.read(h, HMU_TAIL), 0);
	assert_int_equal(hmu_ops.next(h), EPOCH);
	assert_true(hmu_ops.advance(h, EPOCH));
	assert_int_equal(hmu_ops.read(h, HMU_TAIL), 2);
	assert_int_equal(entry(h, 0), 5ULL << 16 | 3);
	assert_int_equal(entry(h, 1), (256ULL + 7) << 16 | 3);
	/* Counts begin anew, and nothing is told twice. */
	hmu_request(h, 5 * PAGE, false, EPOCH + 1);
	assert_false(hmu_ops.advance(h, 5 * EPOCH));
	assert_int_equal(hmu_ops.read(h, HMU_TAIL), 2);
	assert_int_equal(hmu_ops.read(h, HMU_EPOCHS), 5);
	assert_int_equal(hmu_ops.next(h), 6 * EPOCH);
	drop(h);
}

/* A request that comes after the end is of the next epoch, whoever looks first. */
static void a_late_request_ends_the_epoch(void **state)
{
	struct hmu *h = fresh(1);

	(void)state;
	hmu_request(h, 0, false, 1);
	hmu_request(h, PAGE, false, EPOCH + 1);
	assert_int_equal(hmu_ops.read(h, HMU_TAIL), 1);
	assert_true(hmu_ops.advance(h, EPOCH + 2));
	assert_false(hmu_ops.advance(h, EPOCH + 3));
	drop(h);
}

static void a_full_list_loses_and_says_so(void **state)
{
	struct hmu *h = fresh(1);
	uint64_t page;

	(void)state;
	for (page = 0; page < HMU_ENTRIES + 5; page++)
		hmu_request(h, SECOND + page * PAGE, false, 1);
	assert_true(hmu_ops.advance(h, EPOCH));
	assert_int_equal(hmu_ops.read(h, HMU_TAIL), HMU_ENTRIES);
	assert_int_equal(hmu_ops.read(h, HMU_LOST), 5);
	assert_int_equal(hmu_ops.read(h, HMU_STATUS), HMU_ENABLE | HMU_OVERFLOW);
	hmu_ops.write(h, HMU_STATUS, HMU_OVERFLOW, 0);
	assert_int_equal(hmu_ops.read(h, HMU_STATUS), HMU_ENABLE);
	/* Nobody can read further than was written. */
	hmu_ops.write(h, HMU_HEAD, HMU_ENTRIES + 1, 0);
	assert_int_equal(hmu_ops.read(h, HMU_HEAD), 0);
	hmu_ops.write(h, HMU_HEAD, 2, 0);
	for (page = 0; page < 3; page++)
		hmu_request(h, page * PAGE, false, EPOCH + 1);
	hmu_ops.advance(h, 2 * EPOCH);
	assert_int_equal(hmu_ops.read(h, HMU_LOST), 6);
	assert_int_equal(entry(h, HMU_ENTRIES + 1), 1ULL << 16 | 1);
	drop(h);
}

static void units_samples_and_kinds(void **state)
{
	struct hmu *h = fresh(1);
	int i;

	(void)state;
	hmu_ops.write(h, HMU_CONTROL, 0, 0);
	hmu_request(h, 0, false, 1);
	hmu_ops.write(h, HMU_UNIT, 16, 0);
	hmu_ops.write(h, HMU_SAMPLE, 2, 0);
	hmu_ops.write(h, HMU_TRACK, HMU_WRITES, 0);
	hmu_ops.write(h, HMU_CONTROL, HMU_ENABLE, 0);
	for (i = 0; i < 16; i++) {
		hmu_request(h, 20 * PAGE, true, 1);
		hmu_request(h, 40 * PAGE, false, 1);
	}
	/* Not asked to tell. */
	assert_false(hmu_ops.advance(h, EPOCH));
	assert_int_equal(hmu_ops.read(h, HMU_TAIL), 1);
	assert_int_equal(entry(h, 0), 1ULL << 16 | 4);
	drop(h);
}

static void a_count_does_not_run_over(void **state)
{
	struct hmu *h = fresh(60000);
	int i;

	(void)state;
	for (i = 0; i < 70000; i++)
		hmu_request(h, 0, false, 1);
	hmu_ops.advance(h, EPOCH);
	assert_int_equal(entry(h, 0), 0xffff);
	drop(h);
}

/* Against a plain model: random requests, epochs and readers. */
static void as_a_plain_model_says(void **state)
{
	struct hmu *h = fresh(4);
	uint64_t x = 1, now = 0, expected = 0, epoch, i, page;
	uint32_t count[256];

	(void)state;
	for (epoch = 1; epoch < 200; epoch++) {
		memset(count, 0, sizeof(count));
		for (i = 0; i < 300; i++) {
			page = number(&x) >> 33 & 255;
			count[page]++;
			now = (epoch - 1) * EPOCH + i;
			hmu_request(h, page * PAGE, false, now);
		}
		hmu_ops.advance(h, epoch * EPOCH);
		for (page = 0; page < 256; page++)
			expected += count[page] >= 4;
		assert_int_equal(hmu_ops.read(h, HMU_TAIL), expected);
		for (i = hmu_ops.read(h, HMU_HEAD); i < expected; i++) {
			page = entry(h, i) >> 16;
			assert_int_equal(entry(h, i) & 0xffff, count[page]);
			count[page] = 0;
		}
		hmu_ops.write(h, HMU_HEAD, expected, 0);
	}
	assert_int_equal(hmu_ops.read(h, HMU_LOST), 0);
	drop(h);
}

static void each_node_that_is_described_with_one_has_one(void **state)
{
	static const struct config c = {
		.llc_bytes = 1 << 20, .llc_ways = 8, .rows = 1, .nodes = 2,
		.node_mbps = { 1, 1 }, .path = { { { 1, 1 }, { 1, 1 } } },
		.ranges = 1, .range = { { 0, RANGE, 1 } }, .hmu = { false, true },
	};
	struct memory *m = malloc(sizeof(*m));
	struct hmu *h;

	(void)state;
	assert_non_null(m);
	assert_true(memory_init(m, &c));
	assert_false(hmu_ops.present(&c, 0));
	assert_true(hmu_ops.present(&c, 1));
	h = hmu_ops.create(m, 1, NULL);
	assert_non_null(h);
	assert_int_equal(hmu_ops.read(h, HMU_NODE), 1);
	/* From now on it is told of requests. */
	assert_null(m->hmu[0]);
	assert_ptr_equal(m->hmu[1], h);
	drop(h);
	memory_exit(m);
	free(m);
}

int test_hmu(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_node_that_is_described_with_one_has_one),
		cmocka_unit_test(registers_say_what_it_is),
		cmocka_unit_test(values_are_bounded_and_fixed_while_it_counts),
		cmocka_unit_test(the_epoch_s_end_lists_what_is_hot),
		cmocka_unit_test(a_late_request_ends_the_epoch),
		cmocka_unit_test(a_full_list_loses_and_says_so),
		cmocka_unit_test(units_samples_and_kinds),
		cmocka_unit_test(a_count_does_not_run_over),
		cmocka_unit_test(as_a_plain_model_says),
	};

	return cmocka_run_group_tests_name("hmu", tests, NULL, NULL);
}
