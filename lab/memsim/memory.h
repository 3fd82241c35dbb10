/* SPDX-License-Identifier: GPL-2.0 */
/* What an access costs that the CPU's own caches did not answer. */
#ifndef MEMSIM_MEMORY_H
#define MEMSIM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "bandwidth.h"
#include "cache.h"
#include "config.h"
#include "hmu.h"
#include "socket.h"

#define PAGE_SHIFT	12
#define STREAM_BITS	5	/* 32 pairs of sequences that a CPU follows */
#define STREAMS		(1 << STREAM_BITS)

/**
 * struct node_stat - what happened to one node's memory
 * @loads: lines fetched to be read
 * @stores: lines fetched to be written
 * @stream: those of both that came in sequence
 * @writeback: lines written back
 * @wait_ns: time that accesses waited, because of the load
 * @ns: time of all accesses, waiting included
 * @dma: lines that a copy engine read or wrote
 * @pages: different pages accessed in this interval of the time line
 */
struct node_stat {
	uint64_t loads, stores, stream, writeback, wait_ns, ns, dma, pages;
};

/*
 * The next line of each sequence that one CPU follows, found by page, with the
 * one used last in front. Pairs, so that a copy from one page to another can
 * have both.
 */
struct streams {
	uint64_t next[STREAMS][2];
};

/**
 * struct memory - caches and nodes of the machine
 * @c: its description
 * @socket: caches of each socket
 * @own: cache of each CPU's own, which is one of those
 * @place: number of each CPU in its socket
 * @home: the node that is nearest to each socket
 * @near: the socket that is nearest to each node
 * @node: what each node carries
 * @path: what the way from each socket to each node carries
 * @stat: by node
 * @hmu: who counts each node's requests; NULL for nobody
 * @device: accesses to addresses that belong to no node
 * @hash: of all misses in their order
 * @interval: number of the time line's interval
 * @seen: interval in which each page was accessed last, range by range
 */
struct memory {
	const struct config *c;
	struct socket socket[MAX_ROWS];
	struct filter *own[MAX_CPUS];
	uint8_t place[MAX_CPUS], home[MAX_ROWS], near[MAX_NODES];
	struct bandwidth node[MAX_NODES];
	struct bandwidth path[MAX_ROWS][MAX_NODES];
	struct node_stat stat[MAX_NODES];
	struct hmu *hmu[MAX_NODES];
	uint64_t device, hash;
	uint32_t interval;
	uint32_t *seen[MAX_RANGES];
};

#define NODE_HIT	(-1)
#define NODE_DEVICE	(-2)
#define NODE_SOCKET	(-3)	/* the line came from another socket's caches */

bool memory_init(struct memory *m, const struct config *c);
void memory_exit(struct memory *m);

/* Empty caches, counters and queues. */
void memory_clear(struct memory *m);

/* A new interval of the time line begins: no page was accessed in it yet. */
void memory_interval(struct memory *m);

/* All sockets' caches are asked for @pa soon. */
static inline void memory_expect(const struct memory *m, uint64_t pa)
{
	unsigned int row;

	for (row = 0; row < m->c->rows; row++)
		cache_expect(&m->socket[row].llc, pa >> LINE_SHIFT);
}

/*
 * CPU @cpu, whose own cache has missed it, accesses physical address @pa at @now_ns.
 * Return what it costs in ns; @node is where it went. @s is NULL for an access that no
 * prefetcher sees.
 */
uint32_t memory_access(struct memory *m, unsigned int cpu, struct streams *s,
		       uint64_t pa, bool store, uint64_t now_ns, int *node);

/*
 * A line is written for the first time that the CPU's own cache holds. It costs nothing
 * if nobody else has it; return what it costs to take it from others.
 */
uint32_t memory_own(struct memory *m, unsigned int cpu, uint64_t pa,
		    uint64_t now_ns);

/* A device has written @bytes: no cache has anything of them any more. */
void memory_written(struct memory *m, uint64_t pa, uint64_t bytes);

/* Whether all these addresses are memory. */
bool memory_has(const struct memory *m, uint64_t pa, uint64_t bytes);

/*
 * A copy engine at the socket nearest to @from moves @bytes, no more than a page's.
 * Return for how long it waits for those that use the same nodes, or the same ways.
 */
uint32_t memory_transfer(struct memory *m, uint64_t from, uint64_t to,
			 uint32_t bytes, uint64_t now_ns);

#endif
