// SPDX-License-Identifier: GPL-2.0
#include "test.h"

#include "ibs.h"

#define CTL	(IBS_FIRST + IBS_OP_CTL)

/* The value that has it count up to @max, a multiple of 16. */
static uint64_t counting(uint64_t max, uint64_t more)
{
	return (max >> 4 & IBS_MAX_LOW) | (max & IBS_MAX_HIGH) | IBS_ENABLE | more;
}

static const struct ibs_access from_cxl = {
	.rip = 0x401234, .linear = 0x7f0000001238, .physical = 0x140000238,
	.has_physical = true, .source = IBS_EXTENSION, .bytes_shift = 3, .ns = 250,
	.refill_ns = 22, .walked = true,
};

static uint64_t reg(struct ibs *s, unsigned int which)
{
	return ibs_read(s, IBS_FIRST + which, 0);
}

/* What a driver does at a sample: it looks, and lets it go on. */
static void again(struct ibs *s, uint64_t max, uint64_t more)
{
	assert_true(reg(s, IBS_OP_CTL) & IBS_VALID);
	ibs_write(s, CTL, counting(max, more), 0);
	assert_false(reg(s, IBS_OP_CTL) & IBS_VALID);
}

static void the_op_at_the_maximum_is_tagged(void **state)
{
	struct ibs s;
	uint32_t i;

	(void)state;
	ibs_init(&s, 0);
	ibs_write(&s, CTL, counting(0x100, IBS_COUNTS_OPS), 0);
	/* 250 of 256, then ten more: the sixth. */
	assert_false(ibs_block(&s, 250, 0));
	assert_int_equal(s.tagged, 0);
	assert_int_equal(reg(&s, IBS_OP_CTL) >> IBS_COUNT_SHIFT, 250);
	assert_false(ibs_block(&s, 10, 0));
	for (i = 1; i <= 10; i++)
		assert_int_equal(ibs_tagged(&s, i), i == 6);
	assert_true(ibs_access(&s, &from_cxl, 0));
	/* Until software has been there nothing counts. */
	assert_false(ibs_block(&s, 100000, 0));
	assert_false(ibs_access(&s, &from_cxl, 0));
	assert_int_equal(s.samples, 1);
	again(&s, 0x100, IBS_COUNTS_OPS);
	assert_false(ibs_block(&s, 255, 0));
	assert_int_equal(s.tagged, 0);
	ibs_block(&s, 1, 0);
	assert_int_equal(s.tagged, 1);
}

static void registers_say_what_it_did(void **state)
{
	struct ibs s;
	uint64_t data3;

	(void)state;
	ibs_init(&s, 1);
	ibs_write(&s, CTL, counting(0x100, IBS_COUNTS_OPS), 0);
	ibs_block(&s, 0x100, 0);
	assert_true(ibs_access(&s, &from_cxl, 0));
	assert_int_equal(reg(&s, IBS_OP_RIP), from_cxl.rip);
	assert_int_equal(reg(&s, IBS_DC_LIN_AD), from_cxl.linear);
	assert_int_equal(reg(&s, IBS_DC_PHYS_AD), from_cxl.physical);
	/* Source 8: nothing in the lower three bits. */
	assert_int_equal(reg(&s, IBS_OP_DATA2), 1 << IBS_SOURCE_HIGH | IBS_CLEAN);
	data3 = reg(&s, IBS_OP_DATA3);
	assert_int_equal(data3 & 3, IBS_LOAD);
	assert_int_equal(data3 >> IBS_LATENCY_SHIFT & 0xffff, 250);
	assert_int_equal(data3 >> IBS_REFILL_SHIFT, 22);
	assert_int_equal(data3 >> IBS_WIDTH_SHIFT & 15, 4);
	assert_int_equal(data3 & 0x3ffff & ~3ULL, IBS_TLB_MISS | IBS_TLB_WALK | IBS_DC_MISS |
			 IBS_LINEAR);
	assert_true(data3 & IBS_PHYSICAL && data3 & IBS_L2_MISS);
}

static void what_the_cpu_has_missed_nothing(void **state)
{
	struct ibs_access own = from_cxl;
	struct ibs s;

	(void)state;
	own.source = IBS_NOWHERE;
	own.ns = 0;
	own.store = true;
	own.has_physical = false;
	ibs_init(&s, 1);
	ibs_write(&s, CTL, counting(0x100, IBS_COUNTS_OPS), 0);
	ibs_block(&s, 0x100, 0);
	assert_true(ibs_access(&s, &own, 0));
	assert_int_equal(reg(&s, IBS_OP_DATA2), 0);
	assert_int_equal(reg(&s, IBS_OP_DATA3) & (IBS_DC_MISS | IBS_L2_MISS | IBS_PHYSICAL), 0);
	assert_int_equal(reg(&s, IBS_OP_DATA3) & 3, IBS_STORE);
	assert_int_equal(reg(&s, IBS_DC_PHYS_AD), 0);
}

