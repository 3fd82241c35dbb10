/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A CPU's instruction based sampling of ops, as AMD's manuals describe it (Architecture
 * Programmer's Manual, volume 2, "Instruction-Based Sampling", and the processor
 * programming reference of family 19h, model 11h): a counter of ops or of cycles; when
 * it has come to its maximum the next op is tagged, and what that did is shown in
 * registers, with an interrupt. Sampling of fetches is not there: its registers hold what
 * is written and do nothing.
 *
 * The model has one op per instruction, a cycle per nanosecond, and one access that counts
 * per instruction, the first.
 */
#ifndef MEMSIM_IBS_H
#define MEMSIM_IBS_H

#include <stdbool.h>
#include <stdint.h>

/* Model specific registers from the first one's number on. */
#define IBS_FIRST	0xc0011030U
#define IBS_REGISTERS	16
enum ibs_register {
	IBS_OP_CTL = 3,
	IBS_OP_RIP,
	IBS_OP_DATA,
	IBS_OP_DATA2,
	IBS_OP_DATA3,
	IBS_DC_LIN_AD,
	IBS_DC_PHYS_AD,
	IBS_CTL,
};

/* Of IBS_OP_CTL. The maximum has its lower 4 bits, which are zero, left out. */
#define IBS_MAX_LOW		0xffffULL
#define IBS_L3_MISS_ONLY	(1ULL << 16)
#define IBS_ENABLE		(1ULL << 17)
#define IBS_VALID		(1ULL << 18)
#define IBS_COUNTS_OPS		(1ULL << 19)
#define IBS_MAX_HIGH		(0x7fULL << 20)
#define IBS_COUNT_SHIFT		32
#define IBS_COUNT_BITS		27

/* Of IBS_OP_DATA. */
#define IBS_RIP_INVALID		(1ULL << 38)

/* Of IBS_OP_DATA2, where the data came from: three bits here and two at IBS_SOURCE_HIGH. */
#define IBS_REMOTE		(1ULL << 4)
#define IBS_CLEAN		(1ULL << 5)
#define IBS_SOURCE_HIGH		6
enum ibs_source {
	IBS_NOWHERE = 0,
	IBS_CACHE = 1,
	IBS_DRAM = 3,
	IBS_FAR_CACHE = 5,
	IBS_DEVICE = 7,
	IBS_EXTENSION = 8,
};

/* Of IBS_OP_DATA3. */
#define IBS_LOAD		(1ULL << 0)
#define IBS_STORE		(1ULL << 1)
#define IBS_TLB_MISS		(1ULL << 2)
#define IBS_TLB_WALK		(1ULL << 3)
#define IBS_DC_MISS		(1ULL << 7)
#define IBS_UNCACHED		(1ULL << 14)
#define IBS_LOCKED		(1ULL << 15)
#define IBS_LINEAR		(1ULL << 17)
#define IBS_PHYSICAL		(1ULL << 18)
#define IBS_L2_MISS		(1ULL << 20)
#define IBS_WIDTH_SHIFT		22
#define IBS_LATENCY_SHIFT	32
#define IBS_REFILL_SHIFT	48

/* Of IBS_CTL: which of the interrupt controller's extended vectors is used, and that it is. */
#define IBS_VECTOR		0
#define IBS_VECTOR_VALID	(1ULL << 8)

/* CPUID: the bit in ECX of leaf 0x80000001, and what leaf 0x8000001b says. */
#define IBS_FEATURE		(1U << 10)
#define IBS_LEAF		0x8000001bU
#define IBS_ABILITIES							\
	(1U << 0 /* what follows is valid */ | 1U << 2 /* ops */ |	\
	 1U << 3 /* the count can be written */ | 1U << 4 /* of ops */ |	\
	 1U << 6 /* high bits of the maximum */ | 1U << 7 /* RIP_INVALID */ |	\
	 1U << 11 /* L3_MISS_ONLY, and sources as above */)

/**
 * struct ibs - of one CPU
 * @reg: what the registers hold; the count in IBS_OP_CTL is in @count
 * @count: of ops or cycles
 * @since: until when cycles are in @count
 * @random: state of random numbers
 * @tagged: which instruction of the block under way is tagged, from 1; 0: none
 * @left: how many come after that one
 * @samples: made
 * @filtered: ops that were tagged and are not shown, by L3_MISS_ONLY
 *
 * IBS_OP_CTL with a maximum of zero counts nothing.
 */
struct ibs {
	uint64_t reg[IBS_REGISTERS], count, random;
	int64_t since;
	uint32_t tagged, left;
	uint64_t samples, filtered;
};

/**
 * struct ibs_access - what a tagged instruction's access was
 * @rip: the instruction's address
 * @linear: address that is accessed
 * @physical: and where that is
 * @has_physical: which is known
 * @source: where the data came from; IBS_NOWHERE: the CPU's own cache
 * @remote: of another socket
 * @store: it is a store
 * @locked: it loads and stores what is not to be divided
 * @uncached: no memory is there, but a device
 * @walked: no level had the translation
 * @bytes_shift: logarithm of its bytes
 * @ns: what it cost, without what is next
 * @refill_ns: what its translation cost
 */
struct ibs_access {
	uint64_t rip, linear, physical;
	enum ibs_source source;
	bool has_physical, remote, store, locked, uncached, walked;
	unsigned int bytes_shift;
	uint64_t ns, refill_ns;
};

/* All as after a reset; @seed makes a CPU's random numbers its own. */
void ibs_init(struct ibs *s, unsigned int seed);

/* Whether the model specific register @number is one of these. */
bool ibs_has(uint32_t number);

/* Software reads and writes one at @now, in nanoseconds. */
uint64_t ibs_read(struct ibs *s, uint32_t number, int64_t now);
void ibs_write(struct ibs *s, uint32_t number, uint64_t value, int64_t now);

/* The CPU comes to @instructions in a row; true: a sample is there, and its interrupt due. */
bool ibs_block(struct ibs *s, uint32_t instructions, int64_t now);

/* The CPU halts, and executes no cycles until its next block. */
void ibs_halt(struct ibs *s, int64_t now);

/* Whether number @instruction of those, from 1, is tagged. */
static inline bool ibs_tagged(const struct ibs *s, uint32_t instruction)
{
	return s->tagged == instruction;
}

/* The tagged instruction has made its access; true as above. */
bool ibs_access(struct ibs *s, const struct ibs_access *a, int64_t now);

#endif
