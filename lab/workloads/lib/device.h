/* SPDX-License-Identifier: GPL-2.0 */
/* The memory model's devices, from user space: registers, and physical addresses. */
#ifndef DEVICE_H
#define DEVICE_H

#include "workload.h"

/**
 * struct device - a PCI device of the model
 * @registers: its region 2
 * @config: its configuration space, open
 * @vectors: its region 4 with the table of MSI-X, open; -1: it has none
 */
struct device {
	volatile uint64_t *registers;
	int config, vectors;
};

/* The @n-th device with this number, counting from 0; ends where there is none. */
struct device device_open(uint16_t number, unsigned int n, size_t bytes);

static inline uint64_t device_read(const struct device *d, uint64_t offset)
{
	return d->registers[offset / sizeof(uint64_t)];
}

static inline void device_write(const struct device *d, uint64_t offset,
				uint64_t value)
{
	d->registers[offset / sizeof(uint64_t)] = value;
}

/* Registers of 16 bits. */
static inline uint16_t device_read_half(const struct device *d, uint64_t offset)
{
	return ((volatile uint16_t *)d->registers)[offset / sizeof(uint16_t)];
}

static inline void device_write_half(const struct device *d, uint64_t offset,
				     uint16_t value)
{
	((volatile uint16_t *)d->registers)[offset / sizeof(uint16_t)] = value;
}

/*
 * Send the device's interrupts to CPU 0 as if another CPU asked it to reschedule: a
 * vector that the kernel takes from anybody, and counts.
 */
void device_interrupts(const struct device *d);

/* Likewise by MSI-X: the first @n vectors, one after the other to @cpus CPUs from 0 on. */
void device_vectors(const struct device *d, unsigned int n, unsigned int cpus);

/* How many of those CPU @cpu has had. */
uint64_t device_interrupted(unsigned int cpu);

/* Memory of one node that stays where it is. */
void *device_memory(size_t bytes, int node);

/* Physical address of what is mapped at @p. */
uint64_t device_address(const void *p);

#endif
