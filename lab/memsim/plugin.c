// SPDX-License-Identifier: GPL-2.0
/*
 * QEMU plugin: charges each access that a CPU's own cache would not answer what
 * the model says it costs.
 *
 * In front of the model each CPU has a small filter by virtual address, for the
 * levels of cache that are its own. It is emptied where the guest changes its
 * page tables, and keeps most accesses from being looked up at all.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api.h"
#include "clock.h"
#include "config.h"
#include "devices.h"
#include "filter.h"
#include "memory.h"
#include "pages.h"
#include "results.h"

#define MAX_INSN	15
/*
 * What a PAUSE takes: some 140 cycles on x86 servers since Skylake. QEMU ends a
 * CPU's turn at each, so one that cost no more than an instruction would leave
 * the clock of a CPU that spins far behind those it waits for.
 */
#define PAUSE_NS	45
#define KERNEL_HALF	(1ULL << 63)
#define CR3_ADDRESS	0x000ffffffffff000ULL

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

EXPORT int qemu_plugin_version = PLUGIN_API;

/**
 * struct block - translated code
 * @pc: its address
 * @instructions: in it
 * @mode: of the CPU that runs it
 * @ns: time spent in it, where a profile is taken
 * @next: all blocks are in a list
 */
struct block {
	uint64_t pc;
	uint32_t instructions;
	enum mode mode;
	uint64_t ns;
	struct block *next;
};

/**
 * struct cpu - what the plugin knows of a CPU
 * @filter: the cache of its own
 * @streams: sequences under way
 * @block: the code it runs
 * @count: what it does
 * @row: its socket
 * @space: address of its page tables
 */
struct cpu {
	struct filter filter;
	struct streams streams;
	struct block *block;
	struct mode_count *count;
	unsigned int row;
	uint64_t space;
};

static struct config config;
static struct memory memory;
static struct results results;
static struct pages pages;
static struct cpu cpus[MAX_CPUS];
static struct block *blocks;
static bool measuring;
static uint64_t measured_space;
static double started;

/* General registers by number, of each CPU, for writes to CR3. */
static struct qemu_plugin_register *registers[MAX_CPUS][16];
static byte_array *(*byte_array_new)(void);
static byte_array *(*byte_array_set_size)(byte_array *a, unsigned int size);

__attribute__((noreturn))
static void die(const char *what, const char *which)
{
	fprintf(stderr, "memsim: %s%s\n", what, which);
	exit(1);
}

static double host_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void charge(struct cpu *cpu, uint32_t ns)
{
	cpu->count->ns += ns;
	if (config.profile && measuring)
		cpu->block->ns += ns;
}

/* An access that the filter does not answer. */
static __attribute__((noinline)) void
look_up(struct cpu *cpu, mem_info info, uint64_t vaddr, bool store,
	enum filter_answer answer)
{
	struct qemu_plugin_hwaddr *addr = qemu_plugin_get_hwaddr(info, vaddr);
	uint64_t pa;
	uint32_t ns;
	int node;

	if (!addr || qemu_plugin_hwaddr_is_io(addr)) {
		memory.device++;
		return;
	}
	pa = qemu_plugin_hwaddr_phys_addr(addr);
	if (answer == FILTER_CLEAN) {
		memory_dirty(&memory, cpu->row, pa, clock_now());
		return;
	}
	ns = memory_access(&memory, cpu->row, &cpu->streams, pa, store,
			   clock_now(), &node);
	if (node == NODE_HIT)
		cpu->count->hits++;
	if (node >= 0) {
		cpu->count->nodes[node]++;
		if (measuring && cpu->block->mode == USER &&
		    !pages_count(&pages, cpu->space, vaddr >> PAGE_SHIFT,
				 cpu->row, config.top[node], clock_now()))
			die("no memory left", "");
	}
	if (ns) {
		charge(cpu, ns);
		clock_spend(ns);
	}
}

/* The running CPU waits for a modelled device. */
static void wait_for_device(uint32_t ns)
{
	charge(&cpus[clock_cpu()], ns);
	clock_spend(ns);
}

static void on_access(unsigned int translator, mem_info info, uint64_t vaddr,
		      void *data)
{
	struct cpu *cpu = &cpus[clock_cpu()];
	bool store = qemu_plugin_mem_is_store(info);
	enum filter_answer answer;

	(void)translator;
	(void)data;
	cpu->count->accesses++;
	answer = filter_access(&cpu->filter, vaddr, store);
	if (unlikely(answer != FILTER_HIT))
		look_up(cpu, info, vaddr, store, answer);
}

