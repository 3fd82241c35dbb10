/* SPDX-License-Identifier: GPL-2.0 */
/* The description of the machine that is modelled, read from a text file. */
#ifndef MEMSIM_CONFIG_H
#define MEMSIM_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_CPUS	64
#define MAX_NODES	16
#define MAX_ROWS	8	/* nodes with CPUs: where accesses come from */
#define MAX_RANGES	64
#define MAX_CHANNELS	16

/**
 * struct range - physical addresses of one node
 * @start: first byte
 * @end: first byte after it
 * @node: the node
 */
struct range {
	uint64_t start, end;
	unsigned int node;
};

/**
 * struct path - from a socket to a node
 * @latency_ns: of an access that finds nothing else going on
 * @mbps: what the way carries, 10^6 bytes a second
 */
struct path {
	uint32_t latency_ns;
	uint32_t mbps;
};

/**
 * struct config - the machine, and what to write where
 * @output: where results go; NULL for nowhere
 * @pages: where misses for each page go; NULL: they are not counted
 * @profile: where time for each block of code goes; NULL: it is not taken
 * @llc_bytes: size of each socket's last-level cache
 * @llc_ways: its associativity
 * @llc_hit_ns: what a hit costs
 * @snoop_ns: what asking another CPU of the socket costs more
 * @tlb_first: translations of small pages that each CPU's first level holds
 * @tlb_second: translations that its second level holds
 * @tlb_ways: associativity of the second level
 * @tlb_hit_ns: what finding one there costs
 * @walk_ns: what a walk costs beside the entries it reads
 * @ipi_send_ns: what asking for an interrupt on other CPUs costs
 * @interrupt_ns: what being interrupted costs beside the handler
 * @ibs: CPUs sample instructions
 * @ibs_ns: what reading or writing a register of that costs
 * @row_of: socket of each CPU
 * @cpus: number of CPUs
 * @rows: number of sockets
 * @node_mbps: what a node's memory carries, 10^6 bytes a second
 * @top: whether the node is of the top tier
 * @nodes: number of nodes
 * @path: from each socket to each node
 * @range: sorted by address, not overlapping
 * @ranges: their number
 * @hmu: whether the node has a hotness monitoring unit
 * @dma_channels: of the copy engine; 0: there is none
 * @dma_setup_ns: what each of its jobs costs beside its bytes
 * @dma_mbps: what one channel copies, 10^6 bytes a second
 * @mmio_read_ns: what reading a register of a modelled device costs
 * @mmio_write_ns: what writing one costs
 * @timeline_ms: interval of the time line; 0 for none
 */
struct config {
	char *output, *pages, *profile;
	uint64_t llc_bytes;
	uint32_t llc_ways, llc_hit_ns, snoop_ns;
	uint32_t tlb_first, tlb_second, tlb_ways, tlb_hit_ns, walk_ns;
	uint32_t ipi_send_ns, interrupt_ns;
	bool ibs;
	uint32_t ibs_ns;
	uint8_t row_of[MAX_CPUS];
	unsigned int cpus, rows;
	uint32_t node_mbps[MAX_NODES];
	bool top[MAX_NODES];
	unsigned int nodes;
	struct path path[MAX_ROWS][MAX_NODES];
	struct range range[MAX_RANGES];
	unsigned int ranges;
	bool hmu[MAX_NODES];
	unsigned int dma_channels;
	uint32_t dma_setup_ns, dma_mbps;
	uint32_t mmio_read_ns, mmio_write_ns;
	uint32_t timeline_ms;
};

/* Read @path. On failure @error says what is wrong, and where. */
bool config_read(struct config *c, const char *path, char *error, size_t size);
void config_free(struct config *c);

#endif
