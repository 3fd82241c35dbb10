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

/*
 * Have QEMU know the devices of @c. @spend is told what an access to a register
 * costs. On failure @error says what this QEMU lacks.
 */
bool devices_init(const struct config *c, struct memory *m,
		  void (*spend)(uint32_t ns), char *error, size_t size);

#endif