/* noinline: the return address has to be that of translated code. */
static __attribute__((noinline)) void
on_block(unsigned int translator, void *data)
{
	struct block *block = data;
	unsigned int number = clock_block(block->instructions,
					  __builtin_return_address(0));
	struct cpu *cpu = &cpus[number];

	(void)translator;
	cpu->block = block;
	cpu->count = &results.cpu[number][block->mode];
	cpu->count->instructions += block->instructions;
	if (config.profile && measuring)
		block->ns += block->instructions;
	if (unlikely(measuring && clock_now() >= results.next_line))
		results_tick(&results, &memory, clock_now());
}

static void on_flush(unsigned int translator, void *data)
{
	(void)translator;
	(void)data;
	filter_clear(&cpus[clock_cpu()].filter);
}

/* mov to CR3: the value is in the general register that @data says. */
static void on_new_space(unsigned int translator, void *data)
{
	unsigned int number = clock_cpu();
	struct qemu_plugin_register *handle = registers[number][(uintptr_t)data];
	static byte_array *value;
	uint64_t cr3;

	(void)translator;
	filter_clear(&cpus[number].filter);
	if (!handle)
		return;
	if (!value)
		value = byte_array_new();
	byte_array_set_size(value, 0);
	if (qemu_plugin_read_register(handle, value) < (int)sizeof(cr3))
		return;
	memcpy(&cr3, value->data, sizeof(cr3));
	cpus[number].space = cr3 & CR3_ADDRESS;
}

static void on_pause(unsigned int translator, void *data)
{
	struct cpu *cpu = &cpus[clock_cpu()];

	(void)translator;
	(void)data;
	charge(cpu, PAUSE_NS);
	clock_pause(PAUSE_NS);
}

static void on_halt(unsigned int translator, void *data)
{
	(void)translator;
	(void)data;
	filter_clear(&cpus[clock_cpu()].filter);
	clock_halt();
}

static void write_pages(void)
{
	FILE *f = fopen(config.pages, "we");

	if (!f || !pages_write(&pages, measured_space, config.rows, f) | !!fclose(f))
		die("cannot write ", config.pages);
}

static void write_profile(void)
{
	FILE *f = fopen(config.profile, "we");
	const struct block *b;

	if (!f)
		die("cannot write ", config.profile);
	for (b = blocks; b; b = b->next)
		if (b->ns)
			fprintf(f, "%lx %lu\n", b->pc, b->ns);
	if (fclose(f))
		die("cannot write ", config.profile);
}

static void write_results(void)
{
	results.clocks_apart = clock_apart();
	if (!results_write(&results, &memory, &pages,
			   host_seconds() - started))
		die("cannot write ", config.output);
	if (config.pages)
		write_pages();
	if (config.profile)
		write_profile();
}

static void forget_filters(void)
{
	unsigned int i;

	for (i = 0; i < config.cpus; i++)
		filter_clear(&cpus[i].filter);
}

static void begin(struct cpu *cpu)
{
	struct block *b;

	clock_parallel();
	memory_clear(&memory);
	forget_filters();
	for (b = blocks; b; b = b->next)
		b->ns = 0;
	pages_clear(&pages);
	measured_space = cpu->space;
	results_begin(&results, &config, clock_now());
	measuring = true;
}

static void on_hypercall(unsigned int translator, void *data)
{
	struct cpu *cpu = &cpus[clock_cpu()];
	int op = (uintptr_t)data;

	(void)translator;
	if (op == MEMSIM_BEGIN) {
		begin(cpu);
	} else if (op == MEMSIM_END && measuring) {
		results.end = clock_now();
		measuring = false;
		write_results();
	} else if (op >= MEMSIM_PHASE && op < MEMSIM_PHASE + MEMSIM_PHASES &&
		   measuring) {
		results_phase(&results, &memory, op - MEMSIM_PHASE, clock_now());
	}
}

/* Skip prefixes that change nothing about which instruction it is. */
static const uint8_t *opcode(const uint8_t *b, unsigned int *rex)
{
	*rex = 0;
	while (*b == 0x66 || *b == 0xf2 || *b == 0xf3)
		b++;
	if ((*b & 0xf0) == 0x40)
		*rex = *b++;
	return b;
}

