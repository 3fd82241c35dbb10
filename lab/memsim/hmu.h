/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hotness monitoring unit, as memory devices have it by the CXL specification
 * (3.2, section on CHMU): it counts requests to each unit of the device's memory, and
 * lists the units that were requested often enough. The driver's own header says
 * what its registers are.
 *
 * Memory is addressed as the device knows it: the node's ranges, one after the other.
 * Where the host has them stands beside the registers, as hmu_pci.h says.
 *
 * Each instance of the unit has settings, counters and a hotlist of its own. It counts
 * what its bitmap of ranges has. Settings that it cannot do leave it disabled.
 */
#ifndef MEMSIM_HMU_H
#define MEMSIM_HMU_H

#include <stdbool.h>
#include <stdint.h>

#include "../../linux/mm/pghot/source/chmu_regs.h"
#include "../../linux/mm/pghot/source/hmu_pci.h"
#include "config.h"
#include "device.h"

#define HMU_INSTANCES	2
#define HMU_ENTRIES	16384	/* of a hotlist */
#define HMU_COUNT_BITS	16
#define HMU_UNITS	0xffffffULL	/* 256 bytes to 2 GiB */
#define HMU_SAMPLINGS	0x7ffULL	/* up to one of 1024 */
#define HMU_OPERATION_NS	20000	/* to enable, to disable, to reset */

/* Where things are in the region. */
#define HMU_CHMU	0x1000
#define HMU_INSTANCE(n)	(HMU_CHMU + CHMU_COMMON_BYTES + (n) * CHMU_INSTANCE_BYTES)
#define HMU_WORDS	32	/* of a bitmap: 512 GiB */
#define HMU_BITMAP(n)	(0x2000 + (n) * HMU_WORDS * 8)
#define HMU_HOTLIST(n)	(0x10000 + (n) * HMU_ENTRIES * CHMU_ENTRY_BYTES)

/* A field of a register, which is a mask, and a register with just that field. */
#define HMU_GET(field, value)	(((value) & (field)) / ((field) & -(field)))
#define HMU_SET(field, value)	((uint64_t)(value) * ((field) & -(field)) & (field))

/**
 * struct hmu_instance - one instance's registers and counters
 * @cfg: as software set them
 * @bitmap: ranges that are counted
 * @enabled, @overflow, @filled, @head, @tail: as software sees them
 * @operation: in progress until @operation_end
 * @unit, @epoch_ns, @threshold: of the settings that it was enabled with
 * @requests: tracked, for sampling
 * @epoch_end: when this epoch ends
 * @interrupt: one is due
 * @count: by unit; room for the smallest that there is
 * @touched: units with a count, in the order of their first request
 * @touched_n: their number
 * @list: the hotlist
 */
struct hmu_instance {
	uint64_t cfg[3];
	uint64_t bitmap[HMU_WORDS];
	bool enabled, overflow, filled;
	uint32_t head, tail;
	unsigned int operation;
	uint64_t operation_end;
	unsigned int unit;
	uint64_t epoch_ns, threshold;
	uint64_t requests, epoch_end;
	bool interrupt;
	uint32_t *count, *touched;
	uint32_t touched_n;
	uint64_t list[HMU_ENTRIES];
};

/**
 * struct hmu - the unit of a node
 * @c: the machine
 * @node: whose requests are counted
 * @bytes: of the node's memory
 * @enabled: how many instances are
 * @instance: each of them
 */
struct hmu {
	const struct config *c;
	unsigned int node;
	uint64_t bytes;
	unsigned int enabled;
	struct hmu_instance instance[HMU_INSTANCES];
};

bool hmu_init(struct hmu *h, const struct config *c, unsigned int node);
void hmu_exit(struct hmu *h);

/* A line of the node is read or written at @now. */
void hmu_request(struct hmu *h, uint64_t pa, bool write, uint64_t now);

/* As a device: one per node, and a vector for each instance. */
extern const struct device_ops hmu_ops;

#endif
