/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CPUs that sample instructions (ibs.h), as the guest sees them: what CPUID says,
 * registers, the vector in the interrupt controller, and the NMI. Samples are taken where
 * the model sees accesses: in the measured part.
 */
#ifndef MEMSIM_SAMPLING_H
#define MEMSIM_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ibs.h"
#include "results.h"

/*
 * Where the machine has it, have the guest see it. On failure @error says what this QEMU
 * lacks.
 */
bool sampling_open(char *error, size_t size);

/* Nothing was counted yet. */
void sampling_clear(void);

/* What was counted goes to @r. */
void sampling_count(struct results *r);

/*
 * What has to be known of an instruction in a block when it accesses memory, in one
 * word: its number from 1, whether it takes the line to write it, its distance from the
 * block's address.
 */
#define ACCESS_OWNS	15
#define ACCESS_OFFSET	16

/*
 * QEMU executes an access to a device once more, as a block of one instruction that it
 * does not tell of: the last block is still that in which this is another number.
 */
#define ACCESS_UNTAGGED	((1U << ACCESS_OWNS) - 1)

static inline uint64_t access_word(uint32_t number, bool owns, uint64_t offset,
				   size_t instructions)
{
	if (instructions == 1)
		number = ACCESS_UNTAGGED;
	return number | (uint64_t)owns << ACCESS_OWNS | offset << ACCESS_OFFSET;
}

static inline uint32_t access_number(uint64_t word)
{
	return word & ((1U << ACCESS_OWNS) - 1);
}

static inline bool access_owns(uint64_t word)
{
	return word >> ACCESS_OWNS & 1;
}

static inline uint64_t access_offset(uint64_t word)
{
	return word >> ACCESS_OFFSET;
}

extern struct ibs samplers[];

/* Whether number @instruction of the block that CPU @cpu is in is tagged. */
static inline bool sampling_tagged(unsigned int cpu, uint32_t instruction)
{
	return ibs_tagged(&samplers[cpu], instruction);
}

/* CPU @cpu comes to a block; true: it is interrupted after that. */
bool sampling_block(unsigned int cpu, uint32_t instructions);

/* CPU @cpu halts. */
void sampling_halt(unsigned int cpu);

/* The tagged instruction's access is done; true as above. */
bool sampling_access(unsigned int cpu, const struct ibs_access *a);

#endif
