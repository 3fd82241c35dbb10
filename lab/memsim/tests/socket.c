// SPDX-License-Identifier: GPL-2.0
/* Caches of several sockets are coherent, and cost what they should. */
#include "machine.h"

#define MIB	(1ULL << 20)
#define LINES	3000
#define CPUS	4
#define LLC	12
#define SNOOP	28
#define HOP	(140 - 90)

static const struct config machine = {
	.llc_bytes = 128 << 10, .llc_ways = 8, .llc_hit_ns = LLC, .snoop_ns = SNOOP,
	.cpus = CPUS, .rows = 2, .row_of = { 0, 0, 1, 1 },
	.nodes = 2, .node_mbps = { 1000000, 1000000 }, .top = { true, true },
	.path = {
		{ { 90, 1000000 }, { 140, 1000000 } },
		{ { 140, 1000000 }, { 90, 1000000 } },
	},
	.ranges = 2, .range = { { 0, MIB, 0 }, { MIB, 2 * MIB, 1 } },
};

static struct memory *fresh(void)
{
	return memory_of(&machine);
}

/* As access.c does it. */
static uint32_t use(struct memory *m, unsigned int cpu, uint64_t pa, bool store,
		    enum filter_answer *answer, uint64_t now)
{
	int node;

	*answer = filter_access(m->own[cpu], pa, store);
	if (*answer == FILTER_HIT)
		return 0;
	if (*answer == FILTER_CLEAN)
		return memory_own(m, cpu, pa, now);
	return memory_access(m, cpu, NULL, pa, store, now, &node);
}

/* Time enough after each other that nobody waits. */
static uint32_t cost(struct memory *m, unsigned int cpu, uint64_t pa, bool store)
{
	static uint64_t now;
	enum filter_answer answer;

	return use(m, cpu, pa, store, &answer, now += 1 << 20);
}

/* Where a line is, and whether only one CPU may write it. */
static void check(const struct memory *m, uint64_t line)
{
	unsigned int cpu, row, holders = 0, writers = 0, dirty = 0;

	for (cpu = 0; cpu < CPUS; cpu++) {
		const struct socket *s = &m->socket[machine.row_of[cpu]];
		const uint32_t *way = filter_find(m->own[cpu], line);
		size_t slot = cache_find(&s->llc, line);

		if (!way)
			continue;
		holders++;
		writers += *way & FILTER_STORED;
		/* The last level has it too, and knows that it was written. */
		assert_int_not_equal(slot, CACHE_NONE);
		if (*way & FILTER_STORED)
			assert_true(cache_dirty(&s->llc, slot));
	}
	assert_true(!writers || (writers == 1 && holders == 1));
	for (row = 0; row < machine.rows; row++) {
		const struct cache *c = &m->socket[row].llc;
		size_t slot = cache_find(c, line);

		if (slot == CACHE_NONE)
			continue;
		dirty += cache_dirty(c, slot);
	}
	assert_true(dirty <= 1);
}

/* Each line has a number that each store raises: who hits a line has seen the last one. */
static void nobody_sees_what_is_old(void **state)
{
	static unsigned int latest[LINES], seen[CPUS][LINES];
	struct memory *m = fresh();
	uint64_t x = 11, n, hits = 0, taken = 0;
	unsigned int i;

	(void)state;
	for (n = 0; n < 300000; n++) {
		unsigned int cpu = number(&x) % CPUS;
		/* Some are busy, some hardly used, and many fall into the same sets. */
		uint64_t line = number(&x) % LINES >> number(&x) % 8;
		bool store = number(&x) % 4 == 0;
		enum filter_answer answer;
		uint32_t ns;

		if (number(&x) % 1000 == 0) {
			memory_written(m, line << LINE_SHIFT, LINE_BYTES);
			latest[line]++;
			for (i = 0; i < CPUS; i++)
				assert_false(filter_holds(m->own[i], line));
		}
		ns = use(m, cpu, line << LINE_SHIFT, store, &answer, n << 10);
		if (answer == FILTER_MISS)
			seen[cpu][line] = latest[line];
		else
			assert_int_equal(seen[cpu][line], latest[line]);
		hits += answer != FILTER_MISS;
		taken += answer == FILTER_CLEAN && ns;
		if (store)
			seen[cpu][line] = ++latest[line];
		check(m, line);
		check(m, number(&x) % LINES);
	}
	assert_true(hits > 100000 && taken > 1000);
	drop(m);
}

