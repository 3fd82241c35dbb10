/* SPDX-License-Identifier: GPL-2.0 */
/* The machine as the plugin's parts share it: its memory, its CPUs, what was counted. */
#ifndef MEMSIM_MODEL_H
#define MEMSIM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "blocks.h"
#include "config.h"
#include "filter.h"
#include "memory.h"
#include "pages.h"
#include "results.h"
#include "tlb.h"

/**
 * struct cpu - what the plugin knows of a CPU
 * @number: of it
 * @own: the cache of its own
 * @tlb: its translations
 * @streams: sequences under way
 * @block: the code it runs
 * @count: what it does
 * @row: its socket
 * @space: address of its page tables
 */
struct cpu {
	struct tlb tlb;
	struct streams streams;
	struct block *block;
	struct mode_count *count;
	struct filter *own;
	unsigned int number, row;
	uint64_t space;
};

/**
 * struct model - everything
 * @config: the machine's description
 * @memory: caches and nodes
 * @pages: of the guest's programs
 * @results: of the measured part
 * @cpus: by number
 * @measuring: the guest is in its measured part
 */
struct model {
	struct config config;
	struct memory memory;
	struct pages pages;
	struct results results;
	struct cpu cpus[MAX_CPUS];
	bool measuring;
};

extern struct model model;

/* @cpu spends @ns; who calls this has the clock know it too. */
static inline void charge(struct cpu *cpu, uint32_t ns)
{
	cpu->count->ns += ns;
	if (model.config.profile && model.measuring)
		cpu->block->ns += ns;
}

#endif
