// SPDX-License-Identifier: GPL-2.0
/* Tests of the source of hardware samples: which of them are taken. */
#include <kunit/test.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>

#include "../source/hw_sample.h"

struct sample_case {
	const char *name;
	u64 phys_addr;
	u64 op;
	u64 level;
	bool taken;
	bool memory_alone;
	u64 lvl, snoop;
};

#define LOAD	PERF_MEM_OP_LOAD
#define STORE	PERF_MEM_OP_STORE

static const struct sample_case sample_cases[] = {
	{ "load from DRAM", 0x1000, LOAD, PERF_MEM_LVLNUM_RAM, true },
	{ "load from CXL", 0x1000, LOAD, PERF_MEM_LVLNUM_CXL, true },
	{ "load from persistent memory", 0x1000, LOAD, PERF_MEM_LVLNUM_PMEM, true },
	{ "load without an address", 0, LOAD, PERF_MEM_LVLNUM_RAM, false },
	{ "load from a cache", 0x1000, LOAD, PERF_MEM_LVLNUM_L1, false },
	{ "load from the last cache", 0x1000, LOAD, PERF_MEM_LVLNUM_L3, false },
	{ "load that missed the last cache", 0x1000, LOAD, PERF_MEM_LVLNUM_L3, true,
	  .lvl = PERF_MEM_LVL_MISS },
	{ "load that another cache had", 0x1000, LOAD, PERF_MEM_LVLNUM_L3, false,
	  .lvl = PERF_MEM_LVL_MISS, .snoop = PERF_MEM_SNOOP_HITM },
	{ "load from a device", 0x1000, LOAD, PERF_MEM_LVLNUM_IO, false },
	{ "load from nobody knows where", 0x1000, LOAD, PERF_MEM_LVLNUM_NA, false },
	{ "load of a counter of those from memory", 0x1000, LOAD, PERF_MEM_LVLNUM_NA, true, true },
	{ "the same without an address", 0, LOAD, PERF_MEM_LVLNUM_NA, false, true },
	{ "store", 0x1000, STORE, PERF_MEM_LVLNUM_NA, true },
	{ "store without an address", 0, STORE, PERF_MEM_LVLNUM_NA, false },
	{ "store to a cache", 0x1000, STORE, PERF_MEM_LVLNUM_L2, false },
};

static void sample_case_name(const struct sample_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(sample_cases, sample_cases, sample_case_name);

static void what_memory_answered_is_taken(struct kunit *test)
{
	const struct sample_case *c = test->param_value;
	struct hw_sample_kind kind = { .from_memory = c->memory_alone };
	struct perf_sample_data data = { .phys_addr = c->phys_addr };

	data.data_src.mem_op = c->op;
	data.data_src.mem_lvl_num = c->level;
	data.data_src.mem_lvl = c->lvl;
	data.data_src.mem_snoop = c->snoop;
	KUNIT_EXPECT_EQ(test, hw_sample_from_memory(&kind, &data), c->taken);
}

/* Not by reclaim, whoever has to do that, nor by who brings pages elsewhere. */
static void what_tasks_use_is_taken(struct kunit *test)
{
	unsigned int flags;

	KUNIT_EXPECT_TRUE(test, hw_sample_is_use(current));
	flags = memalloc_noreclaim_save();
	KUNIT_EXPECT_FALSE(test, hw_sample_is_use(current));
	memalloc_noreclaim_restore(flags);
	KUNIT_EXPECT_TRUE(test, hw_sample_is_use(current));
}

static struct kunit_case hw_sample_cases[] = {
	KUNIT_CASE(what_tasks_use_is_taken),
	KUNIT_CASE_PARAM(what_memory_answered_is_taken, sample_cases_gen_params),
	{ }
};

static struct kunit_suite hw_sample_suite = {
	.name = "pghot_hw_sample",
	.test_cases = hw_sample_cases,
};

kunit_test_suite(hw_sample_suite);
