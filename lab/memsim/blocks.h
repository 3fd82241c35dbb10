/* SPDX-License-Identifier: GPL-2.0 */
/* Translated code, and the time that is spent in it: the profile. */
#ifndef MEMSIM_BLOCKS_H
#define MEMSIM_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "results.h"

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

/* A block for good: QEMU does not say when it drops code. NULL: no memory left. */
struct block *blocks_add(uint64_t pc, uint32_t instructions);

/* No time was spent in any. */
void blocks_clear(void);

/* One line per block that took time: its address in hexadecimal, nanoseconds. */
bool blocks_write(const char *path);

#endif
