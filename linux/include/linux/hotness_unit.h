/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CXL hotness monitoring units: what a driver that finds one hands to pghot, which
 * runs it. See "Hotness units" in Documentation/mm/pghot.rst.
 */
#ifndef _LINUX_HOTNESS_UNIT_H
#define _LINUX_HOTNESS_UNIT_H

#include <linux/err.h>
#include <linux/types.h>

struct device;
struct hotness_unit;

/**
 * struct hotness_unit_info - a unit that a driver has found
 * @dev: the device; for messages
 * @regs: its registers, from the common ones on
 * @bytes: how many are mapped there, bitmaps and hotlists included
 * @memory: bytes of the device's memory
 * @irq: the interrupt of one of its vectors, or a negative error; may be NULL: then
 *	 it is polled
 * @translate: where the host has a page of the device's memory: sets @pfn to it, and
 *	       @pages to how many follow one another from there on. False: nowhere.
 *	       A page of its memory has to be one of the host's: a driver adds no unit
 *	       of memory that is interleaved in smaller pieces
 *	       May be called in process context until hotness_unit_remove() returns
 * @data: for both
 */
struct hotness_unit_info {
	struct device *dev;
	void __iomem *regs;
	u64 bytes;
	u64 memory;
	int (*irq)(void *data, unsigned int vector);
	bool (*translate)(void *data, u64 page, unsigned long *pfn, u64 *pages);
	void *data;
};

#ifdef CONFIG_PGHOT_HOTNESS_UNIT

struct hotness_unit *hotness_unit_add(const struct hotness_unit_info *info);
void hotness_unit_remove(struct hotness_unit *unit);

#else

static inline struct hotness_unit *
hotness_unit_add(const struct hotness_unit_info *info)
{
	return ERR_PTR(-ENODEV);
}

static inline void hotness_unit_remove(struct hotness_unit *unit)
{
}

#endif

#endif /* _LINUX_HOTNESS_UNIT_H */
