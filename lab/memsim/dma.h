/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A copy engine: several channels that each copy memory to memory, one job after
 * the other. What a job costs is a set-up and then its bytes by the channel's rate,
 * and it takes of the bandwidth of both nodes, and of the ways to them from the socket
 * that is nearest to the source.
 *
 * Software puts descriptors into a ring in its own memory, tells the channel how
 * many there are by now, and finds in each what became of it. Jobs of a channel
 * end in their order; the bytes are copied as time goes on, not at once.
 */
#ifndef MEMSIM_DMA_H
#define MEMSIM_DMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device.h"
#include "memory.h"

#define DMA_DEVICE	0x10f1	/* PCI device number */

/* Registers: 64 bits each. RO: writes have no effect. */
#define DMA_ID		0x00	/* RO: DMA_MAGIC */
#define DMA_CHANNELS	0x08	/* RO */
#define DMA_MAX_BYTES	0x10	/* RO: of a job */
#define DMA_CONTROL	0x18	/* DMA_INTERRUPT */
#define DMA_CHANNEL(n)	(0x1000 * ((n) + 1))	/* what follows is from here */
#define DMA_RING	0x00	/* physical address; a new one stops the channel */
#define DMA_ENTRIES	0x08	/* descriptors in the ring: a power of two */
#define DMA_POSTED	0x10	/* descriptors given: software's */
#define DMA_DONE	0x18	/* RO: descriptors done: the device's */
#define DMA_FAILED	0x20	/* RO: those of them that failed */
#define DMA_CAUSE	0x28	/* why it interrupted: writing a bit's 1 clears it */
#define DMA_BYTES	0x20000	/* of all registers */

#define DMA_MAGIC	0x31616d64746f6867ULL	/* "ghotdma1" */
#define DMA_INTERRUPT	1	/* after each job that asks for it: MSI-X n of channel n */
#define DMA_CAUSE_DONE	1	/* a job that asked for it has ended */
#define DMA_CAUSE_ERROR	2	/* one has that failed */
#define DMA_ENTRIES_MAX	4096
#define DMA_JOB_MAX	(4U << 20)

/**
 * struct dma_descriptor - one job, in the guest's memory, little endian
 * @from: physical address
 * @to: physical address
 * @bytes: up to DMA_JOB_MAX
 * @flags: DMA_NOTIFY to be interrupted
 * @status: DMA_OK or DMA_ERROR, written by the device after the last byte
 */
struct dma_descriptor {
	uint64_t from, to;
	uint32_t bytes, flags;
	uint64_t status;
};

#define DMA_NOTIFY	1
#define DMA_OK		1	/* all bytes are there */
#define DMA_ERROR	2	/* an address without memory, or too many bytes */

/**
 * struct dma_channel - its registers, and the job under way
 * @ring, @entries, @posted: as software set them
 * @done, @failed, @cause: as software sees them
 * @job: under way, if @busy
 * @at: bytes of it that are copied
 * @next_ns: when the channel has its next piece of work
 */
struct dma_channel {
	uint64_t ring, entries, posted, done, failed, cause;
	struct dma_descriptor job;
	bool busy;
	uint32_t at;
	uint64_t next_ns;
};

/**
 * struct dma - the engine
 * @m: the machine's memory: who carries the bytes
 * @access: how to copy them
 * @control: as software set it
 * @channel: @m->c->dma_channels of them
 */
struct dma {
	struct memory *m;
	guest_access access;
	uint64_t control;
	struct dma_channel channel[MAX_CHANNELS];
};

void dma_init(struct dma *d, struct memory *m, guest_access access);

/* As a device: one per machine. */
extern const struct device_ops dma_ops;

#endif
