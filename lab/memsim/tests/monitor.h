/* SPDX-License-Identifier: GPL-2.0 */
/* A hotness monitoring unit, for one test. */
#ifndef MEMSIM_TEST_MONITOR_H
#define MEMSIM_TEST_MONITOR_H

#include <stdlib.h>

#include "hmu.h"
#include "test.h"

#define PAGE		4096ULL
#define RANGE		(256 * PAGE)
#define EPOCH		1000000ULL
#define READY		HMU_OPERATION_NS	/* enabled at 0, it counts from here on */
#define END(n)		(READY + (n) * EPOCH)

/* The node's memory in two parts, another node's between them. */
static const struct config monitored = {
	.nodes = 2, .ranges = 3,
	.range = { { 0, RANGE, 1 }, { RANGE, 2 * RANGE, 0 },
		   { 1ULL << 32, (1ULL << 32) + 65 * RANGE, 1 } },
};

#define SECOND	(1ULL << 32)

static const struct {
	uint64_t irqs, track, unit, sampling, mode, scale, count, fill;
} usual = {
	.irqs = CHMU_CFG0_OVERFLOW_IRQ | CHMU_CFG0_FILL_IRQ,
	.track = CHMU_TRACK_PLAIN_ALL, .unit = 12, .mode = CHMU_MODE_BY_EPOCH,
	.scale = CHMU_EPOCH_1MS, .count = 1, .fill = 1,
};

static inline void set(struct hmu *h, unsigned int n, uint64_t offset, uint64_t value)
{
	hmu_ops.write(h, HMU_INSTANCE(n) + offset, value, 0);
}

static inline uint64_t get(const struct hmu *h, unsigned int n, uint64_t offset)
{
	return hmu_ops.read(h, HMU_INSTANCE(n) + offset);
}

static inline uint64_t cfg0(uint64_t track, uint64_t threshold)
{
	return usual.irqs | HMU_SET(CHMU_CFG0_TRACK, track) |
	       HMU_SET(CHMU_CFG0_THRESHOLD, threshold);
}

static inline uint64_t cfg1(uint64_t unit, uint64_t sampling, uint64_t mode)
{
	return HMU_SET(CHMU_CFG1_UNIT, unit) | HMU_SET(CHMU_CFG1_SAMPLING, sampling) |
	       HMU_SET(CHMU_CFG1_MODE, mode) |
	       HMU_SET(CHMU_CFG1_EPOCH_SCALE, usual.scale) |
	       HMU_SET(CHMU_CFG1_EPOCH_COUNT, usual.count);
}

static inline struct hmu *idle(void)
{
	struct hmu *h = malloc(sizeof(*h));

	assert_non_null(h);
	assert_true(hmu_init(h, &monitored, 1));
	return h;
}

/* Have instance @n count all of the memory; it is enabled at READY. */
static inline void enable(struct hmu *h, unsigned int n, uint64_t zero, uint64_t one)
{
	hmu_ops.write(h, HMU_BITMAP(n), 1, 0);
	set(h, n, CHMU_CFG1, one);
	set(h, n, CHMU_CFG2, usual.fill);
	set(h, n, CHMU_CFG0, zero | CHMU_CFG0_ENABLE);
	hmu_ops.advance(h, READY);
}

static inline void drop(struct hmu *h)
{
	hmu_exit(h);
	free(h);
}

static inline uint64_t listed(const struct hmu *h, unsigned int n)
{
	return (get(h, n, CHMU_TAIL) + HMU_ENTRIES - get(h, n, CHMU_HEAD)) % HMU_ENTRIES;
}

#endif
