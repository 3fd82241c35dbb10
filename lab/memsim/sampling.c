// SPDX-License-Identifier: GPL-2.0
/*
 * QEMU knows nothing of these registers. Its translator calls helper functions for
 * RDMSR, WRMSR and CPUID by pointers in tables of its own, which are exported: ours
 * stand in front of them there. The interrupt controller reads the extended vectors as
 * zero, so that a region of ours lies over them.
 */
#include <stdio.h>
#include <string.h>

#include "access.h"
#include "clock.h"
#include "compiler.h"
#include "model.h"
#include "qemu.h"
#include "sampling.h"

#define NMI		0x200	/* QEMU's CPU_INTERRUPT_NMI */

/* The extended vectors of a CPU's interrupt controller: one for each 16 bytes. */
#define VECTORS		4
#define VECTORS_AT	0xfee00500ULL
#define VECTOR_SHIFT	4
#define VECTOR_MASKED	0x10000U
#define VECTOR_MODE	8
#define VECTOR_MODE_NMI	4U
/* Above the interrupt controller, which QEMU gives 0x1000. */
#define PRIORITY	0x2000

#define LEAF_EXTENDED	0x80000000U
#define LEAF_FEATURES	0x80000001U

/* The guest's general registers, with which a CPU's state begins. */
enum { RAX, RCX, RDX, RBX };
typedef void (*helper)(uint64_t *registers);

/* The beginning of QEMU's TCGHelperInfo. */
struct helper_info {
	helper function;
	const char *name;
};

union work {
	void *pointer;
	uint64_t value;
};

struct ibs samplers[MAX_CPUS];

static uint32_t vectors[MAX_CPUS][VECTORS];
static uint64_t interrupts[MAX_CPUS];
static helper read_msr, write_msr, identify;
/* The last one that QEMU has of extended leaves, as far as it was asked. */
static uint32_t last_leaf = IBS_LEAF;

static void (*run_on_cpu)(void *cpu, void (*f)(void *cpu, union work work),
			  union work work);
static void (*cpu_interrupt)(void *cpu, int mask);
static void *(*get_cpu)(int number);
static void *(*get_system_memory)(void);
static void (*init_io)(struct region *r, void *owner, const struct region_ops *ops,
		       void *opaque, const char *name, uint64_t size);
static void (*add_overlap)(void *memory, uint64_t at, struct region *r, int priority);
static void (*at_start)(struct notifier *n);

static uint64_t low(uint64_t value)
{
	return value & 0xffffffffULL;
}

/*
 * The originals look at their return address to find out where the guest is, so they
 * are gone on to and not called: that has to be the last thing done.
 */
static void on_read_msr(uint64_t *registers)
{
	unsigned int cpu;
	uint64_t value;

	if (!ibs_has(low(registers[RCX]))) {
		read_msr(registers);
		return;
	}
	cpu = clock_cpu();
	wait_for_device(model.config.ibs_ns);
	value = ibs_read(&samplers[cpu], low(registers[RCX]), clock_now());
	registers[RAX] = low(value);
	registers[RDX] = value >> 32;
}

static void on_write_msr(uint64_t *registers)
{
	unsigned int cpu;

	if (!ibs_has(low(registers[RCX]))) {
		write_msr(registers);
		return;
	}
	cpu = clock_cpu();
	wait_for_device(model.config.ibs_ns);
	ibs_write(&samplers[cpu], low(registers[RCX]),
		  low(registers[RAX]) | registers[RDX] << 32, clock_now());
}

/* This one has nothing to find out, but for guests of the guest. */
static void on_identify(uint64_t *registers)
{
	uint32_t leaf = registers[RAX];

	identify(registers);
	if (leaf == LEAF_FEATURES)
		registers[RCX] |= IBS_FEATURE;
	if (leaf == LEAF_EXTENDED && low(registers[RAX]) < IBS_LEAF) {
		last_leaf = registers[RAX];
		registers[RAX] = IBS_LEAF;
	}
	/* Leaves that QEMU has not would say what another one does. */
	if (leaf > last_leaf && leaf <= IBS_LEAF && leaf > LEAF_EXTENDED)
		registers[RAX] = registers[RBX] = registers[RCX] = registers[RDX] = 0;
	if (leaf == IBS_LEAF)
		registers[RAX] = IBS_ABILITIES;
}

static uint64_t on_read_vector(void *opaque, uint64_t offset, unsigned int size)
{
	(void)opaque;
	(void)size;
	return vectors[clock_cpu()][offset >> VECTOR_SHIFT];
}

