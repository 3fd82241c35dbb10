/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an access costs the CPU that does it. It is translated first (tlb.h). In front
 * of the model each CPU has a small filter by physical address, for the levels of
 * cache that are its own. The two keep most accesses from being looked up at all.
 */
#ifndef MEMSIM_ACCESS_H
#define MEMSIM_ACCESS_H

#include "api.h"

/* The running CPU loads from @vaddr. */
void on_load(unsigned int translator, mem_info info, uint64_t vaddr, void *data);

/* The running CPU stores to @vaddr. */
void on_store(unsigned int translator, mem_info info, uint64_t vaddr, void *data);

/*
 * As these, where CPUs sample instructions: @data is the access_word() of the
 * instruction.
 */
void on_sampled_load(unsigned int translator, mem_info info, uint64_t vaddr, void *data);
void on_sampled_store(unsigned int translator, mem_info info, uint64_t vaddr,
		      void *data);

/* The running CPU waits @ns for a modelled device. */
void wait_for_device(uint32_t ns);

/* No CPU knows any translation, nor follows a sequence. */
void forget_all(void);

#endif
