// SPDX-License-Identifier: GPL-2.0
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "compiler.h"
#include "cpu.h"
#include "die.h"
#include "model.h"
#include "sampling.h"

/*
 * What a PAUSE takes: some 140 cycles on x86 servers since Skylake. QEMU ends a
 * CPU's turn at each, so one that cost no more than an instruction would leave
 * the clock of a CPU that spins far behind those it waits for.
 */
#define PAUSE_NS	45

/*
 * Where nothing is measured. The kernel spins for 0.13 s while it boots, and QEMU
 * takes about 1 us of the host for each PAUSE.
 */
#define EARLY_PAUSE_NS	2000
#define CR3_ADDRESS	0x000ffffffffff000ULL

/* General registers by number, of each CPU, for writes to CR3. */
static struct qemu_plugin_register *registers[MAX_CPUS][16];
static byte_array *(*byte_array_new)(void);
static byte_array *(*byte_array_set_size)(byte_array *a, unsigned int size);

bool cpu_open(char *error, size_t size)
{
	byte_array_new = dlsym(RTLD_DEFAULT, "g_byte_array_new");
	byte_array_set_size = dlsym(RTLD_DEFAULT, "g_byte_array_set_size");
	if (byte_array_new && byte_array_set_size)
		return true;
	snprintf(error, size, "this QEMU exports no GLib");
	return false;
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

void on_cpu(plugin_id id, unsigned int number)
{
	static struct block boot = { .mode = KERNEL };
	char error[256];
	struct cpu *cpu;

	(void)id;
	if (!clock_add_cpu(number, error, sizeof(error)))
		die(error, "");
	if (number >= model.config.cpus)
		die("the description has fewer CPUs than the guest", "");
	cpu = &model.cpus[number];
	cpu->row = model.config.row_of[number];
	cpu->block = &boot;
	cpu->count = &model.results.cpu[number][KERNEL];
	cpu->number = number;
	cpu->own = model.memory.own[number];
	if (!tlb_init(&cpu->tlb, &model.config))
		die("no memory left", "");
	find_registers(number);
}

/* noinline: what it keeps on the stack would be made room for in each block. */
static __attribute__((noinline)) void add_line(void)
{
	results_tick(&model.results, &model.memory, clock_now());
}

/* The running CPU comes to the block of this word, whose code is at @code. */
static inline __attribute__((always_inline)) struct cpu *
enter_block(uint64_t word, const void *code)
{
	uint32_t instructions = block_instructions(word);
	unsigned int number = clock_block(instructions, code);
	struct cpu *cpu = &model.cpus[number];

	cpu->block = block_of(word);
	cpu->count = &model.results.cpu[number][block_mode(word)];
	cpu->count->instructions += instructions;
	if (unlikely(model.config.profile && model.measuring))
		cpu->block->ns += instructions;
	if (unlikely(model.measuring && clock_now() >= model.results.next_line))
		add_line();
	return cpu;
}

/* noinline: the return address has to be that of translated code. */
__attribute__((noinline))
void on_block(unsigned int translator, void *data)
{
	(void)translator;
	enter_block((uintptr_t)data, __builtin_return_address(0));
}

__attribute__((noinline))
void on_sampled_block(unsigned int translator, void *data)
{
	uint64_t word = (uintptr_t)data;
	struct cpu *cpu = enter_block(word, __builtin_return_address(0));

	(void)translator;
	if (unlikely(sampling_block(cpu->number, block_instructions(word)))) {
		charge(cpu, model.config.interrupt_ns);
		clock_spend(model.config.interrupt_ns);
	}
}

void on_pause(unsigned int translator, void *data)
{
	struct cpu *cpu = &model.cpus[clock_cpu()];

	(void)translator;
	(void)data;
	charge(cpu, PAUSE_NS);
	clock_pause(PAUSE_NS);
}

void on_early_pause(unsigned int translator, void *data)
{
	(void)translator;
	(void)data;
	clock_cpu();
	clock_pause(EARLY_PAUSE_NS);
}

void on_halt(unsigned int translator, void *data)
{
	(void)translator;
	(void)data;
	if (model.config.ibs)
		sampling_halt(clock_cpu());
	clock_halt();
}

void on_flush(unsigned int translator, void *data)
{
	(void)translator;
	(void)data;
	tlb_clear(&model.cpus[clock_cpu()].tlb);
}

/* What general register @which of the running CPU says. */
static bool read_register(unsigned int number, uintptr_t which, uint64_t *value)
{
	struct qemu_plugin_register *handle = registers[number][which];
	static byte_array *bytes;

	if (!handle)
		return false;
	if (!bytes)
		bytes = byte_array_new();
	byte_array_set_size(bytes, 0);
	if (qemu_plugin_read_register(handle, bytes) < (int)sizeof(*value))
		return false;
	memcpy(value, bytes->data, sizeof(*value));
	return true;
}

/* INVLPG: the address is in the general register that @data says. */
void on_flush_page(unsigned int translator, void *data)
{
	unsigned int number = clock_cpu();
	struct tlb *tlb = &model.cpus[number].tlb;
	uint64_t address;

	(void)translator;
	if (read_register(number, (uintptr_t)data, &address))
		tlb_drop(tlb, address);
	else
		tlb_clear(tlb);
}

/* mov to CR3: the value is in the general register that @data says. */
void on_new_space(unsigned int translator, void *data)
{
	unsigned int number = clock_cpu();
	uint64_t cr3;

	(void)translator;
	tlb_new_space(&model.cpus[number].tlb);
	if (read_register(number, (uintptr_t)data, &cr3))
		model.cpus[number].space = cr3 & CR3_ADDRESS;
}
