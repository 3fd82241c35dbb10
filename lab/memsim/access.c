// SPDX-License-Identifier: GPL-2.0
#include "access.h"
#include "clock.h"
#include "compiler.h"
#include "die.h"
#include "guest.h"
#include "model.h"
#include "sampling.h"

static void spend(struct cpu *cpu, uint32_t ns)
{
	if (ns) {
		charge(cpu, ns);
		clock_spend(ns);
	}
}

/* A walk reads an entry of the page tables, or changes it. */
static uint32_t use_entry(struct cpu *cpu, uint64_t pa, bool store)
{
	uint32_t ns;
	int node;

	switch (filter_access(cpu->own, pa, store)) {
	case FILTER_HIT:
		return 0;
	case FILTER_CLEAN:
		ns = memory_own(&model.memory, cpu->number, pa, clock_now());
		break;
	default:
		ns = memory_access(&model.memory, cpu->number, NULL, pa, store,
				   clock_now(), &node);
	}
	spend(cpu, ns);
	return ns;
}

/*
 * The last one is the page's, and says that it was accessed. QEMU says so too, but only
 * where it walks itself: its own table of translations may be far larger, and grows.
 */
static uint32_t use_last_entry(struct cpu *cpu, uint64_t pa)
{
	uint64_t entry = guest_read(pa), accessed = tlb_accessed(entry);

	if (accessed != entry)
		guest_write_entry(pa, accessed);
	return use_entry(cpu, pa, accessed != entry);
}

/*
 * A CPU's interrupt controller. The CPU of the lab has no x2APIC, so that Linux uses the
 * registers in memory. What is written to them: an interrupt for another CPU, and the
 * end of one that was taken, which each interrupt handler says once.
 */
#define APIC		0xfee00000ULL
#define APIC_END	0x0b0
#define APIC_COMMAND	0x300

static void device(struct cpu *cpu, uint64_t pa, bool store)
{
	model.memory.device++;
	if (!store || pa >> PAGE_SHIFT != APIC >> PAGE_SHIFT)
		return;
	if (pa == APIC + APIC_COMMAND) {
		cpu->count->sent++;
		spend(cpu, model.config.ipi_send_ns);
	} else if (pa == APIC + APIC_END) {
		cpu->count->interrupts++;
		spend(cpu, model.config.interrupt_ns);
	}
}

/* Where @vaddr is, by the page tables and QEMU; false: it is not memory. */
static bool walk(struct cpu *cpu, mem_info info, uint64_t vaddr, bool store,
		 uint64_t *pa)
{
	struct qemu_plugin_hwaddr *addr = qemu_plugin_get_hwaddr(info, vaddr);
	uint32_t ns = model.config.walk_ns;
	struct walk w;
	unsigned int i;

	*pa = addr ? qemu_plugin_hwaddr_phys_addr(addr) : 0;
	if (!addr || qemu_plugin_hwaddr_is_io(addr)) {
		device(cpu, *pa, store);
		return false;
	}
	w = tlb_walk(&cpu->tlb, cpu->space, vaddr, guest_read);
	spend(cpu, ns);
	for (i = 0; i + 1 < w.entries; i++)
		ns += use_entry(cpu, w.entry[i], false);
	if (w.entries)
		ns += use_last_entry(cpu, w.entry[i]);
	cpu->count->walks++;
	cpu->count->walk_ns += ns;
	tlb_insert(&cpu->tlb, vaddr, *pa, w.huge);
	return true;
}

static bool translate(struct cpu *cpu, mem_info info, uint64_t vaddr, bool store,
		      uint64_t *pa)
{
	switch (tlb_look_up(&cpu->tlb, vaddr, pa)) {
	case TLB_FREE:
		return true;
	case TLB_SECOND:
		spend(cpu, model.config.tlb_hit_ns);
		return true;
	default:
		return walk(cpu, info, vaddr, store, pa);
	}
}

/* An access that the filter does not answer. */
static __attribute__((noinline)) void
look_up(struct cpu *cpu, uint64_t vaddr, uint64_t pa, bool store,
	enum filter_answer answer)
{
	bool counts = model.measuring && cpu->block->mode == USER;
	uint64_t vpn = vaddr >> PAGE_SHIFT;
	uint32_t ns;
	int node;

	memory_expect(&model.memory, pa);
	if (answer == FILTER_CLEAN) {
		ns = memory_own(&model.memory, cpu->number, pa, clock_now());
		cpu->count->taken += ns > 0;
		spend(cpu, ns);
		return;
	}
	if (counts)
		pages_expect(&model.pages, cpu->space, vpn);
	ns = memory_access(&model.memory, cpu->number, &cpu->streams, pa, store,
			   clock_now(), &node);
	if (node == NODE_HIT)
		cpu->count->hits++;
	if (node == NODE_SOCKET)
		cpu->count->taken++;
	if (node >= 0) {
		cpu->count->nodes[node]++;
		cpu->count->node_ns[node] += ns;
		if (counts && !pages_count(&model.pages, cpu->space, vpn, cpu->row,
					   model.config.top[node], clock_now()))
			die("no memory left", "");
	}
	spend(cpu, ns);
}

