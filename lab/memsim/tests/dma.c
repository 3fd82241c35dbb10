// SPDX-License-Identifier: GPL-2.0
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "dma.h"

#define MIB	(1ULL << 20)
#define NEAR	(4 * MIB)	/* of memory on node 0 */
#define FAR	(4096 * MIB)
#define RING	0x1000ULL
#define SETUP	700
#define RATE	10000		/* a page in 409 ns */

static const struct config machine = {
	.llc_bytes = MIB, .llc_ways = 8, .llc_hit_ns = 12, .cpus = 1, .rows = 1,
	.nodes = 2, .node_mbps = { 100000, 4000 }, .top = { true, false },
	.path = { { { 90, 100000 }, { 250, 4000 } } },
	.ranges = 2,
	.range = { { 0, NEAR, 0 }, { FAR, FAR + NEAR, 1 } },
	.dma_channels = 2, .dma_setup_ns = SETUP, .dma_mbps = RATE,
};

static uint8_t guest[2][NEAR];

static void access_guest(uint64_t pa, void *buffer, size_t bytes, bool write)
{
	uint8_t *at = pa >= FAR ? guest[1] + (pa - FAR) : guest[0] + pa;

	assert_true(pa >= FAR ? pa + bytes <= FAR + NEAR : pa + bytes <= NEAR);
	if (write)
		memcpy(at, buffer, bytes);
	else
		memcpy(buffer, at, bytes);
}

struct fixture {
	struct memory memory;
	struct dma dma;
};

static struct fixture *fresh(void)
{
	struct fixture *f = malloc(sizeof(*f));
	uint64_t x = 7, i;

	assert_non_null(f);
	assert_true(memory_init(&f->memory, &machine));
	dma_init(&f->dma, &f->memory, access_guest);
	for (i = 0; i < NEAR; i++)
		guest[0][i] = number(&x) >> 56;
	memset(guest[1], 0, NEAR);
	dma_ops.write(&f->dma, DMA_CHANNEL(0) + DMA_RING, RING, 0);
	dma_ops.write(&f->dma, DMA_CHANNEL(0) + DMA_ENTRIES, 8, 0);
	dma_ops.write(&f->dma, DMA_CONTROL, DMA_INTERRUPT, 0);
	return f;
}

static void drop(struct fixture *f)
{
	memory_exit(&f->memory);
	free(f);
}

static void job(uint64_t ring, unsigned int slot, uint64_t from, uint64_t to,
		uint32_t bytes)
{
	struct dma_descriptor d = {
		.from = from, .to = to, .bytes = bytes, .flags = DMA_NOTIFY,
	};

	memcpy(guest[0] + ring + slot * sizeof(d), &d, sizeof(d));
}

static uint64_t status(uint64_t ring, unsigned int slot)
{
	struct dma_descriptor d;

	memcpy(&d, guest[0] + ring + slot * sizeof(d), sizeof(d));
	return d.status;
}

static void post(struct fixture *f, unsigned int channel, uint64_t n, uint64_t now)
{
	dma_ops.write(&f->dma, DMA_CHANNEL(channel) + DMA_POSTED, n, now);
}

static uint64_t done(struct fixture *f, unsigned int channel)
{
	return dma_ops.read(&f->dma, DMA_CHANNEL(channel) + DMA_DONE);
}

static void a_job_takes_its_time_and_copies_every_byte(void **state)
{
	struct fixture *f = fresh();
	uint64_t end = 1000 + SETUP + 3 * (4096 * 1000 / RATE);

	(void)state;
	job(RING, 0, 0x10001, 0x20003, 3 * 4096);
	post(f, 0, 1, 1000);
	assert_int_equal(dma_ops.next(&f->dma), 1000);
	assert_false(dma_ops.advance(&f->dma, end - 1));
	assert_int_equal(done(f, 0), 0);
	assert_int_equal(status(RING, 0), 0);
	assert_true(dma_ops.advance(&f->dma, end));
	assert_int_equal(done(f, 0), 1);
	assert_int_equal(status(RING, 0), DMA_OK);
	assert_memory_equal(guest[0] + 0x10001, guest[0] + 0x20003, 3 * 4096);
	assert_int_equal(dma_ops.next(&f->dma), 0);
	assert_int_equal(f->memory.stat[0].dma, 2 * 3 * 64);
	drop(f);
}

