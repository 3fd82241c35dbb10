/* SPDX-License-Identifier: GPL-2.0 */
/* What is counted during the measured part, and its way into a file. */
#ifndef MEMSIM_RESULTS_H
#define MEMSIM_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "hypercall.h"
#include "memory.h"
#include "pages.h"

enum mode { USER, KERNEL, MODES };

/**
 * struct mode_count - what one CPU did in user or in kernel mode
 * @instructions: executed, one nanosecond each
 * @accesses: loads and stores
 * @hits: accesses that the last-level cache answered
 * @ns: time spent on memory
 * @nodes: accesses that went to each node
 * @node_ns: time of those
 * @sent: interrupts asked for on other CPUs
 * @interrupts: taken
 * @taken: lines that came from another socket's caches, or were taken from other
 *	   CPUs' to be written
 * @walks: walks through the page tables
 * @walk_ns: time of them, of @ns
 */
struct mode_count {
	uint64_t instructions, accesses, hits, ns, nodes[MAX_NODES];
	uint64_t node_ns[MAX_NODES];
	uint64_t sent, interrupts, taken, walks, walk_ns;
};

/**
 * struct sampled - a CPU's instruction based samples
 * @made: shown to software
 * @filtered: ops that were tagged and not shown, as they missed no cache
 * @interrupts: for what was shown
 */
struct sampled {
	uint64_t made, filtered, interrupts;
};

/**
 * struct snapshot - all nodes' counters at one time
 * @ns: time since the beginning
 * @stat: by node; @stat.pages is of the interval only
 * @misses: accesses of all CPUs, in each mode, that went to each node; walks through the
 *	    page tables are not among them
 * @miss_ns: time of those
 */
struct snapshot {
	int64_t ns;
	struct node_stat stat[MAX_NODES];
	uint64_t misses[MODES][MAX_NODES], miss_ns[MODES][MAX_NODES];
};

/**
 * struct results - of one measured part
 * @begin: guest time at which it began
 * @end: at which it ended
 * @clocks_apart: how far apart two running CPUs' clocks were at most, nanoseconds
 * @cpu: by CPU and mode
 * @sampled: by CPU
 * @phase: snapshots that the guest asked for; @ns is -1 where it did not
 * @line: the time line, one snapshot an interval
 * @lines: their number
 * @room: and how many there is room for
 * @next_line: guest time of the next one
 */
struct results {
	int64_t begin, end, clocks_apart;
	struct mode_count cpu[MAX_CPUS][MODES];
	struct sampled sampled[MAX_CPUS];
	struct snapshot phase[MEMSIM_PHASES];
	struct snapshot *line;
	size_t lines, room;
	int64_t next_line;
};

void results_begin(struct results *r, const struct config *c, int64_t now);
void results_phase(struct results *r, const struct memory *m, int phase,
		   int64_t now);

/* Called often: adds to the time line what is due. */
void results_tick(struct results *r, struct memory *m, int64_t now);

/*
 * Write everything as JSON to @c->output, at once or not at all.
 * @host_seconds is the one value that differs from run to run.
 */
bool results_write(const struct results *r, const struct memory *m,
		   const struct pages *p, double host_seconds);

#endif
