/* SPDX-License-Identifier: GPL-2.0 */
/* The registers of a hotness monitoring unit: what they say, and what writing does. */
#ifndef MEMSIM_HMU_REGISTERS_H
#define MEMSIM_HMU_REGISTERS_H

#include "hmu.h"

/* The node's ranges, one after the other; NULL: there are no more. */
const struct range *hmu_range(const struct hmu *h, uint64_t n);

/* Length of an epoch by CFG1; 0: there is no such scale. */
uint64_t hmu_epoch_ns(uint64_t cfg1);

/* Is it one that the unit's capabilities have? */
bool hmu_can(const struct hmu_instance *i);

/* Head and tail have 16 bits, all else 64. */
unsigned int hmu_size(uint64_t offset);
uint64_t hmu_read(const void *model, uint64_t offset);
void hmu_write(void *model, uint64_t offset, uint64_t value, uint64_t now);

#endif
