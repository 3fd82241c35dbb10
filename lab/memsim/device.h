/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a kind of modelled device is: the numbers that the guest knows it by, and
 * what its registers do. devices.h shows it to the guest.
 */
#ifndef MEMSIM_DEVICE_H
#define MEMSIM_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* PCI vendor of all; device IDs are of those that QEMU leaves to experiments. */
#define DEVICES_VENDOR	0x1af4

struct config;
struct memory;

/* The guest's memory: read or write @bytes at physical address @pa. */
typedef void (*guest_access)(uint64_t pa, void *buffer, size_t bytes, bool write);

/**
 * struct device_ops - a kind of device
 * @type: its name for QEMU's -device
 * @id: the id that -device gives it, with the node's number after it if @per_node
 * @per_node: a node may have one; otherwise the machine may
 * @device: PCI device number
 * @class: and class: 0x0801 is a DMA controller, 0x0880 another system peripheral
 * @bytes: of its registers
 * @present: whether there is one, by the machine's description; @node is 0 where
 *	     it is the machine's
 * @create: make it, with what is behind its registers; NULL: no memory left
 * @size: bytes of the register at an offset; NULL: all have 8
 * @read: what a register says
 * @write: software sets a register
 * @vectors: how many interrupts it can tell apart, by the description; NULL: one
 * @advance: do what is due by @now; a bit for each interrupt that software is to have
 * @next: when there is something to do next, in ns; 0: never
 */
struct device_ops {
	const char *type, *id;
	bool per_node;
	uint16_t device, class;
	uint64_t bytes;
	bool (*present)(const struct config *c, unsigned int node);
	void *(*create)(struct memory *m, unsigned int node, guest_access access);
	unsigned int (*size)(uint64_t offset);
	uint64_t (*read)(const void *model, uint64_t offset);
	void (*write)(void *model, uint64_t offset, uint64_t value, uint64_t now);
	unsigned int (*vectors)(const struct config *c);
	uint64_t (*advance)(void *model, uint64_t now);
	uint64_t (*next)(const void *model);
};

#endif
