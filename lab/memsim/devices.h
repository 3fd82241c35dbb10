/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Modelled devices as the guest sees them: PCI devices whose region 2 has a
 * model's registers, and which send MSI 0. Those with several interrupts
 * have MSI-X too, its table in region 4: what is switched on of the two is used. They
 * stand on QEMU's device "edu", which brings all that a PCI device must have.
 *
 *	-device TYPE,id=ID	one device
 *	-device TYPE,id=IDn	the one of node n
 *
 * struct device_ops says what TYPE and ID are.
 */
#ifndef MEMSIM_DEVICES_H
#define MEMSIM_DEVICES_H

#include "device.h"
#include "memory.h"

/*
 * Have QEMU know the devices that @m->c describes, of @kinds: NULL is after the last.
 * @wait is called where the running CPU accesses a register, which costs so much.
 * On failure @error says what is wrong, or what this QEMU lacks.
 */
bool devices_init(struct memory *m, const struct device_ops *const *kinds,
		  void (*wait)(uint32_t ns), char *error, size_t size);

#endif
