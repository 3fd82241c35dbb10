// SPDX-License-Identifier: GPL-2.0
#include "monitor.h"

#include <string.h>

#include "memory.h"

static struct hmu *fresh(uint64_t threshold)
{
	struct hmu *h = idle();

	enable(h, 0, cfg0(usual.track, threshold), cfg1(usual.unit, 0, usual.mode));
	assert_true(get(h, 0, CHMU_STATUS) & CHMU_STATUS_ENABLED);
	return h;
}

static uint64_t entry(const struct hmu *h, uint64_t n)
{
	return hmu_ops.read(h, HMU_HOTLIST(0) + n % HMU_ENTRIES * CHMU_ENTRY_BYTES);
}

static void the_epoch_s_end_lists_what_is_hot(void **state)
{
	struct hmu *h = fresh(3);
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		hmu_request(h, 5 * PAGE + i * 64, false, READY + 10);
		hmu_request(h, SECOND + 7 * PAGE, i & 1, READY + 20);
	}
	hmu_request(h, 6 * PAGE, false, READY + 30);
	/* Of another node: somebody else's. */
	for (i = 0; i < 9; i++)
		hmu_request(h, RANGE, false, READY + 40);
	assert_int_equal(hmu_ops.advance(h, END(1) - 1), 0);
	assert_int_equal(listed(h, 0), 0);
	assert_int_equal(hmu_ops.next(h), END(1));
	assert_int_equal(hmu_ops.advance(h, END(1)), 1);
	assert_int_equal(listed(h, 0), 2);
	assert_int_equal(entry(h, 0), 5ULL << 16 | 3);
	assert_int_equal(entry(h, 1), (256ULL + 7) << 16 | 3);
	/* Counts begin anew, and nothing is told twice. */
	hmu_request(h, 5 * PAGE, false, END(1) + 1);
	assert_int_equal(hmu_ops.advance(h, END(5)), 0);
	assert_int_equal(listed(h, 0), 2);
	assert_int_equal(hmu_ops.next(h), END(6));
	drop(h);
}

/* A request that comes after the end is of the next epoch, whoever looks first. */
static void a_late_request_ends_the_epoch(void **state)
{
	struct hmu *h = fresh(1);

	(void)state;
	hmu_request(h, 0, false, READY + 1);
	hmu_request(h, PAGE, false, END(1) + 1);
	assert_int_equal(listed(h, 0), 1);
	assert_int_equal(hmu_ops.advance(h, END(1) + 2), 1);
	assert_int_equal(hmu_ops.advance(h, END(1) + 3), 0);
	drop(h);
}

static void always_on_it_lists_at_once(void **state)
{
	struct hmu *h = idle();
	int i;

	(void)state;
	enable(h, 0, cfg0(usual.track, 3), cfg1(12, 0, CHMU_MODE_ALWAYS_ON));
	for (i = 0; i < 9; i++) {
		hmu_request(h, PAGE, false, READY + i);
		assert_int_equal(listed(h, 0), i >= 2);
	}
	assert_int_equal(entry(h, 0), 1ULL << 16 | 3);
	assert_int_equal(hmu_ops.advance(h, READY + 10), 1);
	/* In each epoch anew, and not at its end. */
	hmu_ops.advance(h, END(1));
	assert_int_equal(listed(h, 0), 1);
	for (i = 0; i < 3; i++)
		hmu_request(h, PAGE, false, END(1) + i);
	assert_int_equal(listed(h, 0), 2);
	drop(h);
}

