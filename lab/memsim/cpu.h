/* SPDX-License-Identifier: GPL-2.0 */
/* What a CPU does apart from accesses: it appears, runs code, pauses, halts. */
#ifndef MEMSIM_CPU_H
#define MEMSIM_CPU_H

#include "api.h"

/* Find what reading registers needs. On failure @error says what QEMU lacks. */
bool cpu_open(char *error, size_t size);

/* A CPU is there. */
void on_cpu(plugin_id id, unsigned int number);

/* The running CPU comes to translated code: @data is its block_word(). */
void on_block(unsigned int translator, void *data);

/* As that, where CPUs sample instructions. */
void on_sampled_block(unsigned int translator, void *data);

/* It executes an instruction of this kind: instruction.h has them. */
void on_pause(unsigned int translator, void *data);
void on_early_pause(unsigned int translator, void *data);
void on_halt(unsigned int translator, void *data);
void on_flush_page(unsigned int translator, void *data);
void on_flush(unsigned int translator, void *data);
void on_new_space(unsigned int translator, void *data);

#endif
