/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The PCI device that the memory model has for each node with a hotness monitoring
 * unit. Its region 2 stands for what a CXL device says elsewhere: where the unit's
 * registers are (register locator), and where the host has the device's memory
 * (decoders). The unit itself is as chmu_regs.h says. Plain, as that header is.
 */
#ifndef _MM_PGHOT_HMU_PCI_H
#define _MM_PGHOT_HMU_PCI_H

#define HMU_PCI_VENDOR	0x1af4	/* device numbers from 0x10f0 on are for experiments */
#define HMU_PCI_DEVICE	0x10f0
#define HMU_PCI_BAR	2
#define HMU_PCI_BYTES	0x80000	/* of the region */

/* All are read-only and have 64 bits. */
#define HMU_PCI_ID	0x00
#define   HMU_PCI_MAGIC	0x32756d68746f6867ULL	/* "ghothmu2" */
#define HMU_PCI_NODE	0x08	/* of whose memory it is */
#define HMU_PCI_CHMU	0x10	/* where the unit's registers begin */
#define HMU_PCI_RANGES	0x18	/* how many there are of these, one after the other: */
#define HMU_PCI_RANGE(n)	(0x100 + 16 * (n))	/* address in the host, then bytes */
#define HMU_PCI_RANGES_MAX	64

#endif /* _MM_PGHOT_HMU_PCI_H */
