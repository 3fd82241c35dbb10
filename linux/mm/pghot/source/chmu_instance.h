/* SPDX-License-Identifier: GPL-2.0 */
/* One instance of a hotness monitoring unit: to set it up and to read its hotlist. */
#ifndef _MM_PGHOT_CHMU_INSTANCE_H
#define _MM_PGHOT_CHMU_INSTANCE_H

#include <linux/compiler_types.h>
#include <linux/types.h>

#include "chmu.h"

struct hotness_unit_info;

/**
 * struct chmu_instance - one instance
 * @regs: its registers
 * @bitmap: its bitmap of ranges
 * @hotlist: its hotlist
 * @caps: what it can do
 * @count_bits: of an entry; 0 before it was first set up
 * @words: of the bitmap that are used
 * @first: range that it counts first
 * @end: range after the last one; @first if it has nothing to count
 * @setup: how it was set up last
 * @running: it was told to count
 */
struct chmu_instance {
	void __iomem *regs;
	void __iomem *bitmap;
	void __iomem *hotlist;
	struct chmu_caps caps;
	unsigned int count_bits;
	u64 words;
	u64 first;
	u64 end;
	struct chmu_setup setup;
	bool running;
};

int chmu_instances(const struct hotness_unit_info *info);
int chmu_instance_init(struct chmu_instance *i,
		       const struct hotness_unit_info *info, unsigned int n,
		       unsigned int of);
int chmu_instance_start(struct chmu_instance *i, u32 epoch_us, u32 threshold);
void chmu_instance_stop(struct chmu_instance *i);
u64 chmu_instance_acknowledge(struct chmu_instance *i);
u32 chmu_instance_waiting(struct chmu_instance *i);
u32 chmu_instance_drop(struct chmu_instance *i);
u32 chmu_instance_read(struct chmu_instance *i, u64 *entries, u32 nr);

#endif /* _MM_PGHOT_CHMU_INSTANCE_H */
