/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a program in the guest may ask of the memory model. A hypercall is a
 * long NOP with a mark in its displacement: a machine without the model, real
 * or emulated, takes no notice of it.
 */
#ifndef MEMSIM_HYPERCALL_H
#define MEMSIM_HYPERCALL_H

#define MEMSIM_BEGIN	1	/* the measured part, or it begins anew: empty caches, zero counters */
#define MEMSIM_END	2	/* its end: the results are written */
#define MEMSIM_PHASE	16	/* to 23: snapshot number 0 to 7 of the counters */
#define MEMSIM_PHASES	8

/* nopl mark(%rax,%rax,1): 0f 1f 84 00, the operation, "MEM". */
#define MEMSIM_NOP	0x0f, 0x1f, 0x84, 0x00
#define MEMSIM_STRING(...)	#__VA_ARGS__
#define MEMSIM_BYTES(...)	".byte " MEMSIM_STRING(__VA_ARGS__)

#ifdef __x86_64__
#define memsim_call(op)							\
	__asm__ volatile(MEMSIM_BYTES(MEMSIM_NOP) ", %c0, 0x4d, 0x45, 0x4d" \
			 : : "i" (op) : "memory")
#else
#define memsim_call(op) ((void)(op))
#endif

#endif
