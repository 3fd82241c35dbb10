// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "dma.h"

#define CHUNK	4096U	/* bytes that are copied at a time */

void dma_init(struct dma *d, struct memory *m, guest_access access)
{
	*d = (struct dma) { .m = m, .access = access };
}

static uint64_t slot(const struct dma_channel *ch)
{
	return ch->ring + ch->done % ch->entries * sizeof(ch->job);
}

static void finish(struct dma *d, struct dma_channel *ch, uint64_t status)
{
	d->access(slot(ch) + offsetof(struct dma_descriptor, status), &status,
		  sizeof(status), true);
	ch->failed += status != DMA_OK;
	ch->done++;
	ch->busy = false;
	if (ch->job.flags & DMA_NOTIFY)
		ch->cause |= DMA_CAUSE_DONE | (status != DMA_OK ? DMA_CAUSE_ERROR : 0);
}

static bool is_memory(const struct dma *d, uint64_t pa, uint64_t bytes)
{
	return memory_has(d->m, pa, bytes);
}

static void fetch(struct dma *d, struct dma_channel *ch)
{
	/* A ring that is no memory has no place for a status either. */
	if (!is_memory(d, slot(ch), sizeof(ch->job))) {
		ch->failed += ch->posted - ch->done;
		ch->done = ch->posted;
		return;
	}
	d->access(slot(ch), &ch->job, sizeof(ch->job), false);
	ch->busy = true;
	ch->at = 0;
	ch->next_ns += d->m->c->dma_setup_ns;
}

static void copy(struct dma *d, struct dma_channel *ch)
{
	uint32_t bytes = ch->job.bytes - ch->at;
	uint64_t from = ch->job.from + ch->at, to = ch->job.to + ch->at;
	uint8_t buffer[CHUNK];
	uint32_t wait;

	if (bytes > CHUNK)
		bytes = CHUNK;
	d->access(from, buffer, bytes, false);
	d->access(to, buffer, bytes, true);
	wait = memory_transfer(d->m, from, to, bytes, ch->next_ns);
	ch->next_ns += wait + (uint64_t)bytes * 1000 / d->m->c->dma_mbps;
	ch->at += bytes;
}

/* The next piece of a channel's work; true if it ended a job that is to be told. */
static bool step(struct dma *d, struct dma_channel *ch)
{
	const struct dma_descriptor *job = &ch->job;

	if (!ch->busy) {
		fetch(d, ch);
		return false;
	}
	if (!job->bytes || job->bytes > DMA_JOB_MAX ||
	    !is_memory(d, job->from, job->bytes) ||
	    !is_memory(d, job->to, job->bytes)) {
		finish(d, ch, DMA_ERROR);
		return job->flags & DMA_NOTIFY;
	}
	if (ch->at < job->bytes) {
		copy(d, ch);
		return false;
	}
	finish(d, ch, DMA_OK);
	return job->flags & DMA_NOTIFY;
}

static struct dma_channel *first_due(struct dma *d)
{
	struct dma_channel *first = NULL, *ch = d->channel;

	for (; ch < d->channel + d->m->c->dma_channels; ch++)
		if (ch->posted != ch->done &&
		    (!first || ch->next_ns < first->next_ns))
			first = ch;
	return first;
}

static uint64_t dma_advance(void *model, uint64_t now)
{
	struct dma *d = model;
	struct dma_channel *ch;
	uint64_t tell = 0;

	/* In the order of time: channels wait for each other's bytes. */
	while ((ch = first_due(d)) && ch->next_ns <= now)
		if (step(d, ch))
			tell |= 1ULL << (ch - d->channel);
	return d->control & DMA_INTERRUPT ? tell : 0;
}

static uint64_t dma_next(const void *model)
{
	const struct dma_channel *ch = first_due((struct dma *)model);

	return ch ? ch->next_ns : 0;
}

static const struct dma_channel *channel_at(const struct dma *d, uint64_t offset)
{
	uint64_t n = offset / DMA_CHANNEL(0);

	return n && n <= d->m->c->dma_channels ? &d->channel[n - 1] : NULL;
}

static uint64_t dma_read(const void *model, uint64_t offset)
{
	const struct dma *d = model;
	const struct dma_channel *ch = channel_at(d, offset);

	if (!ch) {
		switch (offset) {
		case DMA_ID:
			return DMA_MAGIC;
		case DMA_CHANNELS:
			return d->m->c->dma_channels;
		case DMA_MAX_BYTES:
			return DMA_JOB_MAX;
		case DMA_CONTROL:
			return d->control;
		}
		return 0;
	}
	switch (offset % DMA_CHANNEL(0)) {
	case DMA_RING:
		return ch->ring;
	case DMA_ENTRIES:
		return ch->entries;
	case DMA_POSTED:
		return ch->posted;
	case DMA_DONE:
		return ch->done;
	case DMA_FAILED:
		return ch->failed;
	case DMA_CAUSE:
		return ch->cause;
	}
	return 0;
}

static void set_entries(struct dma_channel *ch, uint64_t value)
{
	if (ch->posted == ch->done && value && value <= DMA_ENTRIES_MAX &&
	    !(value & (value - 1)))
		ch->entries = value;
}

static void post(struct dma_channel *ch, uint64_t value, uint64_t now)
{
	/* No more than the ring holds. */
	if (!ch->entries || value - ch->done > ch->entries ||
	    value - ch->done < ch->posted - ch->done)
		return;
	if (ch->posted == ch->done && ch->next_ns < now)
		ch->next_ns = now;
	ch->posted = value;
}

static void dma_write(void *model, uint64_t offset, uint64_t value, uint64_t now)
{
	struct dma *d = model;
	struct dma_channel *ch = (struct dma_channel *)channel_at(d, offset);

	if (!ch) {
		if (offset == DMA_CONTROL)
			d->control = value & DMA_INTERRUPT;
		return;
	}
	switch (offset % DMA_CHANNEL(0)) {
	case DMA_RING:
		*ch = (struct dma_channel) { .ring = value };
		break;
	case DMA_ENTRIES:
		set_entries(ch, value);
		break;
	case DMA_POSTED:
		post(ch, value, now);
		break;
	case DMA_CAUSE:
		ch->cause &= ~value;
		break;
	}
}

static bool dma_present(const struct config *c, unsigned int node)
{
	(void)node;
	return c->dma_channels;
}

static unsigned int dma_vectors(const struct config *c)
{
	return c->dma_channels;
}

static void *dma_create(struct memory *m, unsigned int node, guest_access access)
{
	struct dma *d = malloc(sizeof(*d));

	(void)node;
	if (d)
		dma_init(d, m, access);
	return d;
}

const struct device_ops dma_ops = {
	.type = "memsim-dma", .id = "dma",
	.device = DMA_DEVICE, .class = 0x0801, .bytes = DMA_BYTES,
	.present = dma_present, .create = dma_create,
	.read = dma_read, .write = dma_write,
	.vectors = dma_vectors, .advance = dma_advance, .next = dma_next,
};