static void a_full_list_loses_and_says_so(void **state)
{
	const uint64_t room = HMU_ENTRIES - 1;
	struct hmu *h = fresh(1);
	uint64_t page;

	(void)state;
	for (page = 0; page < room + 5; page++)
		hmu_request(h, SECOND + page * PAGE, false, READY);
	assert_int_equal(hmu_ops.advance(h, END(1)), 1);
	assert_int_equal(listed(h, 0), room);
	assert_int_equal(get(h, 0, CHMU_STATUS) & (CHMU_STATUS_OVERFLOW | CHMU_STATUS_FILLED),
			 CHMU_STATUS_OVERFLOW | CHMU_STATUS_FILLED);
	set(h, 0, CHMU_STATUS, CHMU_STATUS_OVERFLOW);
	assert_int_equal(get(h, 0, CHMU_STATUS) & (CHMU_STATUS_OVERFLOW | CHMU_STATUS_FILLED),
			 CHMU_STATUS_FILLED);
	/* Nobody can read further than was written, nor write at the tail. */
	set(h, 0, CHMU_HEAD, room + 1);
	set(h, 0, CHMU_TAIL, 7);
	assert_int_equal(get(h, 0, CHMU_HEAD), 0);
	assert_int_equal(get(h, 0, CHMU_TAIL), room);
	/* Two more fit, and where they are is round the end. */
	set(h, 0, CHMU_HEAD, 2);
	for (page = 0; page < 3; page++)
		hmu_request(h, page * PAGE, false, END(1) + 1);
	hmu_ops.advance(h, END(2));
	assert_true(get(h, 0, CHMU_STATUS) & CHMU_STATUS_OVERFLOW);
	assert_int_equal(get(h, 0, CHMU_TAIL), 1);
	assert_int_equal(entry(h, room), 0ULL << 16 | 1);
	assert_int_equal(entry(h, 0), 1ULL << 16 | 1);
	/* Not back before the head. */
	set(h, 0, CHMU_HEAD, 1);
	assert_int_equal(get(h, 0, CHMU_HEAD), 1);
	set(h, 0, CHMU_HEAD, 0);
	assert_int_equal(get(h, 0, CHMU_HEAD), 1);
	drop(h);
}

static void interrupts_come_for_what_was_asked(void **state)
{
	static const uint64_t irqs[] = { 0, CHMU_CFG0_OVERFLOW_IRQ, CHMU_CFG0_FILL_IRQ };
	struct hmu *h = idle();
	uint64_t page;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		hmu_ops.write(h, HMU_INSTANCE(1) + CHMU_CFG0, 0, 0);
		hmu_ops.advance(h, READY);
		/* What was listed before stays, and what was said of it, until it is reset. */
		assert_int_equal(listed(h, 1), i ? HMU_ENTRIES - 1 : 0);
		set(h, 1, CHMU_CFG0, CHMU_CFG0_RESET);
		hmu_ops.advance(h, READY);
		assert_int_equal(listed(h, 1), 0);
		assert_false(get(h, 1, CHMU_STATUS) & CHMU_STATUS_FILLED);
		hmu_ops.write(h, HMU_BITMAP(1), 1, 0);
		set(h, 1, CHMU_CFG1, cfg1(12, 0, 0));
		set(h, 1, CHMU_CFG2, 100);
		set(h, 1, CHMU_CFG0, irqs[i] | CHMU_CFG0_ENABLE |
			HMU_SET(CHMU_CFG0_TRACK, usual.track) |
			HMU_SET(CHMU_CFG0_THRESHOLD, 1));
		hmu_ops.advance(h, READY);
		for (page = 0; page < 99; page++)
			hmu_request(h, page * PAGE, false, READY);
		assert_int_equal(hmu_ops.advance(h, END(1)), 0);
		assert_false(get(h, 1, CHMU_STATUS) & CHMU_STATUS_FILLED);
		hmu_request(h, 0, false, END(1));
		assert_int_equal(hmu_ops.advance(h, END(2)), i == 2 ? 2 : 0);
		assert_true(get(h, 1, CHMU_STATUS) & CHMU_STATUS_FILLED);
		for (page = 0; page < HMU_ENTRIES; page++)
			hmu_request(h, SECOND + page * PAGE, false, END(2));
		assert_int_equal(hmu_ops.advance(h, END(3)), i == 1 ? 2 : 0);
		assert_true(get(h, 1, CHMU_STATUS) & CHMU_STATUS_OVERFLOW);
	}
	drop(h);
}

static void units_samples_and_kinds(void **state)
{
	struct hmu *h = idle();
	int i;

	(void)state;
	enable(h, 0, cfg0(CHMU_TRACK_PLAIN_WRITES, 1), cfg1(16, 2, 0));
	enable(h, 1, cfg0(CHMU_TRACK_READS, 1), cfg1(8, 0, 0));
	for (i = 0; i < 16; i++) {
		hmu_request(h, 20 * PAGE, true, READY);
		hmu_request(h, 40 * PAGE + 256, false, READY);
	}
	hmu_ops.advance(h, END(1));
	assert_int_equal(listed(h, 0), 1);
	assert_int_equal(entry(h, 0), 1ULL << 16 | 4);
	/* Each instance by its own settings. */
	assert_int_equal(listed(h, 1), 1);
	assert_int_equal(hmu_ops.read(h, HMU_HOTLIST(1)), (40 * 16 + 1) << 16 | 16);
	drop(h);
}

