// SPDX-License-Identifier: GPL-2.0
/*
 * Counters that sample what is accessed: the first one that this machine has. They
 * are perf's, and whoever else uses perf has them too.
 */
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/error-injection.h>
#include <linux/perf_event.h>
#include <linux/processor.h>
#include <linux/smp.h>

#include "hw_sample.h"

/* A machine that has none. */
static const struct hw_sample_kind no_kinds[] = { {} };

#ifdef CONFIG_X86

#include <asm/cpu_device_id.h>

/*
 * AMD: Documentation of perf's ibs_op, tools/perf/Documentation/perf-amd-ibs.txt. Ops are
 * counted and not cycles, in which who waits for memory would be found more often than
 * it accesses any; with the first, samples are of what no cache has.
 */
#define IBS_L3_MISS_ONLY	BIT_ULL(16)
#define IBS_COUNTS_OPS		BIT_ULL(19)
#define IBS_PERIOD_MIN		256U
#define IBS_PERIOD_MAX		0x7fffff0U

/*
 * Intel: loads that take longer than so many cycles, MEM_TRANS_RETIRED.LOAD_LATENCY. The
 * least from which on hardly any is answered by a cache.
 */
#define LOAD_LATENCY		0x01cdULL
#define LOAD_LATENCY_CYCLES	128ULL
/*
 * Where that needs a second counter beside it, which no counter of the kernel's own can
 * have: loads that missed the last-level cache, MEM_LOAD_RETIRED.L3_MISS. Its samples
 * say no more of where their data come from.
 */
#define L3_MISS			0x20d1ULL
#define LOAD_PERIOD_MIN		64U
#define LOAD_PERIOD_MAX		0x7fffffffU

static const struct hw_sample_kind amd_kinds[] = {
	{
		.name = "ibs_op", .config = IBS_L3_MISS_ONLY | IBS_COUNTS_OPS,
		.phys_addr = true, .min = IBS_PERIOD_MIN, .max = IBS_PERIOD_MAX,
	}, {
		.name = "ibs_op", .config = IBS_COUNTS_OPS,
		.phys_addr = true, .min = IBS_PERIOD_MIN, .max = IBS_PERIOD_MAX,
	},
	{}
};

static const struct hw_sample_kind intel_kinds[] = {
	{
		.name = "cpu", .type = PERF_TYPE_RAW, .config = LOAD_LATENCY,
		.config1 = LOAD_LATENCY_CYCLES, .precise_ip = 2, .exclude_guest = true,
		.min = LOAD_PERIOD_MIN, .max = LOAD_PERIOD_MAX,
	}, {
		.name = "cpu", .type = PERF_TYPE_RAW, .config = L3_MISS,
		.precise_ip = 2, .exclude_guest = true, .from_memory = true,
		.min = LOAD_PERIOD_MIN, .max = LOAD_PERIOD_MAX,
	},
	{}
};

/*
 * Small cores have other events for these, and count something else by those above, without
 * a word. Where there are both kinds a counter is of one of them alone.
 */
static bool hw_sample_kind_intel_known(void)
{
	switch (boot_cpu_data.x86_vfm) {
	case INTEL_ATOM_SILVERMONT:
	case INTEL_ATOM_SILVERMONT_D:
	case INTEL_ATOM_SILVERMONT_MID:
	case INTEL_ATOM_SILVERMONT_MID2:
	case INTEL_ATOM_AIRMONT:
	case INTEL_ATOM_AIRMONT_NP:
	case INTEL_ATOM_GOLDMONT:
	case INTEL_ATOM_GOLDMONT_D:
	case INTEL_ATOM_GOLDMONT_PLUS:
	case INTEL_ATOM_TREMONT:
	case INTEL_ATOM_TREMONT_D:
	case INTEL_ATOM_TREMONT_L:
	case INTEL_ATOM_GRACEMONT:
	case INTEL_ATOM_CRESTMONT:
	case INTEL_ATOM_CRESTMONT_X:
	case INTEL_ATOM_DARKMONT_X:
	case INTEL_XEON_PHI_KNL:
	case INTEL_XEON_PHI_KNM:
		return false;
	default:
		return !cpu_feature_enabled(X86_FEATURE_HYBRID_CPU);
	}
}