/* Instructions that the model has to know of. */
static void watch(struct qemu_plugin_insn *insn)
{
	uint8_t bytes[MAX_INSN + 1] = {};
	const uint8_t *b;
	unsigned int rex;

	qemu_plugin_insn_data(insn, bytes, MAX_INSN);
	if (!memcmp(bytes, (uint8_t[]){ MEMSIM_NOP }, 4) &&
	    !memcmp(bytes + 5, "MEM", 3)) {
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_hypercall,
						       NO_REGS,
						       (void *)(uintptr_t)bytes[4]);
		return;
	}
	if (bytes[0] == 0xf3 && bytes[1] == 0x90)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_pause, NO_REGS,
						       NULL);
	b = opcode(bytes, &rex);
	if (b[0] == 0xf4)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_halt, NO_REGS,
						       NULL);
	if (b[0] != 0x0f)
		return;
	if (b[1] == 0x22 && (b[2] & 0x38) == 0x18)	/* mov to cr3 */
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_new_space,
			READ_REGS, (void *)(uintptr_t)((b[2] & 7) | (rex & 1) << 3));
	else if ((b[1] == 0x01 && (b[2] & 0x38) == 0x38 && b[2] < 0xc0) ||
		 (b[1] == 0x38 && b[2] == 0x82))	/* invlpg, invpcid */
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_flush, NO_REGS,
						       NULL);
}

static void on_translate(plugin_id id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb), i;
	struct block *block = malloc(sizeof(*block));

	(void)id;
	if (!block)
		die("no memory left", "");
	*block = (struct block) {
		.pc = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)),
		.instructions = n,
		.next = blocks,
	};
	block->mode = block->pc & KERNEL_HALF ? KERNEL : USER;
	blocks = block;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, NO_REGS, block);
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		qemu_plugin_register_vcpu_mem_cb(insn, on_access, NO_REGS,
						 MEM_BOTH, NULL);
		watch(insn);
	}
}

static void find_registers(unsigned int cpu)
{
	static const char *const names[16] = {
		"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
	};
	value_array *all = qemu_plugin_get_registers();
	unsigned int i, n;

	for (i = 0; all && i < all->len; i++) {
		struct register_descriptor *d =
			&((struct register_descriptor *)(void *)all->data)[i];

		for (n = 0; n < 16; n++)
			if (!strcmp(d->name, names[n]))
				registers[cpu][n] = d->handle;
	}
}

static void on_cpu(plugin_id id, unsigned int number)
{
	static struct block boot = { .mode = KERNEL };
	char error[256];

	(void)id;
	if (!clock_add_cpu(number, error, sizeof(error)))
		die(error, "");
	if (number >= config.cpus)
		die("the description has fewer CPUs than the guest", "");
	cpus[number].row = config.row_of[number];
	cpus[number].block = &boot;
	cpus[number].count = &results.cpu[number][KERNEL];
	filter_clear(&cpus[number].filter);
	find_registers(number);
}

static void on_end(plugin_id id, void *data)
{
	(void)id;
	(void)data;
	/* A guest that was stopped in its measured part has something to tell. */
	if (measuring) {
		results.end = clock_now();
		write_results();
	}
}

static bool install(int api, const char *path, char *error, size_t size)
{
	static const struct device_calls calls = {
		.spend = wait_for_device, .written = forget_filters,
	};

	if (!config_read(&config, path, error, size) ||
	    !clock_open(api, error, size))
		return false;
	byte_array_new = dlsym(RTLD_DEFAULT, "g_byte_array_new");
	byte_array_set_size = dlsym(RTLD_DEFAULT, "g_byte_array_set_size");
	if (!byte_array_new || !byte_array_set_size) {
		snprintf(error, size, "this QEMU exports no GLib");
		return false;
	}
	if (!memory_init(&memory, &config) ||
	    !pages_init(&pages)) {
		snprintf(error, size, "no memory left");
		return false;
	}
	return devices_init(&config, &memory, &calls, error, size);
}

EXPORT int qemu_plugin_install(plugin_id id, const struct plugin_info *info,
			       int argc, char **argv)
{
	static const char key[] = "config=";
	char error[1024];

	started = host_seconds();
	if (argc != 1 || strncmp(argv[0], key, strlen(key))) {
		fprintf(stderr, "memsim: needs one argument, config=FILE\n");
		return 1;
	}
	if (!install(info->version.cur, argv[0] + strlen(key), error,
		     sizeof(error))) {
		fprintf(stderr, "memsim: %s\n", error);
		return 1;
	}
	qemu_plugin_register_vcpu_init_cb(id, on_cpu);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_end, NULL);
	return 0;
}
