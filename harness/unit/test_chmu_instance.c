// SPDX-License-Identifier: GPL-2.0
/* source/chmu_instance.c against the lab's model of a hotness monitoring unit. */
#include "unit.h"

#include <stdlib.h>

#include <linux/bitfield.h>
#include <linux/hotness_unit.h>
#include <linux/iopoll.h>

#include "../../lab/memsim/hmu.h"
#include "source/chmu_instance.h"

#define MEMORY		(3ULL << CHMU_RANGE_SHIFT)
#define EPOCH_US	1000
#define EPOCH_NS	(EPOCH_US * 1000ULL)

static const struct config machine = {
	.nodes = 1, .ranges = 1, .range = { { 0, MEMORY, 0 } },
};

static struct hmu *model;
/* Nothing is in it: an address says which register is meant. */
static char region[HMU_PCI_BYTES];
static u64 now;
/* One register says something else: what a bad device would. */
static u64 lie_at, lie;
static bool gone, stuck;

static u64 offset_of(const void *at)
{
	u64 offset = (const char *)at - region;

	assert_true(offset < sizeof(region));
	now += 1000;
	if (!stuck)
		hmu_ops.advance(model, now);
	return offset;
}

static u64 read_register(const void *at, unsigned int size)
{
	u64 offset = offset_of(at);

	assert_int_equal(hmu_ops.size(offset), size);
	if (gone)
		return ~0ULL;
	return lie_at && offset == lie_at ? lie : hmu_ops.read(model, offset);
}

static void write_register(u64 value, const void *at, unsigned int size)
{
	u64 offset = offset_of(at);

	assert_int_equal(hmu_ops.size(offset), size);
	if (!gone)
		hmu_ops.write(model, offset, value, now);
}

u64 readq(const void *at)
{
	return read_register(at, 8);
}

u16 readw(const void *at)
{
	return read_register(at, 2);
}

void writeq(u64 value, void *at)
{
	write_register(value, at, 8);
}

void writew(u16 value, void *at)
{
	write_register(value, at, 2);
}

void harness_sleep_us(unsigned long us)
{
	now += us * 1000;
}

static const struct hotness_unit_info info = {
	.regs = region + HMU_CHMU, .bytes = sizeof(region) - HMU_CHMU,
	.memory = MEMORY,
};

static void begin(void)
{
	model = malloc(sizeof(*model));
	assert_non_null(model);
	assert_true(hmu_init(model, &machine, 0));
	now = lie_at = 0;
	gone = stuck = false;
}

static void end(void)
{
	hmu_exit(model);
	free(model);
}

static struct chmu_instance started(unsigned int n, u32 threshold)
{
	struct chmu_instance i;

	assert_int_equal(chmu_instance_init(&i, &info, n, HMU_INSTANCES), 0);
	assert_int_equal(chmu_instance_start(&i, EPOCH_US, threshold), 0);
	assert_true(i.running);
	return i;
}

static void request(u64 page, unsigned int times)
{
	while (times--)
		hmu_request(model, page << 12, false, now);
}

static void end_epoch(void)
{
	now += EPOCH_NS;
	hmu_ops.advance(model, now);
}

TEST(what_the_model_has_is_found)
{
	struct chmu_instance i;

	begin();
	assert_int_equal(chmu_instances(&info), HMU_INSTANCES);
	assert_int_equal(chmu_instance_init(&i, &info, 1, HMU_INSTANCES), 0);
	assert_int_equal(i.caps.vector, 1);
	assert_int_equal(i.caps.entries, HMU_ENTRIES);
	assert_ptr_equal(i.bitmap, region + HMU_BITMAP(1));
	assert_ptr_equal(i.hotlist, region + HMU_HOTLIST(1));
	assert_int_equal(i.first, 2);
	assert_int_equal(i.end, 3);
	/* With the size of a unit it says how large an entry's count is. */
	assert_int_equal(chmu_instance_start(&i, EPOCH_US, 1), 0);
	assert_int_equal(i.count_bits, HMU_COUNT_BITS);
	end();
}

