// SPDX-License-Identifier: GPL-2.0
#include "machine.h"

#define MIB	(1ULL << 20)

static const struct config machine = {
	.llc_bytes = MIB, .llc_ways = 8, .llc_hit_ns = 12, .cpus = 2, .rows = 2,
	.row_of = { 0, 1 },
	.nodes = 2, .node_mbps = { 10000, 2000 }, .top = { true, false },
	.path = {
		{ { 90, 10000 }, { 250, 2000 } },
		{ { 140, 5000 }, { 300, 1000 } },
	},
	.ranges = 2,
	.range = { { 0, 64 * MIB, 0 }, { 4096 * MIB, 4160 * MIB, 1 } },
};

#define SLOW	(4096 * MIB)

static struct memory *fresh(void)
{
	return memory_of(&machine);
}

static void each_path_has_its_latency(void **state)
{
	struct memory *m = fresh();
	struct streams s = {};
	int node;

	(void)state;
	assert_int_equal(memory_access(m, 0, &s, 0x1000, false, 1000, &node), 90);
	assert_int_equal(node, 0);
	assert_int_equal(memory_access(m, 0, &s, SLOW, true, 2000, &node), 250);
	assert_int_equal(node, 1);
	assert_int_equal(memory_access(m, 1, &s, 0x9000, false, 3000, &node), 140);
	assert_int_equal(memory_access(m, 1, &s, SLOW + 0x9000, false, 4000, &node), 300);
	/* Each socket has a cache of its own. */
	assert_int_equal(memory_access(m, 0, &s, 0x1000, false, 5000, &node), 12);
	assert_int_equal(node, NODE_HIT);
	assert_int_equal(memory_access(m, 1, &s, 0x1000, false, 6000, &node), 140);
	assert_int_equal(m->stat[0].loads, 3);
	assert_int_equal(m->stat[1].stores, 1);
	assert_int_equal(m->stat[1].ns, 550);
	drop(m);
}

static void other_addresses_are_devices(void **state)
{
	struct memory *m = fresh();
	struct streams s = {};
	int node;

	(void)state;
	assert_int_equal(memory_access(m, 0, &s, 64 * MIB, false, 0, &node), 0);
	assert_int_equal(node, NODE_DEVICE);
	assert_int_equal(memory_access(m, 0, &s, SLOW + 64 * MIB, false, 0, &node), 0);
	assert_int_equal(m->device, 2);
	drop(m);
}

/* Two sequences in pages of like numbers, as a copy has them. */
static void a_copy_is_two_sequences(void **state)
{
	struct memory *m = fresh();
	struct streams s = {};
	uint64_t i, now = 1 << 20, spent = 0;
	int node;

	(void)state;
	for (i = 0; i < 2 * MIB; i += LINE_BYTES) {
		uint32_t ns = memory_access(m, 0, &s, SLOW + i, false, now, &node);

		ns += memory_access(m, 0, &s, 4 * MIB + i, true, now + ns, &node);
		now += ns + 16;
		spent += ns;
	}
	/* All but the first line of each page and each page it is mistaken for. */
	assert_in_range(m->stat[1].stream, 2 * MIB / LINE_BYTES * 90 / 100,
			2 * MIB / LINE_BYTES * 63 / 64);
	/* At 2 GB/s the slow node gives a line each 32 ns. */
	assert_in_range(now - (1 << 20), 2 * MIB / LINE_BYTES * 30,
			2 * MIB / LINE_BYTES * 55);
	assert_true(m->stat[0].writeback > 0);
	drop(m);
}

/* Prefetchers go on over lines that a cache has, and fetch those of other CPUs. */
static void what_is_cached_does_not_end_a_sequence(void **state)
{
	struct memory *m = fresh();
	struct streams other = {}, s = {};
	uint64_t i, now = 1 << 20;
	int node;

	(void)state;
	for (i = 3; i < 64; i += 5)
		memory_access(m, 1, &other, SLOW + i * LINE_BYTES, i & 1, 1000 * i, &node);
	for (i = 0; i < 64; i++, now += 1000) {
		uint32_t ns = memory_access(m, 0, &s, SLOW + i * LINE_BYTES, false, now,
					    &node);

		if (i)
			assert_int_equal(ns, 0);
		else
			assert_true(ns > 0);
	}
	drop(m);
}

static void writing_back_takes_bandwidth(void **state)
{
	struct memory *m = fresh();
	struct streams s = {};
	uint64_t i, fill;
	int node;

	(void)state;
	for (i = 0; i < MIB; i += LINE_BYTES)
		memory_access(m, 0, &s, SLOW + i, true, 1000, &node);
	assert_int_equal(m->stat[1].writeback, 0);
	fill = m->node[1].share.slot[0].total;
	/* Twice as much as it holds leaves nothing of what was there. */
	for (i = 0; i < 2 * MIB; i += LINE_BYTES)
		memory_access(m, 0, &s, i, false, 1000, &node);
	assert_int_equal(m->stat[1].writeback, MIB / LINE_BYTES);
	assert_int_equal(m->node[1].share.slot[0].total, fill + MIB * MILLI);
	drop(m);
}