static void within_a_socket(void **state)
{
	struct memory *m = fresh();

	(void)state;
	assert_int_equal(cost(m, 0, 0, false), 90);
	/* Nobody else has it: the first store is free, and so is the next. */
	assert_int_equal(cost(m, 0, 0, true), 0);
	assert_int_equal(cost(m, 0, 0, true), 0);
	/* A neighbour reads what was written; then both have it. */
	assert_int_equal(cost(m, 1, 0, false), LLC + SNOOP);
	assert_int_equal(cost(m, 0, 0, false), 0);
	/* Now each store takes it from the other one. */
	assert_int_equal(cost(m, 0, 0, true), LLC + SNOOP);
	assert_int_equal(cost(m, 0, 0, true), 0);
	assert_int_equal(cost(m, 1, 0, true), LLC + SNOOP);
	assert_int_equal(cost(m, 0, 0, true), LLC + SNOOP);
	/* What nobody's own cache holds needs no question. */
	filter_clear(m->own[0]);
	assert_int_equal(cost(m, 1, 0, false), LLC);
	drop(m);
}

static void between_sockets(void **state)
{
	struct memory *m = fresh();
	uint64_t back;

	(void)state;
	assert_int_equal(cost(m, 0, 0, true), 90);
	back = m->stat[0].writeback;
	/* From the own cache of a CPU over there, and to memory. */
	assert_int_equal(cost(m, 2, 0, false), HOP + 2 * LLC + SNOOP);
	assert_int_equal(m->stat[0].writeback, back + 1);
	assert_int_equal(cost(m, 3, 0, false), LLC);
	/* Clean copies cost a store the same way, without the question. */
	assert_int_equal(cost(m, 0, 0, true), HOP + 2 * LLC);
	assert_int_equal(cost(m, 2, 0, true), HOP + 2 * LLC + SNOOP);
	assert_int_equal(cost(m, 0, 0, true), HOP + 2 * LLC + SNOOP);
	assert_int_equal(cost(m, 2, 0, true), HOP + 2 * LLC + SNOOP);
	/* It went from cache to cache. */
	assert_int_equal(m->stat[0].writeback, back + 1);
	assert_int_equal(m->stat[0].stores + m->stat[0].loads, 1);
	/* A clean line of the other socket is read from memory. */
	assert_int_equal(cost(m, 2, MIB, false), 90);
	assert_int_equal(cost(m, 0, MIB, false), 140);
	/* And a store that misses takes it along. */
	assert_int_equal(cost(m, 0, MIB + 64, false), 140);
	assert_int_equal(cost(m, 2, MIB + 64, true), 90);
	assert_int_equal(cost(m, 0, MIB + 64, false), HOP + 2 * LLC + SNOOP);
	drop(m);
}

/* A small thing in use stays where it is while a stream goes through. */
static void what_a_cpu_uses_stays(void **state)
{
	struct memory *m = fresh();
	uint64_t pa, ns = 0;

	(void)state;
	cost(m, 0, 0x40, true);
	for (pa = 0x1000; pa < MIB; pa += 64) {
		cost(m, 1, pa, false);
		ns += cost(m, 0, 0x40, true);
	}
	assert_int_equal(ns, 0);
	drop(m);
}

static void a_device_takes_the_lines_it_writes_and_no_other(void **state)
{
	struct memory *m = fresh();
	uint64_t pa;

	(void)state;
	for (pa = 0; pa < 8 * 64; pa += 64)
		cost(m, 0, pa, true);
	memory_written(m, 3 * 64 + 10, 64);
	for (pa = 0; pa < 8 * 64; pa += 64)
		assert_int_equal(cost(m, 0, pa, false),
				 pa == 3 * 64 || pa == 4 * 64 ? 90 : 0);
	drop(m);
}

/* Prefetchers take no line from another CPU: who stores to a sequence waits for each. */
static void a_store_in_sequence_waits_for_other_cpus(void **state)
{
	static const uint32_t by_cpu[] = {
		[0] = 0, [1] = LLC + SNOOP, [2] = HOP + 2 * LLC + SNOOP,
	};
	unsigned int cpu, store, i;

	(void)state;
	for (cpu = 0; cpu < 3; cpu++) {
		for (store = 0; store < 2; store++) {
			struct memory *m = fresh();
			struct streams s = {};
			int node;

			for (i = 0; i < 8; i++)
				cost(m, 0, i * LINE_BYTES, true);
			for (i = 0; i < 8; i++) {
				uint32_t ns = memory_access(m, cpu, &s, i * LINE_BYTES, store,
							    1ULL << 40, &node);

				if (i)
					assert_int_equal(ns, store ? by_cpu[cpu] : 0);
			}
			drop(m);
		}
	}
}

int test_socket(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_sees_what_is_old),
		cmocka_unit_test(within_a_socket),
		cmocka_unit_test(between_sockets),
		cmocka_unit_test(a_store_in_sequence_waits_for_other_cpus),
		cmocka_unit_test(what_a_cpu_uses_stays),
		cmocka_unit_test(a_device_takes_the_lines_it_writes_and_no_other),
	};

	return cmocka_run_group_tests_name("socket", tests, NULL, NULL);
}
