/* SPDX-License-Identifier: GPL-2.0 */
/* The guest's physical memory. */
#ifndef MEMSIM_GUEST_H
#define MEMSIM_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Find how to access it. On failure @error says what this QEMU lacks. */
bool guest_open(char *error, size_t size);

/* Read or write @bytes at physical address @pa. */
void guest_access_memory(uint64_t pa, void *buffer, size_t bytes, bool write);

/* 64 bits at @pa. */
uint64_t guest_read(uint64_t pa);

/* Change an entry of the page tables, where the emulator looks for no code. */
void guest_write_entry(uint64_t pa, uint64_t value);

#endif