static void a_slow_node_is_waited_for(void **state)
{
	struct fixture *f = fresh();
	unsigned int i;
	uint64_t now = 1 << 20;

	(void)state;
	for (i = 0; i < 8; i++)
		job(RING, i, 0x40000 + i * 0x10000, FAR + i * 0x10000, 0x10000);
	post(f, 0, 8, now);
	while (done(f, 0) < 8)
		dma_ops.advance(&f->dma, now = dma_ops.next(&f->dma));
	/* 512 KiB at 4 GB/s; a turn is waited for to a microsecond. */
	assert_in_range(now - (1 << 20), 131072 - 1024, 131072 * 106 / 100);
	assert_memory_equal(guest[0] + 0x40000, guest[1], 0x80000);
	drop(f);
}

static void channels_work_side_by_side(void **state)
{
	struct fixture *f = fresh();
	uint64_t other = 0x2000;

	(void)state;
	dma_ops.write(&f->dma, DMA_CHANNEL(1) + DMA_RING, other, 0);
	dma_ops.write(&f->dma, DMA_CHANNEL(1) + DMA_ENTRIES, 2, 0);
	job(RING, 0, 0x10000, 0x20000, 4096);
	job(other, 0, 0x11000, 0x21000, 4096);
	job(other, 1, 0x12000, 0x22000, 4096);
	post(f, 0, 1, 0);
	post(f, 1, 2, 0);
	dma_ops.advance(&f->dma, SETUP + 409);
	assert_int_equal(done(f, 0), 1);
	assert_int_equal(done(f, 1), 1);
	dma_ops.advance(&f->dma, 2 * (SETUP + 409));
	assert_int_equal(done(f, 1), 2);
	assert_memory_equal(guest[0] + 0x10000, guest[0] + 0x20000, 3 * 4096);
	/* There is no third one. */
	assert_int_equal(dma_ops.read(&f->dma, DMA_CHANNELS), 2);
	dma_ops.write(&f->dma, DMA_CHANNEL(2) + DMA_RING, RING, 0);
	assert_int_equal(dma_ops.read(&f->dma, DMA_CHANNEL(2) + DMA_RING), 0);
	drop(f);
}

static void bad_jobs_fail_and_change_nothing(void **state)
{
	static const struct {
		uint64_t from, to;
		uint32_t bytes;
	} bad[] = {
		{ NEAR, 0x20000, 64 }, { 0x10000, NEAR - 32, 64 },
		{ FAR - 64, 0x20000, 128 }, { ~0ULL - 8, 0x20000, 64 },
		{ 0x10000, 0x20000, 0 }, { FAR, 0, DMA_JOB_MAX + 1 },
	};
	struct fixture *f = fresh();
	uint8_t *before = malloc(NEAR);
	size_t i, n = sizeof(bad) / sizeof(*bad);

	(void)state;
	for (i = 0; i < n; i++)
		job(RING, i, bad[i].from, bad[i].to, bad[i].bytes);
	memcpy(before, guest[0], NEAR);
	post(f, 0, n, 0);
	assert_true(dma_ops.advance(&f->dma, MIB));
	assert_int_equal(done(f, 0), n);
	assert_int_equal(dma_ops.read(&f->dma, DMA_CHANNEL(0) + DMA_FAILED), n);
	for (i = 0; i < n; i++) {
		assert_int_equal(status(RING, i), DMA_ERROR);
		job(RING, i, bad[i].from, bad[i].to, bad[i].bytes);
	}
	assert_memory_equal(before, guest[0], NEAR);
	free(before);
	drop(f);
}

