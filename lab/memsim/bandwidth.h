/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a node's memory, or the way to it, can carry.
 *
 * CPUs run in turns, each on a clock of its own, so that accesses do not come
 * in the order of their times. Time is cut into buckets of about a
 * microsecond that each carry so many bytes; an access takes from the bucket of
 * its own time, whoever came before it, or from the next one that has room, and
 * waits until then. Long before a bucket is full accesses get into each
 * other's way: that costs the mean wait of a queue with random arrivals and
 * constant service (M/D/1) at the load of a moment ago, when all CPUs have
 * passed it. Where there is not enough for all, share.h says who gets how much.
 */
#ifndef MEMSIM_BANDWIDTH_H
#define MEMSIM_BANDWIDTH_H

#include <stdint.h>

#include "share.h"

#define BUCKET_SHIFT	10	/* 1024 ns */
#define BUCKETS		4096	/* 4 ms: more than clocks ever differ by */
#define MAX_LOAD	95	/* percent, for the queue's formula */

/* Bytes are counted in thousandths, so that no capacity is rounded. */
#define MILLI		1000U

/**
 * struct bandwidth - a shared resource
 * @capacity: thousandths of bytes a bucket
 * @line_ps: picoseconds that a line of 64 bytes occupies it
 * @bucket: which bucket each slot of the ring stands for, and how full it is
 * @share: who took how much of it of late
 */
struct bandwidth {
	uint64_t capacity;
	uint32_t line_ps;
	struct {
		uint64_t number, fill;
	} bucket[BUCKETS];
	struct share share;
};

void bandwidth_init(struct bandwidth *b, uint32_t mbps);
void bandwidth_clear(struct bandwidth *b);

/* Nanoseconds that a transfer of @bytes by @who at @now_ns has to wait for its turn. */
uint32_t bandwidth_take(struct bandwidth *b, unsigned int who, uint64_t now_ns,
			uint32_t bytes);

/* Mean nanoseconds that a single line waits for others at the load of late. */
uint32_t bandwidth_queue(const struct bandwidth *b, uint64_t now_ns);

#endif
