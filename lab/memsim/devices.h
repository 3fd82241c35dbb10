/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Modelled devices as the guest sees them: PCI devices whose region 2 has a
 * model's registers, 64 bits each, and which send MSI 0. They stand on QEMU's
 * device "edu", which brings all that a PCI device must have.
 *
 *	-device memsim-hmu,id=hmuN	a hotness monitoring unit of node N
 *	-device memsim-dma,id=dma	the copy engine
 *
 * PCI IDs are of those that QEMU's documentation leaves to experiments.
 */
#ifndef MEMSIM_DEVICES_H
#define MEMSIM_DEVICES_H

#include "memory.h"

#define DEVICES_VENDOR	0x1af4
#define HMU_DEVICE	0x10f0
#define DMA_DEVICE	0x10f1

/**
 * struct device_calls - what devices have the rest do
 * @spend: the running CPU accesses a register, which costs so much
 * @written: a device has written to memory, of which CPUs' own caches know nothing
 */
struct device_calls {
	void (*spend)(uint32_t ns);
	void (*written)(void);
};

/* Have QEMU know the devices of @c. On failure @error says what this QEMU lacks. */
bool devices_init(const struct config *c, struct memory *m,
		  const struct device_calls *calls, char *error, size_t size);

#endif
