/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest's clock. QEMU counts instructions, one nanosecond each, and adds a
 * bias to get the time that the guest sees; what an access costs is added to
 * that bias.
 *
 * QEMU runs CPUs in turns on one thread. Between clock_parallel() and
 * clock_together() each CPU has a clock of its own: when it gets its turn the bias
 * is set so that time goes on where it was for this CPU. One that is ahead of the
 * slowest gives way before it has executed anything, so no two running CPUs' clocks
 * are further apart than a turn and what one block of code takes. A CPU that was
 * halted wakes at the time of the slowest that runs, if that is later than its own.
 */
#ifndef MEMSIM_CLOCK_H
#define MEMSIM_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Find QEMU's clock. On failure @error says what is wrong with this QEMU. */
bool clock_open(int api, char *error, size_t size);

/* A CPU is there. False if its clock is not what it should be. */
bool clock_add_cpu(unsigned int cpu, char *error, size_t size);

/* The thread of the CPUs is about to execute something: gate.h. */
void clock_alone(void);

/*
 * A CPU is about to execute a block of @instructions, from whose start, at @code,
 * this is called. Returns which CPU it is. Does not return if its turn is over: all
 * is then as if QEMU had not come here.
 */
unsigned int clock_block(uint32_t instructions, const void *code);

/* The CPU that runs now. Callbacks are told the one that translated the code. */
unsigned int clock_cpu(void);

/* The running CPU's time, in nanoseconds. */
int64_t clock_now(void);

/* Between turns: the time of the CPU that is furthest behind. */
int64_t clock_shared(void);

/* The running CPU spends @ns on memory. */
void clock_spend(uint32_t ns);

/* The running CPU executes a PAUSE that takes @ns; QEMU goes on to the next CPU. */
void clock_pause(uint32_t ns);

/* The running CPU halts until an interrupt. */
void clock_halt(void);

/* From now on each CPU has its own clock, and each block is told to this. */
void clock_parallel(void);

/* From now on all have one clock, which goes on where the foremost one's was. */
void clock_together(void);

/* How far a CPU that was let run was ahead of the slowest at most. */
int64_t clock_apart(void);

#endif
