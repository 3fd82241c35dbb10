// SPDX-License-Identifier: GPL-2.0
#include "monitor.h"

static void registers_say_what_it_is(void **state)
{
	struct hmu *h = idle();
	uint64_t cap = get(h, 1, CHMU_CAP0), at = hmu_ops.read(h, HMU_PCI_CHMU);

	(void)state;
	assert_int_equal(hmu_ops.read(h, HMU_PCI_ID), HMU_PCI_MAGIC);
	assert_int_equal(hmu_ops.read(h, HMU_PCI_NODE), 1);
	assert_int_equal(hmu_ops.read(h, HMU_PCI_RANGES), 2);
	assert_int_equal(hmu_ops.read(h, HMU_PCI_RANGE(0)), 0);
	assert_int_equal(hmu_ops.read(h, HMU_PCI_RANGE(0) + 8), RANGE);
	assert_int_equal(hmu_ops.read(h, HMU_PCI_RANGE(1)), SECOND);
	assert_int_equal(hmu_ops.read(h, HMU_PCI_RANGE(2)), 0);

	assert_int_equal(HMU_GET(CHMU_COMMON_INSTANCES, hmu_ops.read(h, at)), HMU_INSTANCES);
	assert_int_equal(at + CHMU_COMMON_BYTES +
			 HMU_GET(CHMU_COMMON_INSTANCE_BYTES,
				 hmu_ops.read(h, at + CHMU_COMMON_CAP1)), HMU_INSTANCE(1));
	assert_int_equal(HMU_GET(CHMU_CAP0_VECTOR, cap), 1);
	assert_int_equal(HMU_GET(CHMU_CAP0_TRACK, cap), 0xf);
	assert_int_equal(HMU_GET(CHMU_CAP0_ENTRIES, cap), HMU_ENTRIES);
	cap = get(h, 1, CHMU_CAP1);
	assert_int_equal(HMU_GET(CHMU_CAP1_UNITS, cap), HMU_UNITS);
	assert_int_equal(HMU_GET(CHMU_CAP1_SAMPLING, cap), HMU_SAMPLINGS);
	assert_int_equal(HMU_INSTANCE(1) + get(h, 1, CHMU_BITMAP_OFFSET), HMU_BITMAP(1));
	assert_int_equal(HMU_INSTANCE(1) + get(h, 1, CHMU_HOTLIST_OFFSET), HMU_HOTLIST(1));
	/* Not before it is known how large what is counted is. */
	assert_int_equal(HMU_GET(CHMU_STATUS_COUNT_BITS, get(h, 0, CHMU_STATUS)), 0);
	set(h, 0, CHMU_CFG1, cfg1(12, 0, CHMU_MODE_BY_EPOCH));
	assert_int_equal(HMU_GET(CHMU_STATUS_COUNT_BITS, get(h, 0, CHMU_STATUS)),
			 HMU_COUNT_BITS);
	/* All is within the region, apart, and there is nothing else. */
	assert_true(HMU_INSTANCE(HMU_INSTANCES) <= HMU_BITMAP(0));
	assert_true(HMU_BITMAP(HMU_INSTANCES) <= HMU_HOTLIST(0));
	assert_true(HMU_HOTLIST(HMU_INSTANCES) <= HMU_PCI_BYTES);
	assert_int_equal(hmu_ops.read(h, HMU_PCI_BYTES - 8), 0);
	assert_int_equal(hmu_ops.read(h, 4), 0);
	assert_int_equal(hmu_ops.size(HMU_INSTANCE(1) + CHMU_TAIL), 2);
	assert_int_equal(hmu_ops.size(HMU_INSTANCE(1) + CHMU_STATUS), 8);
	assert_int_equal(hmu_ops.vectors(&monitored), HMU_INSTANCES);
	drop(h);
}