/* An access whose translation is not in front in the first level. */
static __attribute__((noinline)) void
access_after_translation(struct cpu *cpu, mem_info info, uint64_t vaddr, bool store)
{
	enum filter_answer answer;
	uint64_t pa;

	if (!translate(cpu, info, vaddr, store, &pa))
		return;
	answer = filter_access(cpu->own, pa, store);
	if (answer != FILTER_HIT)
		look_up(cpu, vaddr, pa, store, answer);
}

/* Most end here: the CPU has the translation and the line. */
static inline __attribute__((always_inline)) void
access_memory(mem_info info, uint64_t vaddr, bool store)
{
	struct cpu *cpu = &model.cpus[clock_cpu()];
	enum filter_answer answer;
	uint64_t pa;

	cpu->count->accesses++;
	if (unlikely(!tlb_first(&cpu->tlb, vaddr, &pa)))
		return access_after_translation(cpu, info, vaddr, store);
	answer = filter_access(cpu->own, pa, store);
	if (unlikely(answer != FILTER_HIT))
		look_up(cpu, vaddr, pa, store, answer);
}

void on_load(unsigned int translator, mem_info info, uint64_t vaddr, void *data)
{
	(void)translator;
	(void)data;
	access_memory(info, vaddr, false);
}

void on_store(unsigned int translator, mem_info info, uint64_t vaddr, void *data)
{
	(void)translator;
	(void)data;
	access_memory(info, vaddr, true);
}

/* Lines that were fetched ahead, of all nodes. */
static uint64_t streamed(void)
{
	uint64_t sum = 0;
	unsigned int node;

	for (node = 0; node < model.config.nodes; node++)
		sum += model.memory.stat[node].stream;
	return sum;
}

static void sampled(struct cpu *cpu, const struct ibs_access *a)
{
	if (sampling_access(cpu->number, a))
		spend(cpu, model.config.interrupt_ns);
}

/* What the tagged instruction's access is can be seen by what it adds to the counters. */
static __attribute__((noinline)) void
access_tagged(struct cpu *cpu, mem_info info, uint64_t vaddr, bool store, uint64_t word)
{
	struct qemu_plugin_hwaddr *addr = qemu_plugin_get_hwaddr(info, vaddr);
	bool own = addr && filter_holds(cpu->own, qemu_plugin_hwaddr_phys_addr(addr) >>
						  LINE_SHIFT);
	struct mode_count before = *cpu->count;
	uint64_t stream = streamed();
	const struct mode_count *after = cpu->count;
	struct ibs_access a = {
		.rip = cpu->block->pc + access_offset(word), .linear = vaddr,
		.has_physical = addr && !qemu_plugin_hwaddr_is_io(addr),
		.uncached = addr && qemu_plugin_hwaddr_is_io(addr), .store = store,
		.locked = access_owns(word),
		.bytes_shift = qemu_plugin_mem_size_shift(info),
	};
	unsigned int node;

	if (a.has_physical)
		a.physical = qemu_plugin_hwaddr_phys_addr(addr);
	access_memory(info, vaddr, store);
	a.walked = after->walks > before.walks;
	a.refill_ns = after->walk_ns - before.walk_ns;
	a.ns = after->ns - before.ns - a.refill_ns;
	if (a.uncached)
		a.source = IBS_DEVICE;
	/* It was there, to be read or to be written, or had been fetched ahead. */
	else if (own || streamed() > stream)
		return sampled(cpu, &a);
	else if (after->hits > before.hits)
		a.source = IBS_CACHE;
	else if (after->taken > before.taken)
		a.source = IBS_FAR_CACHE;
	for (node = 0; node < model.config.nodes; node++) {
		if (after->nodes[node] == before.nodes[node])
			continue;
		a.source = model.config.top[node] ? IBS_DRAM : IBS_EXTENSION;
		a.remote = model.memory.near[node] != cpu->row;
	}
	sampled(cpu, &a);
}

static inline __attribute__((always_inline)) void
access_sampled(mem_info info, uint64_t vaddr, bool store, uint64_t word)
{
	unsigned int number = clock_cpu();

	if (unlikely(sampling_tagged(number, access_number(word))))
		access_tagged(&model.cpus[number], info, vaddr, store, word);
	else
		access_memory(info, vaddr, store);
}

void on_sampled_load(unsigned int translator, mem_info info, uint64_t vaddr, void *data)
{
	(void)translator;
	access_sampled(info, vaddr, false, (uintptr_t)data);
}

void on_sampled_store(unsigned int translator, mem_info info, uint64_t vaddr, void *data)
{
	(void)translator;
	access_sampled(info, vaddr, true, (uintptr_t)data);
}

void wait_for_device(uint32_t ns)
{
	spend(&model.cpus[clock_cpu()], ns);
}

void forget_all(void)
{
	unsigned int i;

	for (i = 0; i < model.config.cpus; i++) {
		tlb_clear(&model.cpus[i].tlb);
		model.cpus[i].streams = (struct streams) {};
	}
}