static void on_write_vector(void *opaque, uint64_t offset, uint64_t value,
			    unsigned int size)
{
	(void)opaque;
	(void)size;
	vectors[clock_cpu()][offset >> VECTOR_SHIFT] = value;
}

static void add_vectors(struct notifier *n, void *data)
{
	static const struct region_ops ops = {
		.read = on_read_vector, .write = on_write_vector,
		.endianness = DEVICE_LITTLE_ENDIAN,
		.valid = { .sizes = { 4, 4, false } }, .impl = { 4, 4, false },
	};
	static struct region region;

	(void)n;
	(void)data;
	init_io(&region, NULL, &ops, NULL, "memsim-ibs", VECTORS << VECTOR_SHIFT);
	add_overlap(get_system_memory(), VECTORS_AT, &region, PRIORITY);
}

/* Have @ours called for the helper @name, and say which @was. */
static bool put_in_front(const char *name, helper ours, helper *was, char *error,
			 size_t size)
{
	struct helper_info *info;
	char symbol[64];

	snprintf(symbol, sizeof(symbol), "helper_%s", name);
	if (!qemu_find(symbol, was, error, size))
		return false;
	snprintf(symbol, sizeof(symbol), "helper_info_%s", name);
	if (!qemu_find(symbol, &info, error, size))
		return false;
	if (info->function != *was || strcmp(info->name, name)) {
		snprintf(error, size, "%s is not that of QEMU 10.0", symbol);
		return false;
	}
	info->function = ours;
	return true;
}

bool sampling_open(char *error, size_t size)
{
	static struct notifier notifier = { .notify = add_vectors };
	unsigned int cpu, i;

	if (!model.config.ibs)
		return true;
	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		ibs_init(&samplers[cpu], cpu);
		for (i = 0; i < VECTORS; i++)
			vectors[cpu][i] = VECTOR_MASKED;
	}
	if (!qemu_find("async_run_on_cpu", &run_on_cpu, error, size) ||
	    !qemu_find("cpu_interrupt", &cpu_interrupt, error, size) ||
	    !qemu_find("qemu_get_cpu", &get_cpu, error, size) ||
	    !qemu_find("get_system_memory", &get_system_memory, error, size) ||
	    !qemu_find("memory_region_init_io", &init_io, error, size) ||
	    !qemu_find("memory_region_add_subregion_overlap", &add_overlap, error, size) ||
	    !qemu_find("qemu_add_machine_init_done_notifier", &at_start, error, size) ||
	    !put_in_front("rdmsr", on_read_msr, &read_msr, error, size) ||
	    !put_in_front("wrmsr", on_write_msr, &write_msr, error, size) ||
	    !put_in_front("cpuid", on_identify, &identify, error, size))
		return false;
	at_start(&notifier);
	return true;
}

void sampling_clear(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		samplers[cpu].samples = 0;
		samplers[cpu].filtered = 0;
		/* What was before the model saw anything does not count. */
		samplers[cpu].since = INT64_MAX;
		interrupts[cpu] = 0;
	}
}

void sampling_count(struct results *r)
{
	unsigned int cpu;

	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		r->sampled[cpu] = (struct sampled) {
			.made = samplers[cpu].samples,
			.filtered = samplers[cpu].filtered,
			.interrupts = interrupts[cpu],
		};
}

static void take_nmi(void *cpu, union work work)
{
	(void)work;
	cpu_interrupt(cpu, NMI);
}

/*
 * The CPU takes it when it has done the block that it is in. QEMU lets no interrupt be
 * raised in the middle of that, so it is work for between the turns, for which this
 * one ends.
 */
static bool interrupt(unsigned int cpu)
{
	uint32_t vector = vectors[cpu][IBS_VECTOR];

	if (vector & VECTOR_MASKED || (vector >> VECTOR_MODE & 7) != VECTOR_MODE_NMI)
		return false;
	interrupts[cpu]++;
	run_on_cpu(get_cpu(cpu), take_nmi, (union work) {});
	return true;
}

bool sampling_block(unsigned int cpu, uint32_t instructions)
{
	return unlikely(ibs_block(&samplers[cpu], instructions, clock_now())) &&
	       interrupt(cpu);
}

void sampling_halt(unsigned int cpu)
{
	ibs_halt(&samplers[cpu], clock_now());
}

bool sampling_access(unsigned int cpu, const struct ibs_access *a)
{
	return ibs_access(&samplers[cpu], a, clock_now()) && interrupt(cpu);
}