static void an_operation_takes_its_time(void **state)
{
	struct hmu *h = idle();

	(void)state;
	hmu_ops.write(h, HMU_BITMAP(0), 1, 0);
	set(h, 0, CHMU_CFG1, cfg1(12, 0, CHMU_MODE_BY_EPOCH));
	hmu_ops.write(h, HMU_INSTANCE(0), 1, 0);
	set(h, 0, CHMU_CFG0, cfg0(CHMU_TRACK_PLAIN_ALL, 1) | CHMU_CFG0_ENABLE);
	assert_int_equal(HMU_GET(CHMU_STATUS_OPERATION, get(h, 0, CHMU_STATUS)),
			 CHMU_OPERATION_ENABLE);
	assert_int_equal(hmu_ops.next(h), READY);
	/* Nothing is taken meanwhile, nor while it counts. */
	set(h, 0, CHMU_CFG0, 0);
	set(h, 0, CHMU_CFG1, 0);
	hmu_request(h, 0, false, READY - 1);
	hmu_ops.advance(h, READY);
	assert_int_equal(get(h, 0, CHMU_STATUS) & (CHMU_STATUS_ENABLED | CHMU_STATUS_OPERATION),
			 CHMU_STATUS_ENABLED);
	set(h, 0, CHMU_CFG1, 0);
	hmu_ops.write(h, HMU_BITMAP(0), 0, 0);
	assert_int_equal(get(h, 0, CHMU_CFG1), cfg1(12, 0, CHMU_MODE_BY_EPOCH));
	assert_int_equal(hmu_ops.read(h, HMU_BITMAP(0)), 1);
	hmu_request(h, 0, false, READY + 1);
	/* A reset forgets what was counted. */
	hmu_ops.write(h, HMU_INSTANCE(0) + CHMU_CFG0, CHMU_CFG0_ENABLE | CHMU_CFG0_RESET,
		      READY + 2);
	assert_int_equal(HMU_GET(CHMU_STATUS_OPERATION, get(h, 0, CHMU_STATUS)),
			 CHMU_OPERATION_RESET);
	hmu_ops.advance(h, END(1));
	assert_int_equal(listed(h, 0), 0);
	hmu_request(h, 0, false, END(1) + 1);
	/* An epoch that ends first is listed. */
	hmu_ops.write(h, HMU_INSTANCE(0) + CHMU_CFG0, 0, END(2) - 1);
	assert_int_equal(HMU_GET(CHMU_STATUS_OPERATION, get(h, 0, CHMU_STATUS)),
			 CHMU_OPERATION_DISABLE);
	hmu_ops.advance(h, END(3));
	assert_int_equal(get(h, 0, CHMU_STATUS) & (CHMU_STATUS_ENABLED | CHMU_STATUS_OPERATION), 0);
	assert_int_equal(listed(h, 0), 1);
	assert_int_equal(hmu_ops.next(h), 0);
	drop(h);
}

static void what_it_cannot_do_leaves_it_disabled(void **state)
{
	static const struct {
		unsigned int cfg;
		uint64_t field, value;
	} bad[] = {
		{ 0, CHMU_CFG0_TRACK, 0 },
		{ 0, CHMU_CFG0_TRACK, CHMU_TRACK_ALL },
		{ 0, CHMU_CFG0_TRACK, 0xff },
		{ 0, CHMU_CFG0_RANDOM, 1 },
		{ 0, CHMU_CFG0_THRESHOLD, 0 },
		{ 1, CHMU_CFG1_UNIT, 7 },
		{ 1, CHMU_CFG1_UNIT, 32 },
		{ 1, CHMU_CFG1_UNIT, ~0U },
		{ 1, CHMU_CFG1_SAMPLING, 11 },
		{ 1, CHMU_CFG1_MODE, 2 },
		{ 1, CHMU_CFG1_EPOCH_SCALE, 0 },
		{ 1, CHMU_CFG1_EPOCH_SCALE, 6 },
		{ 1, CHMU_CFG1_EPOCH_COUNT, 0 },
		{ 1, CHMU_CFG1_EPOCH_COUNT, 1001 },
	};
	struct hmu *h = idle();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		uint64_t cfg[] = { cfg0(usual.track, 1), cfg1(12, 0, usual.mode) };

		cfg[bad[i].cfg] &= ~bad[i].field;
		cfg[bad[i].cfg] |= HMU_SET(bad[i].field, bad[i].value);
		enable(h, 0, cfg[0], cfg[1]);
		assert_int_equal(get(h, 0, CHMU_STATUS) &
				 (CHMU_STATUS_ENABLED | CHMU_STATUS_OPERATION), 0);
		hmu_request(h, 0, false, READY + 1);
		/* For the next one. */
		set(h, 0, CHMU_CFG0, 0);
		hmu_ops.advance(h, READY);
	}
	enable(h, 0, cfg0(usual.track, 1), cfg1(12, 0, usual.mode));
	assert_true(get(h, 0, CHMU_STATUS) & CHMU_STATUS_ENABLED);
	drop(h);
}

int test_hmu_registers(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_say_what_it_is),
		cmocka_unit_test(an_operation_takes_its_time),
		cmocka_unit_test(what_it_cannot_do_leaves_it_disabled),
	};

	return cmocka_run_group_tests_name("hmu_registers", tests, NULL, NULL);
}