static void what_the_bitmap_lacks_is_not_counted(void **state)
{
	static const struct config large = {
		.nodes = 1, .ranges = 1, .range = { { 0, 1ULL << 29, 0 } },
	};
	struct hmu *h = malloc(sizeof(*h));

	(void)state;
	assert_non_null(h);
	assert_true(hmu_init(h, &large, 0));
	enable(h, 0, cfg0(usual.track, 1), cfg1(12, 0, 0));
	enable(h, 1, cfg0(usual.track, 1), cfg1(12, 0, 0));
	set(h, 1, CHMU_CFG0, 0);
	hmu_ops.advance(h, READY);
	hmu_ops.write(h, HMU_BITMAP(1), 2, 0);
	set(h, 1, CHMU_CFG0, cfg0(usual.track, 1) | CHMU_CFG0_ENABLE);
	hmu_ops.advance(h, READY);
	hmu_request(h, 0, false, READY);
	hmu_request(h, PAGE, false, READY);
	hmu_request(h, (1 << CHMU_RANGE_SHIFT) + PAGE, false, READY);
	assert_int_equal(hmu_ops.advance(h, END(1)), 3);
	assert_int_equal(listed(h, 0), 2);
	assert_int_equal(listed(h, 1), 1);
	assert_int_equal(hmu_ops.read(h, HMU_HOTLIST(1)) >> 16, (1 << 16) + 1);
	drop(h);
}

static void a_count_does_not_run_over(void **state)
{
	struct hmu *h = fresh(60000);
	int i;

	(void)state;
	for (i = 0; i < 70000; i++)
		hmu_request(h, 0, false, READY);
	hmu_ops.advance(h, END(1));
	assert_int_equal(entry(h, 0), 0xffff);
	drop(h);
}

/* Against a plain model: random requests, epochs and readers. */
static void as_a_plain_model_says(void **state)
{
	struct hmu *h = fresh(4);
	uint64_t x = 1, tail = 0, epoch, i, page;
	uint32_t count[256];

	(void)state;
	for (epoch = 1; epoch < 400; epoch++) {
		memset(count, 0, sizeof(count));
		for (i = 0; i < 300; i++) {
			page = number(&x) >> 33 & 255;
			count[page]++;
			hmu_request(h, page * PAGE, false, END(epoch - 1) + i);
		}
		hmu_ops.advance(h, END(epoch));
		for (page = 0; page < 256; page++)
			tail += count[page] >= 4;
		tail %= HMU_ENTRIES;
		assert_int_equal(get(h, 0, CHMU_TAIL), tail);
		for (i = get(h, 0, CHMU_HEAD); i != tail; i = (i + 1) % HMU_ENTRIES) {
			page = entry(h, i) >> 16;
			assert_int_equal(entry(h, i) & 0xffff, count[page]);
			count[page] = 0;
		}
		set(h, 0, CHMU_HEAD, tail);
	}
	assert_false(get(h, 0, CHMU_STATUS) & CHMU_STATUS_OVERFLOW);
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
	assert_int_equal(hmu_ops.read(h, HMU_PCI_NODE), 1);
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
		cmocka_unit_test(the_epoch_s_end_lists_what_is_hot),
		cmocka_unit_test(a_late_request_ends_the_epoch),
		cmocka_unit_test(always_on_it_lists_at_once),
		cmocka_unit_test(a_full_list_loses_and_says_so),
		cmocka_unit_test(interrupts_come_for_what_was_asked),
		cmocka_unit_test(units_samples_and_kinds),
		cmocka_unit_test(what_the_bitmap_lacks_is_not_counted),
		cmocka_unit_test(a_count_does_not_run_over),
		cmocka_unit_test(as_a_plain_model_says),
	};

	return cmocka_run_group_tests_name("hmu", tests, NULL, NULL);
}
