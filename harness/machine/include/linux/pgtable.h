/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_PGTABLE_H
#define _MACHINE_LINUX_PGTABLE_H

#include <linux/bits.h>

#define PMD_SHIFT		21
#define PMD_SIZE		BIT(PMD_SHIFT)

/* Where the page table at an address ends, or the range does. */
static inline unsigned long pmd_addr_end(unsigned long addr, unsigned long end)
{
	unsigned long next = (addr + PMD_SIZE) & ~(PMD_SIZE - 1);

	return next < end ? next : end;
}

#endif
