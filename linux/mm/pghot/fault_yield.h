/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether hint faults tell of what is hot, by area of memory. No kernel state.
 */
#ifndef _MM_PGHOT_FAULT_YIELD_H
#define _MM_PGHOT_FAULT_YIELD_H

#include <linux/bits.h>
#include <linux/types.h>

/* 8 MiB of 4 KiB pages: what a few faults say of some they say of the others. */
#define PGHOT_YIELD_ORDER	11
/* Of 64 GiB each has its own; those that are so far apart count together. */
#define PGHOT_YIELD_AREAS	BIT(13)
/* By which power of two fewer pages are unmapped, at most. */
#define PGHOT_YIELD_HELD_MAX	4U

/* Of how often its page is used, by how soon a hint fault comes. */
enum pghot_fault_says {
	PGHOT_FAULT_NOTHING,	/* it may be the first use of many */
	PGHOT_FAULT_SELDOM,
	PGHOT_FAULT_OFTEN,
};

/**
 * struct pghot_fault_yield - what hint faults told, by area
 * @futile: how many told nothing, less those that did, and one more; 0 if nobody has yet
 * @slot: when the last one counted
 * @all: as @futile of all areas together, but not one more
 * @all_slot: when the last one counted for that
 *
 * All zero to begin with. CPUs that count at once may lose a fault.
 */
struct pghot_fault_yield {
	u8 futile[PGHOT_YIELD_AREAS];
	u16 slot[PGHOT_YIELD_AREAS];
	u8 all;
	u16 all_slot;
};

extern struct pghot_fault_yield pghot_fault_yield;

enum pghot_fault_says pghot_fault_says(u32 latency_ms, u32 ref_ms);
u16 pghot_fault_slot(u64 now_ns, u32 ref_ms);
u32 pghot_yield_held(const struct pghot_fault_yield *y, unsigned long pfn);
void pghot_yield_fault(struct pghot_fault_yield *y, unsigned long pfn,
		       enum pghot_fault_says says, u16 slot);
void pghot_yield_found(struct pghot_fault_yield *y, unsigned long pfn);

#endif /* _MM_PGHOT_FAULT_YIELD_H */