static void a_store_in_the_cpu_s_own_cache_is_free_and_dirty(void **state)
{
	struct memory *m = fresh();
	struct streams s = {};
	uint64_t i;
	int node;

	(void)state;
	memory_access(m, 0, &s, SLOW, false, 0, &node);
	assert_int_equal(memory_own(m, 0, SLOW, 100), 0);
	for (i = 0; i < 2 * MIB / 64; i++)
		memory_access(m, 0, &s, i * 64, false, 1000 * i, &node);
	assert_int_equal(m->stat[1].writeback, 1);
	drop(m);
}

static void pages_count_once_an_interval(void **state)
{
	struct memory *m = fresh();
	struct streams s = {};
	int node;

	(void)state;
	memory_access(m, 0, &s, 0x1000, false, 0, &node);
	memory_access(m, 0, &s, 0x1f00, false, 1000, &node);
	memory_access(m, 0, &s, 0x2000, false, 2000, &node);
	assert_int_equal(m->stat[0].pages, 2);
	memory_interval(m);
	assert_int_equal(m->stat[0].pages, 0);
	memory_access(m, 1, &s, 0x1000, false, 3000, &node);
	assert_int_equal(m->stat[0].pages, 1);
	drop(m);
}

static void a_saturated_node_is_slower(void **state)
{
	struct memory *m = fresh();
	struct streams s[4] = {};
	uint64_t x = 1, now[4] = {}, n, alone, together;
	int node, cpu;

	(void)state;
	for (n = 0; n < 20000; n++)
		now[0] += memory_access(m, 0, &s[0], SLOW + number(&x) % (64 * MIB),
					false, now[0], &node);
	alone = now[0] / 20000;
	memory_clear(m);
	now[0] = 0;
	/* Eight accesses of four CPUs each in the time of one. */
	for (n = 0; n < 20000; n++)
		for (cpu = 0; cpu < 4; cpu++)
			now[cpu] += memory_access(m, 0, &s[cpu],
						  SLOW + number(&x) % (64 * MIB),
						  false, now[cpu], &node) / 8;
	together = m->stat[1].ns / (m->stat[1].loads + m->stat[1].stores);
	assert_in_range(alone, 240, 260);
	assert_true(together > 2 * alone);
	drop(m);
}

/* From the source's socket to the other one's memory, which the way there carries. */
static void a_copy_engine_uses_the_ways_between_sockets(void **state)
{
	static const struct config two = {
		.llc_bytes = MIB, .llc_ways = 8, .rows = 2, .cpus = 2, .row_of = { 0, 1 },
		.nodes = 2, .node_mbps = { 16000, 16000 },
		.path = {
			{ { 90, 16000 }, { 140, 1000 } }, { { 140, 2000 }, { 90, 16000 } },
		},
		.ranges = 2, .range = { { 0, MIB, 0 }, { MIB, 2 * MIB, 1 } },
	};
	static const struct {
		uint64_t from, to, ns;
	} cases[] = {
		/* Both pages are of one node. */
		{ 0, MIB / 2, 2 * 65536 * 1000 / 16000 },
		{ 0, MIB, 65536 }, { MIB, 0, 65536 / 2 },
	};
	struct memory *m = memory_of(&two);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t now = 1 << 20, at;

		memory_clear(m);
		for (at = 0; at < 65536; at += 4096)
			now += memory_transfer(m, cases[i].from + at, cases[i].to + at,
					       4096, now);
		/* The last one's turn has come, to the microsecond. */
		assert_in_range(now - (1 << 20), cases[i].ns * 15 / 16 - 2048,
				cases[i].ns + 1024);
	}
	drop(m);
}

static void ranges_that_follow_each_other_are_one(void **state)
{
	static const struct config two = {
		.llc_bytes = MIB, .llc_ways = 8, .rows = 1, .nodes = 2,
		.node_mbps = { 1, 1 }, .path = { { { 1, 1 }, { 1, 1 } } },
		.ranges = 3,
		.range = { { 0, MIB, 0 }, { MIB, 2 * MIB, 1 }, { 3 * MIB, 4 * MIB, 0 } },
	};
	struct memory *m = memory_of(&two);

	(void)state;
	assert_true(memory_has(m, 0, 2 * MIB));
	assert_true(memory_has(m, MIB - 64, 128));
	assert_false(memory_has(m, MIB, MIB + 1));
	assert_false(memory_has(m, 2 * MIB, 1));
	assert_true(memory_has(m, 3 * MIB, MIB));
	assert_false(memory_has(m, 4 * MIB - 1, 2));
	assert_false(memory_has(m, ~0ULL, 2));
	drop(m);
}

int test_memory(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_path_has_its_latency),
		cmocka_unit_test(other_addresses_are_devices),
		cmocka_unit_test(a_copy_is_two_sequences),
		cmocka_unit_test(what_is_cached_does_not_end_a_sequence),
		cmocka_unit_test(writing_back_takes_bandwidth),
		cmocka_unit_test(a_store_in_the_cpu_s_own_cache_is_free_and_dirty),
		cmocka_unit_test(pages_count_once_an_interval),
		cmocka_unit_test(a_saturated_node_is_slower),
		cmocka_unit_test(a_copy_engine_uses_the_ways_between_sockets),
		cmocka_unit_test(ranges_that_follow_each_other_are_one),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