static void one_without_an_access_has_no_address(void **state)
{
	struct ibs s;

	(void)state;
	ibs_init(&s, 1);
	ibs_write(&s, CTL, counting(0x100, IBS_COUNTS_OPS), 0);
	ibs_block(&s, 0x100, 0);
	assert_true(ibs_block(&s, 5, 0));
	assert_true(reg(&s, IBS_OP_DATA) & IBS_RIP_INVALID);
	assert_int_equal(reg(&s, IBS_OP_DATA3), 0);
	assert_int_equal(reg(&s, IBS_DC_LIN_AD), 0);
}

static void a_filter_goes_on_by_itself(void **state)
{
	struct ibs_access dram = from_cxl, cache = from_cxl, device = from_cxl;
	struct ibs s;

	(void)state;
	cache.source = IBS_CACHE;
	dram.source = IBS_DRAM;
	device.source = IBS_DEVICE;
	device.uncached = true;
	ibs_init(&s, 1);
	ibs_write(&s, CTL, counting(0x100, IBS_COUNTS_OPS | IBS_L3_MISS_ONLY), 0);
	ibs_block(&s, 0x100, 0);
	assert_false(ibs_access(&s, &cache, 0));
	ibs_block(&s, 0x100, 0);
	assert_false(ibs_access(&s, &device, 0));
	ibs_block(&s, 0x100, 0);
	/* No access: filtered where the next block begins, which counts. */
	assert_false(ibs_block(&s, 0x100, 0));
	assert_int_equal(s.filtered, 3);
	assert_int_equal(s.samples, 0);
	assert_true(ibs_access(&s, &dram, 0));
	assert_int_equal(reg(&s, IBS_OP_DATA2), IBS_DRAM | IBS_CLEAN);
}

/* It starts anew at 0 to 127, so that a loop of a fixed length is not always hit there. */
static void periods_differ_by_chance(void **state)
{
	uint64_t seen[128] = {}, n, least = 0, starts = 0;
	struct ibs s;

	(void)state;
	ibs_init(&s, 1);
	ibs_write(&s, CTL, counting(0x1000, IBS_COUNTS_OPS | IBS_L3_MISS_ONLY), 0);
	for (n = 0; n < 128 * 100; n++) {
		while (!s.tagged)
			ibs_block(&s, 1, 0);
		ibs_block(&s, 1, 0);
		assert_in_range(s.count, 1, 128);
		seen[s.count - 1]++;
	}
	for (n = 0; n < 128; n++) {
		starts += n * seen[n];
		least += seen[n] < 50;
	}
	assert_int_equal(least, 0);
	assert_in_range(starts / (128 * 100), 60, 67);
}

static void cycles_count_by_time(void **state)
{
	struct ibs s;

	(void)state;
	ibs_init(&s, 1);
	ibs_write(&s, CTL, counting(0x100, 0), 1000);
	assert_false(ibs_block(&s, 10, 1255));
	assert_int_equal(s.tagged, 0);
	assert_int_equal(ibs_read(&s, CTL, 1255) >> IBS_COUNT_SHIFT, 255);
	ibs_block(&s, 10, 1256);
	assert_in_range(s.tagged, 1, 10);
	assert_true(ibs_access(&s, &from_cxl, 1300));
}

/* Whichever it is of a block: else what is not the first is never seen. */
static void cycles_tag_any_instruction(void **state)
{
	uint64_t seen[11] = {}, n, now = 0;
	struct ibs s;

	(void)state;
	ibs_init(&s, 1);
	ibs_write(&s, CTL, counting(0x100, IBS_L3_MISS_ONLY), 0);
	for (n = 0; n < 2000; n++) {
		while (!s.tagged)
			ibs_block(&s, 10, now += 10);
		seen[s.tagged]++;
		ibs_block(&s, 10, now += 10);
	}
	for (n = 1; n <= 10; n++)
		assert_in_range(seen[n], 140, 260);
}

static void a_halted_cpu_executes_no_cycles(void **state)
{
	struct ibs s;

	(void)state;
	ibs_init(&s, 1);
	ibs_write(&s, CTL, counting(0x1000, 0), 0);
	ibs_block(&s, 10, 100);
	ibs_halt(&s, 300);
	ibs_block(&s, 10, 1000000);
	assert_int_equal(s.tagged, 0);
	assert_int_equal(s.count, 300);
	ibs_block(&s, 10, 1000050);
	assert_int_equal(s.count, 350);
}