static const struct hw_sample_kind *hw_sample_kind_list(void)
{
	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_AMD:
	case X86_VENDOR_HYGON:
		return amd_kinds;
	case X86_VENDOR_INTEL:
		return hw_sample_kind_intel_known() ? intel_kinds : no_kinds;
	default:
		return no_kinds;
	}
}

#else

static const struct hw_sample_kind *hw_sample_kind_list(void)
{
	return no_kinds;
}

#endif

/**
 * hw_sample_open - make a counter of one CPU, which is off
 * @kind: which counter
 * @cpu: the CPU
 * @period: of sampling
 * @handler: called for each sample, from NMI
 * @context: what it finds in the counter
 *
 * Tests make it fail for one CPU of several, which no machine at hand does by itself.
 *
 * Context: process context; sleeps.
 *
 * Return: the counter, or an error pointer.
 */
struct perf_event *hw_sample_open(const struct hw_sample_kind *kind, int cpu,
				  u32 period, perf_overflow_handler_t handler,
				  void *context)
{
	int type = kind->type ? kind->type : perf_pmu_type(kind->name);
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.config = kind->config,
		.config1 = kind->config1,
		.config2 = kind->config2,
		.precise_ip = kind->precise_ip,
		.exclude_guest = kind->exclude_guest,
		.sample_period = period,
		/* Of several in one buffer the handler would see the last alone. */
		.wakeup_events = 1,
		.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR |
			       PERF_SAMPLE_DATA_SRC,
		.disabled = 1,
	};

	if (type < 0)
		return ERR_PTR(type);
	attr.type = type;
	return perf_event_create_kernel_counter(&attr, cpu, NULL, handler, context);
}
ALLOW_ERROR_INJECTION(hw_sample_open, ERRNO);

static void hw_sample_kind_ignore(struct perf_event *event, struct perf_sample_data *data,
				  struct pt_regs *regs)
{
}

/**
 * hw_sample_find - the counter that this machine has
 *
 * Context: process context; sleeps.
 *
 * Return: it, or NULL if there is none, or it is hidden from this virtual machine.
 */
const struct hw_sample_kind *hw_sample_find(void)
{
	const struct hw_sample_kind *kind;
	struct perf_event *event;

	for (kind = hw_sample_kind_list(); kind->name; kind++) {
		event = hw_sample_open(kind, raw_smp_processor_id(), kind->max & ~0xfU,
				       hw_sample_kind_ignore, NULL);
		if (IS_ERR(event))
			continue;
		perf_event_release_kernel(event);
		return kind;
	}
	return NULL;
}

/**
 * hw_sample_from_memory - is a sample one of an access to memory
 * @kind: which counter took it
 * @data: the sample, as perf_prepare_sample() leaves it
 *
 * AMD says it of loads alone. Stores are taken for what they are counted as.
 *
 * Context: any.
 *
 * Return: false if it says that it is not, or says no address.
 */
bool hw_sample_from_memory(const struct hw_sample_kind *kind,
			   const struct perf_sample_data *data)
{
	if (!data->phys_addr)
		return false;
	switch (data->data_src.mem_lvl_num) {
	case PERF_MEM_LVLNUM_CXL:
	case PERF_MEM_LVLNUM_RAM:
	case PERF_MEM_LVLNUM_PMEM:
		return true;
	case PERF_MEM_LVLNUM_L3:
		/* Missed there: all that some of Intel's CPUs know, unless others had it. */
		return data->data_src.mem_lvl & PERF_MEM_LVL_MISS &&
		       !(data->data_src.mem_snoop & (PERF_MEM_SNOOP_HIT | PERF_MEM_SNOOP_HITM));
	case PERF_MEM_LVLNUM_NA:
		return kind->from_memory ||
		       data->data_src.mem_op & PERF_MEM_OP_STORE;
	default:
		return false;
	}
}
