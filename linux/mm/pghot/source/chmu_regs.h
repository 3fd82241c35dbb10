/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers of a CXL hotness monitoring unit (CHMU; CXL 3.2, "CXL Hotness
 * Monitoring Unit Register Interface"). This header is all that is said of their
 * layout: the memory model that pghot is tested with is built from it too. So it
 * uses nothing of the kernel; fields are plain masks.
 *
 * It follows public descriptions of the interface and has not been held against a
 * device. What these leave open, and is decided here: offsets are from the first
 * byte of the instance's registers; a unit of memory is configured by the logarithm
 * of its size; an index counts entries and wraps at the hotlist's size, and a hotlist
 * is full with one entry less than its size, empty where both indices are equal.
 */
#ifndef _MM_PGHOT_CHMU_REGS_H
#define _MM_PGHOT_CHMU_REGS_H

/* --- common: 64 bits each, from the first byte on ------------------------ */

#define CHMU_COMMON_CAP0		0x00
#define   CHMU_COMMON_VERSION		0x000000000000000fULL
#define   CHMU_COMMON_INSTANCES		0x000000000000ff00ULL
#define CHMU_COMMON_CAP1		0x08
#define   CHMU_COMMON_INSTANCE_BYTES	0x000000000000ffffULL
#define CHMU_COMMON_BYTES		0x10

/* --- of each instance, which follow one another after the common ones ---- */

#define CHMU_CAP0			0x00
#define   CHMU_CAP0_VECTOR		0x000000000000000fULL /* MSI */
#define   CHMU_CAP0_OVERFLOW_IRQ	0x0000000000000010ULL
#define   CHMU_CAP0_FILL_IRQ		0x0000000000000020ULL
/* A bit for each CHMU_TRACK_ value: value 1 is the lowest bit. */
#define   CHMU_CAP0_TRACK		0x0000000000003f00ULL
#define   CHMU_CAP0_EPOCH_MAX_SCALE	0x00000000000f0000ULL
#define   CHMU_CAP0_EPOCH_MAX_COUNT	0x00000000fff00000ULL
#define   CHMU_CAP0_EPOCH_MIN_SCALE	0x0000000f00000000ULL
#define   CHMU_CAP0_EPOCH_MIN_COUNT	0x0000fff000000000ULL
#define   CHMU_CAP0_ENTRIES		0xffff000000000000ULL /* of the hotlist */
#define CHMU_CAP1			0x08
/* Bit n: units of 256 << n bytes, up to 2 GiB. */
#define   CHMU_CAP1_UNITS		0x00000000ffffffffULL
/* Bit n: one of 2^n requests is counted. */
#define   CHMU_CAP1_SAMPLING		0x0000ffff00000000ULL
#define   CHMU_CAP1_BY_EPOCH		0x0001000000000000ULL
#define   CHMU_CAP1_ALWAYS_ON		0x0002000000000000ULL
#define   CHMU_CAP1_RANDOM		0x0004000000000000ULL
/* Instances may track the same addresses. */
#define   CHMU_CAP1_OVERLAP		0x0008000000000000ULL
/* Where its bitmap of ranges and its hotlist are. */
#define CHMU_BITMAP_OFFSET		0x10
#define CHMU_HOTLIST_OFFSET		0x18

/* Configuration: for while it is disabled, but for ENABLE and RESET. */
#define CHMU_CFG0			0x40
#define   CHMU_CFG0_TRACK		0x00000000000000ffULL
#define   CHMU_CFG0_RANDOM		0x0000000000000100ULL
#define   CHMU_CFG0_OVERFLOW_IRQ	0x0000000000000200ULL
#define   CHMU_CFG0_FILL_IRQ		0x0000000000000400ULL
#define   CHMU_CFG0_ENABLE		0x0000000000010000ULL
/* Counters, and maybe the hotlist and what STATUS has set; reads 0. */
#define   CHMU_CFG0_RESET		0x0000000000020000ULL
#define   CHMU_CFG0_THRESHOLD		0xffffffff00000000ULL
#define CHMU_CFG1			0x48
#define   CHMU_CFG1_UNIT		0x00000000ffffffffULL /* log2 of bytes */
#define   CHMU_CFG1_SAMPLING		0x0000000f00000000ULL /* log2 */
#define   CHMU_CFG1_MODE		0x0000ff0000000000ULL
#define   CHMU_CFG1_EPOCH_SCALE		0x000f000000000000ULL
#define   CHMU_CFG1_EPOCH_COUNT		0xfff0000000000000ULL
#define CHMU_CFG2			0x50
/* So many entries make STATUS_FILLED. */
#define   CHMU_CFG2_FILL		0x000000000000ffffULL

#define CHMU_STATUS			0x60
#define   CHMU_STATUS_ENABLED		0x0000000000000001ULL
#define   CHMU_STATUS_OPERATION		0x00000000ffff0000ULL /* in progress */
/* Of an entry; known once the size of a unit is set. */
#define   CHMU_STATUS_COUNT_BITS	0x000000ff00000000ULL
/* Each is set once, until 1 is written. */
#define   CHMU_STATUS_OVERFLOW		0x0000010000000000ULL
#define   CHMU_STATUS_FILLED		0x0000020000000000ULL
/* Indices, 16 bits each: software reads at the head, the device writes at the tail. */
#define CHMU_HEAD			0x68
#define CHMU_TAIL			0x6a
#define CHMU_INSTANCE_BYTES		0x70

/* --- values ---------------------------------------------------------------- */

/* What is counted: reads, writes or both, those of confidential memory left out or not. */
#define CHMU_TRACK_PLAIN_READS		1
#define CHMU_TRACK_PLAIN_WRITES		2
#define CHMU_TRACK_PLAIN_ALL		3
#define CHMU_TRACK_READS		4
#define CHMU_TRACK_WRITES		5
#define CHMU_TRACK_ALL			6

/* An epoch is so many of these. */
#define CHMU_EPOCH_100US		1
#define CHMU_EPOCH_1MS			2
#define CHMU_EPOCH_10MS			3
#define CHMU_EPOCH_100MS		4
#define CHMU_EPOCH_1S			5

/* At an epoch's end, or as soon as the count is there, and once in an epoch. */
#define CHMU_MODE_BY_EPOCH		0
#define CHMU_MODE_ALWAYS_ON		1

#define CHMU_OPERATION_NONE		0
#define CHMU_OPERATION_ENABLE		1
#define CHMU_OPERATION_DISABLE		2
#define CHMU_OPERATION_RESET		3

/* The smallest unit of memory, and what one bit of the bitmap of ranges stands for. */
#define CHMU_UNIT_SHIFT			8
#define CHMU_RANGE_SHIFT		28

/*
 * An entry of the hotlist: the count in the low bits, above it the unit's number, which
 * is its address in the device's memory divided by its size.
 */
#define CHMU_ENTRY_BYTES		8

#endif /* _MM_PGHOT_CHMU_REGS_H */
