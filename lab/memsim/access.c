// SPDX-License-Identifier: GPL-2.0
#include "access.h"
#include "clock.h"
#include "compiler.h"
#include "die.h"
#include "model.h"

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
		model.memory.device++;
		return;
	}
	pa = qemu_plugin_hwaddr_phys_addr(addr);
	if (answer == FILTER_CLEAN) {
		memory_dirty(&model.memory, cpu->row, pa, clock_now());
		return;
	}
	ns = memory_access(&model.memory, cpu->row, &cpu->streams, pa, store,
			   clock_now(), &node);
	if (node == NODE_HIT)
		cpu->count->hits++;
	if (node >= 0) {
		cpu->count->nodes[node]++;
		if (model.measuring && cpu->block->mode == USER &&
		    !pages_count(&model.pages, cpu->space, vaddr >> PAGE_SHIFT,
				 cpu->row, model.config.top[node], clock_now()))
			die("no memory left", "");
	}
	if (ns) {
		charge(cpu, ns);
		clock_spend(ns);
	}
}

void on_access(unsigned int translator, mem_info info, uint64_t vaddr,
	       void *data)
{
	struct cpu *cpu = &model.cpus[clock_cpu()];
	bool store = qemu_plugin_mem_is_store(info);
	enum filter_answer answer;

	(void)translator;
	(void)data;
	cpu->count->accesses++;
	answer = filter_access(&cpu->filter, vaddr, store);
	if (unlikely(answer != FILTER_HIT))
		look_up(cpu, info, vaddr, store, answer);
}

void wait_for_device(uint32_t ns)
{
	charge(&model.cpus[clock_cpu()], ns);
	clock_spend(ns);
}

void forget_filters(void)
{
	unsigned int i;

	for (i = 0; i < model.config.cpus; i++)
		filter_clear(&model.cpus[i].filter);
}
