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

/*
 * What is needed each time a block runs, in one word: its memory is seldom in the
 * host's caches. The address takes 47 bits, the mode one, the instructions 16.
 */
#define BLOCK_MODE	47
#define BLOCK_COUNT	48

static inline uint64_t block_word(const struct block *b)
{
	return (uintptr_t)b | (uint64_t)b->mode << BLOCK_MODE |
	       (uint64_t)b->instructions << BLOCK_COUNT;
}

static inline struct block *block_of(uint64_t word)
{
	return (struct block *)(uintptr_t)(word & ((1ULL << BLOCK_MODE) - 1));
}

static inline enum mode block_mode(uint64_t word)
{
	return word >> BLOCK_MODE & 1;
}

static inline uint32_t block_instructions(uint64_t word)
{
	return word >> BLOCK_COUNT;
}

/* A block for good: QEMU does not say when it drops code. NULL: no memory left. */
struct block *blocks_add(uint64_t pc, uint32_t instructions);

/* No time was spent in any. */
void blocks_clear(void);

/* One line per block that took time: its address in hexadecimal, nanoseconds. */
bool blocks_write(const char *path);

#endif