TEST(what_was_requested_is_listed_and_read)
{
	struct chmu_instance i;
	u64 entries[4];

	begin();
	i = started(0, 3);
	request(5, 3);
	request(6, 2);
	request(7, 9);
	/* Of another instance's ranges. */
	request(2 << (CHMU_RANGE_SHIFT - 12), 9);
	end_epoch();
	assert_true(chmu_instance_acknowledge(&i) & CHMU_STATUS_FILLED);
	assert_false(chmu_instance_acknowledge(&i) & CHMU_STATUS_FILLED);
	assert_int_equal(chmu_instance_waiting(&i), 2);
	assert_int_equal(chmu_instance_read(&i, entries, 2), 2);
	assert_int_equal(entries[0], 5 << HMU_COUNT_BITS | 3);
	assert_int_equal(entries[1], 7 << HMU_COUNT_BITS | 9);
	assert_int_equal(chmu_instance_waiting(&i), 0);
	chmu_instance_stop(&i);
	assert_int_equal(model->enabled, 0);
	end();
}

/* Whoever had the device before may have left it counting. */
TEST(it_begins_anew_with_other_settings)
{
	struct chmu_instance i;
	u64 entry;

	begin();
	i = started(0, 9);
	request(5, 9);
	end_epoch();
	assert_int_equal(chmu_instance_waiting(&i), 1);
	i = started(0, 2);
	assert_int_equal(chmu_instance_waiting(&i), 0);
	/* Also what it had said before, and nobody read: it is to interrupt again. */
	assert_false(chmu_instance_acknowledge(&i) & CHMU_STATUS_FILLED);
	request(5, 2);
	end_epoch();
	assert_int_equal(chmu_instance_read(&i, &entry, 1), 1);
	assert_int_equal(entry, 5 << HMU_COUNT_BITS | 2);
	end();
}

TEST(a_list_is_read_round_its_end)
{
	struct chmu_instance i;
	u64 *entries = calloc(HMU_ENTRIES, sizeof(*entries)), page, round;
	u32 nr = HMU_ENTRIES / 3 * 2;

	begin();
	assert_non_null(entries);
	i = started(0, 1);
	for (round = 0; round < 3; round++) {
		for (page = 0; page < nr; page++)
			request(page + round, 1);
		end_epoch();
		assert_int_equal(chmu_instance_waiting(&i), nr);
		assert_int_equal(chmu_instance_read(&i, entries, nr), nr);
		for (page = 0; page < nr; page++)
			assert_int_equal(entries[page] >> HMU_COUNT_BITS, page + round);
	}
	free(entries);
	end();
}

/* What waited while nobody read says nothing of now. */
TEST(what_waits_is_dropped)
{
	struct chmu_instance i;
	u64 entries[2], page;

	begin();
	i = started(0, 1);
	assert_int_equal(chmu_instance_drop(&i), 0);
	for (page = 0; page < HMU_ENTRIES; page++)
		request(page, 1);
	end_epoch();
	assert_int_equal(chmu_instance_drop(&i), HMU_ENTRIES - 1);
	assert_int_equal(chmu_instance_waiting(&i), 0);
	/* From where it was full on there is room again. */
	request(7, 2);
	end_epoch();
	assert_int_equal(chmu_instance_waiting(&i), 1);
	assert_int_equal(chmu_instance_read(&i, entries, 1), 1);
	assert_int_equal(entries[0], 7 << HMU_COUNT_BITS | 2);
	gone = true;
	assert_int_equal(chmu_instance_drop(&i), 0);
	end();
}

TEST(a_full_list_says_so_once)
{
	struct chmu_instance i;
	u64 page;

	begin();
	i = started(0, 1);
	for (page = 0; page < HMU_ENTRIES; page++)
		request(page, 1);
	end_epoch();
	assert_true(chmu_instance_acknowledge(&i) & CHMU_STATUS_OVERFLOW);
	assert_false(chmu_instance_acknowledge(&i) & CHMU_STATUS_OVERFLOW);
	assert_int_equal(chmu_instance_waiting(&i), HMU_ENTRIES - 1);
	end();
}

TEST(an_instance_without_ranges_stays_off)
{
	struct hotness_unit_info small = info;
	struct chmu_instance i;

	begin();
	small.memory = 4096;
	assert_int_equal(chmu_instance_init(&i, &small, 1, HMU_INSTANCES), 0);
	assert_int_equal(chmu_instance_start(&i, EPOCH_US, 1), 0);
	assert_false(i.running);
	assert_int_equal(model->enabled, 0);
	end();
}