/* A loop of one long block, whose length has much in common with the period. */
static void each_instruction_of_a_loop_has_its_turn(void **state)
{
	uint64_t seen[201] = {}, n, never = 0;
	struct ibs s;

	(void)state;
	ibs_init(&s, 1);
	ibs_write(&s, CTL, counting(1600, IBS_COUNTS_OPS | IBS_L3_MISS_ONLY), 0);
	for (n = 0; n < 200 * 40; n++) {
		while (!s.tagged)
			ibs_block(&s, 200, 0);
		seen[s.tagged]++;
		ibs_block(&s, 200, 0);
	}
	for (n = 1; n <= 200; n++)
		never += seen[n] < 15;
	assert_int_equal(never, 0);
}

static void what_is_locked_loads_and_stores(void **state)
{
	struct ibs_access a = from_cxl;
	struct ibs s;

	(void)state;
	a.locked = true;
	a.store = true;
	a.source = IBS_FAR_CACHE;
	ibs_init(&s, 1);
	ibs_write(&s, CTL, counting(0x100, IBS_COUNTS_OPS | IBS_L3_MISS_ONLY), 0);
	ibs_block(&s, 0x100, 0);
	/* What another socket's cache had has missed this one's. */
	assert_true(ibs_access(&s, &a, 0));
	assert_int_equal(reg(&s, IBS_OP_DATA3) & 3, IBS_LOAD | IBS_STORE);
	assert_int_equal(reg(&s, IBS_OP_DATA) >> 16, 250 + 22 + 1);
}

static void what_is_switched_off_counts_nothing(void **state)
{
	struct ibs s;

	(void)state;
	ibs_init(&s, 1);
	assert_false(ibs_block(&s, 1000, 0));
	ibs_write(&s, CTL, IBS_ENABLE | IBS_COUNTS_OPS, 0);
	assert_false(ibs_block(&s, 1000, 0));
	assert_int_equal(s.tagged, 0);
	/* In the middle of a tagged op. */
	ibs_write(&s, CTL, counting(0x100, IBS_COUNTS_OPS), 0);
	ibs_block(&s, 0x200, 0);
	assert_int_not_equal(s.tagged, 0);
	ibs_write(&s, CTL, 0, 0);
	assert_false(ibs_access(&s, &from_cxl, 0));
	assert_int_equal(s.samples, 0);
}

/* The highest maximum, which takes both parts of the field. */
static void all_bits_of_the_maximum_count(void **state)
{
	uint64_t max = (1ULL << IBS_COUNT_BITS) - 16;
	struct ibs s;

	(void)state;
	ibs_init(&s, 1);
	ibs_write(&s, CTL, counting(max, IBS_COUNTS_OPS), 0);
	ibs_block(&s, max - 1, 0);
	assert_int_equal(s.tagged, 0);
	ibs_block(&s, 1, 0);
	assert_int_equal(s.tagged, 1);
}

static void registers_are_these_and_no_others(void **state)
{
	struct ibs s;

	(void)state;
	ibs_init(&s, 1);
	assert_false(ibs_has(IBS_FIRST - 1));
	assert_true(ibs_has(IBS_FIRST) && ibs_has(IBS_FIRST + IBS_REGISTERS - 1));
	assert_false(ibs_has(IBS_FIRST + IBS_REGISTERS));
	/* Which vector is used is the machine's. */
	ibs_write(&s, IBS_FIRST + IBS_CTL, 0, 0);
	assert_int_equal(reg(&s, IBS_CTL), IBS_VECTOR_VALID | IBS_VECTOR);
	/* One that does nothing holds what is written. */
	ibs_write(&s, IBS_FIRST, 0x1234, 0);
	assert_int_equal(reg(&s, 0), 0x1234);
}

int test_ibs(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_op_at_the_maximum_is_tagged),
		cmocka_unit_test(registers_say_what_it_did),
		cmocka_unit_test(what_the_cpu_has_missed_nothing),
		cmocka_unit_test(one_without_an_access_has_no_address),
		cmocka_unit_test(a_filter_goes_on_by_itself),
		cmocka_unit_test(periods_differ_by_chance),
		cmocka_unit_test(cycles_count_by_time),
		cmocka_unit_test(cycles_tag_any_instruction),
		cmocka_unit_test(a_halted_cpu_executes_no_cycles),
		cmocka_unit_test(each_instruction_of_a_loop_has_its_turn),
		cmocka_unit_test(what_is_locked_loads_and_stores),
		cmocka_unit_test(what_is_switched_off_counts_nothing),
		cmocka_unit_test(all_bits_of_the_maximum_count),
		cmocka_unit_test(registers_are_these_and_no_others),
	};

	return cmocka_run_group_tests_name("ibs", tests, NULL, NULL);
}
