/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hotness monitoring unit, as memory devices have it by the CXL specification
 * (3.2, section on CHMU): it counts requests to each unit of the device's memory, and
 * at the end of each epoch lists the units that were requested often enough.
 * What there has its name and meaning; where its registers are is this model's.
 *
 * A unit of 2^n bytes is known by its number: the device address (the offset in the
 * device's memory) divided by the unit's size. HMU_RANGE says which addresses of
 * the host the device's memory has.
 *
 * The list is a ring. The device writes at the tail, software reads at the head
 * and says how far it has come. A hot unit that finds the ring full is lost,
 * which the status says until software clears it.
 */
#ifndef MEMSIM_HMU_H
#define MEMSIM_HMU_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "device.h"

#define HMU_DEVICE	0x10f0	/* PCI device number */

/* Registers: 64 bits each. RO: writes have no effect. */
#define HMU_ID		0x00	/* RO: HMU_MAGIC */
#define HMU_CAPABILITY	0x08	/* RO: see HMU_CAP_* */
#define HMU_NODE	0x10	/* RO: number of the node whose memory it is */
#define HMU_RANGES	0x18	/* RO: how many HMU_RANGE there are */
#define HMU_UNIT	0x20	/* log2 of a unit's bytes */
#define HMU_EPOCH	0x28	/* nanoseconds */
#define HMU_THRESHOLD	0x30	/* requests in an epoch that make a unit hot */
#define HMU_SAMPLE	0x38	/* log2 of how many requests are counted as one */
#define HMU_TRACK	0x40	/* HMU_READS, HMU_WRITES */
#define HMU_CONTROL	0x48	/* HMU_ENABLE, HMU_INTERRUPT */
#define HMU_STATUS	0x50	/* HMU_ENABLE is RO, a 1 clears HMU_OVERFLOW */
#define HMU_HEAD	0x58	/* entries read: software's */
#define HMU_TAIL	0x60	/* RO: entries written: the device's */
#define HMU_LOST	0x68	/* RO: hot units that found the ring full */
#define HMU_EPOCHS	0x70	/* RO: epochs that have ended */
#define HMU_RANGE(n)	(0x100 + 16 * (n))	/* RO: first byte; then at +8 bytes */
#define HMU_LIST	0x10000	/* RO: the ring's entries */
#define HMU_BYTES	0x40000	/* of all registers */

#define HMU_MAGIC	0x31756d68746f6867ULL	/* "ghothmu1" */
#define HMU_ENTRIES	16384	/* in the ring; a power of two */

/* HMU_CAPABILITY: sizes of units from and to, log2 of entries, bits of a count. */
#define HMU_CAP_UNIT_MIN(cap)	((cap) & 0xff)
#define HMU_CAP_UNIT_MAX(cap)	((cap) >> 8 & 0xff)
#define HMU_CAP_ENTRIES(cap)	((cap) >> 16 & 0xff)
#define HMU_CAP_COUNT_BITS(cap)	((cap) >> 24 & 0xff)

#define HMU_UNIT_MIN	12
#define HMU_UNIT_MAX	21
#define HMU_COUNT_BITS	16	/* of an entry; the unit's number is above */
#define HMU_SAMPLE_MAX	10
#define HMU_EPOCH_MIN	100000ULL
#define HMU_EPOCH_MAX	1000000000ULL

#define HMU_READS	1
#define HMU_WRITES	2

#define HMU_ENABLE	1	/* counting; from 0 to 1 all counts are zero */
#define HMU_INTERRUPT	2	/* at the end of an epoch that listed something */
#define HMU_OVERFLOW	4

/**
 * struct hmu - one unit's registers and counters
 * @c: the machine
 * @node: whose requests are counted
 * @bytes: of the node's memory
 * @unit, @epoch_ns, @threshold, @sample, @track, @control: as software set them
 * @status, @head, @tail, @lost, @epochs: as software sees them
 * @requests: tracked, for @sample
 * @epoch_end: when this epoch ends
 * @tell: an epoch ended of which software is to be told
 * @count: by unit of the smallest size that there is
 * @touched: units with a count, in the order of their first request
 * @touched_n: their number
 * @list: the ring
 */
struct hmu {
	const struct config *c;
	unsigned int node;
	uint64_t bytes;
	uint64_t unit, epoch_ns, threshold, sample, track, control;
	uint64_t status, head, tail, lost, epochs;
	uint64_t requests, epoch_end;
	bool tell;
	uint32_t *count, *touched;
	uint32_t touched_n;
	uint64_t list[HMU_ENTRIES];
};

bool hmu_init(struct hmu *h, const struct config *c, unsigned int node);
void hmu_exit(struct hmu *h);

/* A line of the node is read or written at @now. */
void hmu_request(struct hmu *h, uint64_t pa, bool write, uint64_t now);

/* As a device: one per node; what there is to do next is to end the epoch. */
extern const struct device_ops hmu_ops;

#endif