static void a_bad_ring_fails_too(void **state)
{
	struct fixture *f = fresh();

	(void)state;
	dma_ops.write(&f->dma, DMA_CHANNEL(0) + DMA_RING, 2 * NEAR, 0);
	/* Before it is known how long it is, nothing can be posted. */
	post(f, 0, 1, 0);
	assert_int_equal(dma_ops.next(&f->dma), 0);
	dma_ops.write(&f->dma, DMA_CHANNEL(0) + DMA_ENTRIES, 3, 0);
	assert_int_equal(dma_ops.read(&f->dma, DMA_CHANNEL(0) + DMA_ENTRIES), 0);
	dma_ops.write(&f->dma, DMA_CHANNEL(0) + DMA_ENTRIES, 4, 0);
	/* More than fits, and less than was posted before, are not taken. */
	post(f, 0, 5, 0);
	assert_int_equal(dma_ops.read(&f->dma, DMA_CHANNEL(0) + DMA_POSTED), 0);
	post(f, 0, 3, 10);
	post(f, 0, 2, 10);
	assert_int_equal(dma_ops.read(&f->dma, DMA_CHANNEL(0) + DMA_POSTED), 3);
	assert_false(dma_ops.advance(&f->dma, 10));
	assert_int_equal(done(f, 0), 3);
	assert_int_equal(dma_ops.read(&f->dma, DMA_CHANNEL(0) + DMA_FAILED), 3);
	assert_int_equal(dma_ops.next(&f->dma), 0);
	drop(f);
}

static uint64_t cause(struct fixture *f, unsigned int channel)
{
	return dma_ops.read(&f->dma, DMA_CHANNEL(channel) + DMA_CAUSE);
}

static void each_channel_says_why_it_interrupts(void **state)
{
	struct fixture *f = fresh();
	uint64_t other = 0x2000;

	(void)state;
	assert_int_equal(dma_ops.vectors(&machine), 2);
	dma_ops.write(&f->dma, DMA_CHANNEL(1) + DMA_RING, other, 0);
	dma_ops.write(&f->dma, DMA_CHANNEL(1) + DMA_ENTRIES, 2, 0);
	job(other, 0, 0x10000, 0x20000, 4096);
	job(other, 1, 0x10000, 0x20000, 0);
	post(f, 1, 1, 0);
	assert_int_equal(dma_ops.advance(&f->dma, MIB), 1 << 1);
	assert_int_equal(cause(f, 0), 0);
	assert_int_equal(cause(f, 1), DMA_CAUSE_DONE);
	post(f, 1, 2, MIB);
	assert_int_equal(dma_ops.advance(&f->dma, 2 * MIB), 1 << 1);
	assert_int_equal(cause(f, 1), DMA_CAUSE_DONE | DMA_CAUSE_ERROR);
	dma_ops.write(&f->dma, DMA_CHANNEL(1) + DMA_CAUSE, DMA_CAUSE_DONE, 2 * MIB);
	assert_int_equal(cause(f, 1), DMA_CAUSE_ERROR);
	/* Two at once are two interrupts; without leave there is none, but a cause. */
	job(RING, 0, 0x10000, 0x20000, 4096);
	job(RING, 1, 0x10000, 0x20000, 4096);
	job(other, 0, 0x10000, 0x20000, 4096);
	post(f, 0, 1, 2 * MIB);
	post(f, 1, 3, 2 * MIB);
	assert_int_equal(dma_ops.advance(&f->dma, 3 * MIB), 3);
	dma_ops.write(&f->dma, DMA_CHANNEL(0) + DMA_CAUSE, ~0ULL, 3 * MIB);
	dma_ops.write(&f->dma, DMA_CONTROL, 0, 3 * MIB);
	post(f, 0, 2, 3 * MIB);
	assert_int_equal(dma_ops.advance(&f->dma, 4 * MIB), 0);
	assert_int_equal(cause(f, 0), DMA_CAUSE_DONE);
	drop(f);
}

