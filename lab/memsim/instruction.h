/* SPDX-License-Identifier: GPL-2.0 */
/* Instructions that the model has to know of, told from their bytes. */
#ifndef MEMSIM_INSTRUCTION_H
#define MEMSIM_INSTRUCTION_H

#include <stdbool.h>
#include <stdint.h>

/* The longest instruction, and a zero after it. */
#define INSTRUCTION_ROOM	16

enum event_kind {
	EVENT_NONE,
	EVENT_HYPERCALL,	/* the value is its number */
	EVENT_PAUSE,
	EVENT_HALT,
	EVENT_NEW_SPACE,	/* mov to CR3; the value is the general register */
	EVENT_FLUSH_PAGE,	/* invlpg; the value is the register with its address */
	EVENT_FLUSH,		/* invlpg otherwise, invpcid, mov to CR4: all translations */
	EVENT_KINDS,
};

/**
 * struct event - what an instruction does
 * @kind: which of those that the model has to know of
 * @value: as its kind says; otherwise 0
 */
struct event {
	enum event_kind kind;
	unsigned int value;
};

/* @bytes has INSTRUCTION_ROOM: the instruction, then zeroes. */
struct event event_of(const uint8_t *bytes);

/*
 * Whether it takes a line for itself before it reads it, as locked instructions do:
 * one request, where a load and a store would be two.
 */
bool instruction_owns(const uint8_t *bytes);

#endif