TEST(what_a_device_says_of_itself_is_not_trusted)
{
	static const struct {
		u64 at, value;
	} lies[] = {
		{ HMU_INSTANCE(0) + CHMU_BITMAP_OFFSET, HMU_PCI_BYTES },
		{ HMU_INSTANCE(0) + CHMU_BITMAP_OFFSET, ~7ULL },
		{ HMU_INSTANCE(0) + CHMU_BITMAP_OFFSET, 4 },
		{ HMU_INSTANCE(0) + CHMU_HOTLIST_OFFSET, HMU_PCI_BYTES - HMU_CHMU - 8 },
		{ HMU_INSTANCE(0) + CHMU_HOTLIST_OFFSET, ~0ULL },
		{ HMU_INSTANCE(0) + CHMU_CAP0, ~0ULL },
		{ HMU_INSTANCE(0) + CHMU_CAP1, 0 },
		{ HMU_CHMU + CHMU_COMMON_CAP1, 8 },
		{ HMU_CHMU + CHMU_COMMON_CAP1, 0xfff9 },
	};
	struct hotness_unit_info none = info;
	struct chmu_instance i;
	unsigned int n;

	begin();
	for (n = 0; n < sizeof(lies) / sizeof(lies[0]); n++) {
		lie_at = lies[n].at;
		lie = lies[n].value;
		/* An offset that is not aligned is one of the second's registers too. */
		assert_true(chmu_instance_init(&i, &info, n == 8, HMU_INSTANCES) < 0);
	}
	lie_at = 0;
	assert_int_equal(chmu_instance_init(&i, &info, 0, HMU_INSTANCES), 0);
	lie_at = HMU_INSTANCE(0) + CHMU_STATUS;
	lie = 0;
	assert_int_equal(chmu_instance_start(&i, EPOCH_US, 1), -EINVAL);
	assert_false(i.running);
	lie_at = HMU_CHMU;
	assert_int_equal(chmu_instances(&info), -ENODEV);
	none.bytes = 8;
	assert_int_equal(chmu_instances(&none), -ENODEV);
	end();
}

TEST(indices_that_make_no_sense_are_nothing)
{
	struct chmu_instance i;
	u64 entries[2];

	begin();
	i = started(0, 1);
	request(1, 1);
	end_epoch();
	lie_at = HMU_INSTANCE(0) + CHMU_TAIL;
	lie = HMU_ENTRIES;
	assert_int_equal(chmu_instance_waiting(&i), 0);
	lie_at = HMU_INSTANCE(0) + CHMU_HEAD;
	lie = 0xffff;
	assert_int_equal(chmu_instance_waiting(&i), 0);
	assert_int_equal(chmu_instance_read(&i, entries, 2), 0);
	assert_int_equal(chmu_instance_drop(&i), 0);
	end();
}

TEST(a_device_that_is_gone_is_left_alone)
{
	struct chmu_instance i;
	u64 entry;

	begin();
	i = started(0, 1);
	request(1, 1);
	end_epoch();
	gone = true;
	assert_true(chmu_is_gone(chmu_instance_acknowledge(&i)));
	assert_int_equal(chmu_instance_waiting(&i), 0);
	assert_int_equal(chmu_instance_read(&i, &entry, 1), 0);
	assert_int_equal(chmu_instance_start(&i, EPOCH_US, 1), -ENODEV);
	chmu_instance_stop(&i);
	assert_false(i.running);
	assert_int_equal(chmu_instances(&info), -ENODEV);
	end();
}

TEST(one_that_never_gets_ready_is_given_up)
{
	struct chmu_instance i;

	begin();
	assert_int_equal(chmu_instance_init(&i, &info, 0, HMU_INSTANCES), 0);
	stuck = true;
	assert_int_equal(chmu_instance_start(&i, EPOCH_US, 1), -ETIMEDOUT);
	assert_false(i.running);
	/* Also if it did count before. */
	stuck = false;
	assert_int_equal(chmu_instance_start(&i, EPOCH_US, 1), 0);
	assert_true(i.running);
	stuck = true;
	assert_int_equal(chmu_instance_start(&i, EPOCH_US, 1), -ETIMEDOUT);
	assert_false(i.running);
	end();
}

UNIT_MAIN(
	cmocka_unit_test(what_the_model_has_is_found),
	cmocka_unit_test(what_was_requested_is_listed_and_read),
	cmocka_unit_test(it_begins_anew_with_other_settings),
	cmocka_unit_test(a_list_is_read_round_its_end),
	cmocka_unit_test(what_waits_is_dropped),
	cmocka_unit_test(a_full_list_says_so_once),
	cmocka_unit_test(an_instance_without_ranges_stays_off),
	cmocka_unit_test(what_a_device_says_of_itself_is_not_trusted),
	cmocka_unit_test(indices_that_make_no_sense_are_nothing),
	cmocka_unit_test(a_device_that_is_gone_is_left_alone),
	cmocka_unit_test(one_that_never_gets_ready_is_given_up),
)