/* What the cache holds of the destination is old. */
static void copied_lines_are_read_from_memory(void **state)
{
	struct fixture *f = fresh();
	struct streams s = {};
	int node;

	(void)state;
	memory_access(&f->memory, 0, &s, 0x20000, true, 0, &node);
	memory_access(&f->memory, 0, &s, 0x20000, false, 0, &node);
	assert_int_equal(node, NODE_HIT);
	job(RING, 0, 0x10000, 0x20000, 4096);
	post(f, 0, 1, 0);
	dma_ops.advance(&f->dma, MIB);
	memory_access(&f->memory, 0, &s, 0x20000, false, MIB, &node);
	assert_int_equal(node, 0);
	assert_int_equal(f->memory.stat[0].writeback, 0);
	drop(f);
}

/* They are requests to the node as any other. */
static void the_node_s_monitor_counts_copies(void **state)
{
	struct fixture *f = fresh();
	struct hmu *h = malloc(sizeof(*h));

	(void)state;
	assert_non_null(h);
	assert_true(hmu_init(h, &machine, 1));
	hmu_ops.write(h, HMU_BITMAP(0), 1, 0);
	hmu_ops.write(h, HMU_INSTANCE(0) + CHMU_CFG1,
		      HMU_SET(CHMU_CFG1_UNIT, 12) |
		      HMU_SET(CHMU_CFG1_EPOCH_SCALE, CHMU_EPOCH_100MS) |
		      HMU_SET(CHMU_CFG1_EPOCH_COUNT, 1), 0);
	hmu_ops.write(h, HMU_INSTANCE(0) + CHMU_CFG0,
		      HMU_SET(CHMU_CFG0_TRACK, CHMU_TRACK_PLAIN_ALL) |
		      HMU_SET(CHMU_CFG0_THRESHOLD, 16) | CHMU_CFG0_ENABLE, 0);
	hmu_ops.advance(h, HMU_OPERATION_NS);
	f->memory.hmu[1] = h;
	job(RING, 0, FAR + 3 * 4096, FAR + 5 * 4096, 4096);
	post(f, 0, 1, 0);
	dma_ops.advance(&f->dma, MIB);
	hmu_ops.advance(h, 1ULL << 30);
	assert_int_equal(hmu_ops.read(h, HMU_INSTANCE(0) + CHMU_TAIL), 2);
	assert_int_equal(hmu_ops.read(h, HMU_HOTLIST(0)), 3 << HMU_COUNT_BITS | 64);
	assert_int_equal(hmu_ops.read(h, HMU_HOTLIST(0) + 8), 5 << HMU_COUNT_BITS | 64);
	hmu_exit(h);
	free(h);
	drop(f);
}

static void a_machine_has_one_if_it_has_channels(void **state)
{
	static const struct config without = { .nodes = 2 };
	struct fixture *f = fresh();
	struct dma *d;

	(void)state;
	assert_false(dma_ops.per_node);
	assert_false(dma_ops.present(&without, 0));
	assert_true(dma_ops.present(&machine, 0));
	d = dma_ops.create(&f->memory, 0, access_guest);
	assert_non_null(d);
	assert_int_equal(dma_ops.read(d, DMA_ID), DMA_MAGIC);
	assert_int_equal(dma_ops.read(d, DMA_CHANNELS), 2);
	free(d);
	drop(f);
}

int test_dma(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_has_one_if_it_has_channels),
		cmocka_unit_test(a_job_takes_its_time_and_copies_every_byte),
		cmocka_unit_test(a_slow_node_is_waited_for),
		cmocka_unit_test(channels_work_side_by_side),
		cmocka_unit_test(bad_jobs_fail_and_change_nothing),
		cmocka_unit_test(a_bad_ring_fails_too),
		cmocka_unit_test(each_channel_says_why_it_interrupts),
		cmocka_unit_test(copied_lines_are_read_from_memory),
		cmocka_unit_test(the_node_s_monitor_counts_copies),
	};

	return cmocka_run_group_tests_name("dma", tests, NULL, NULL);
}
