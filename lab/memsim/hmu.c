// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "hmu.h"
#include "memory.h"

#define COUNT_MAX	((1U << HMU_COUNT_BITS) - 1)

/* The node's ranges, one after the other, are the device's memory. */
static const struct range *nth_range(const struct hmu *h, uint64_t n)
{
	unsigned int i;

	for (i = 0; i < h->c->ranges; i++)
		if (h->c->range[i].node == h->node && !n--)
			return &h->c->range[i];
	return NULL;
}

static uint64_t ranges(const struct hmu *h)
{
	uint64_t n = 0;

	while (nth_range(h, n))
		n++;
	return n;
}

bool hmu_init(struct hmu *h, const struct config *c, unsigned int node)
{
	const struct range *r;
	uint64_t i;

	*h = (struct hmu) {
		.c = c, .node = node, .unit = HMU_UNIT_MIN,
		.epoch_ns = 100000000, .threshold = 16,
		.track = HMU_READS | HMU_WRITES,
	};
	for (i = 0; (r = nth_range(h, i)); i++)
		h->bytes += r->end - r->start;
	h->count = calloc(h->bytes >> HMU_UNIT_MIN, sizeof(*h->count));
	h->touched = calloc(h->bytes >> HMU_UNIT_MIN, sizeof(*h->touched));
	if (h->count && h->touched)
		return true;
	hmu_exit(h);
	return false;
}

void hmu_exit(struct hmu *h)
{
	free(h->count);
	free(h->touched);
	h->count = h->touched = NULL;
}

static void list(struct hmu *h, uint32_t unit)
{
	if (h->tail - h->head >= HMU_ENTRIES) {
		h->status |= HMU_OVERFLOW;
		h->lost++;
		return;
	}
	h->list[h->tail++ % HMU_ENTRIES] =
		(uint64_t)unit << HMU_COUNT_BITS | h->count[unit];
}

static void forget(struct hmu *h)
{
	uint32_t i;

	for (i = 0; i < h->touched_n; i++)
		h->count[h->touched[i]] = 0;
	h->touched_n = 0;
}

static void end_epochs(struct hmu *h, uint64_t now)
{
	uint64_t tail = h->tail, lost = h->lost, over;
	uint32_t i;

	for (i = 0; i < h->touched_n; i++)
		if (h->count[h->touched[i]] >= h->threshold)
			list(h, h->touched[i]);
	forget(h);
	/* Epochs without a request may have passed since. */
	over = (now - h->epoch_end) / h->epoch_ns + 1;
	h->epochs += over;
	h->epoch_end += over * h->epoch_ns;
	h->tell |= h->tail != tail || h->lost != lost;
}

void hmu_request(struct hmu *h, uint64_t pa, bool write, uint64_t now)
{
	uint64_t before = 0, i, unit;
	const struct range *r;

	if (!(h->control & HMU_ENABLE) ||
	    !(h->track & (write ? HMU_WRITES : HMU_READS)))
		return;
	if (now >= h->epoch_end)
		end_epochs(h, now);
	if (h->requests++ & ((1ULL << h->sample) - 1))
		return;
	for (i = 0; (r = nth_range(h, i)); i++) {
		if (pa >= r->start && pa < r->end)
			break;
		before += r->end - r->start;
	}
	if (!r)
		return;
	unit = (before + pa - r->start) >> h->unit;
	if (!h->count[unit])
		h->touched[h->touched_n++] = unit;
	if (h->count[unit] < COUNT_MAX)
		h->count[unit]++;
}

/* End the epochs that are over at @now. */
static uint64_t hmu_advance(void *model, uint64_t now)
{
	struct hmu *h = model;
	bool tell;

	if (h->control & HMU_ENABLE && now >= h->epoch_end)
		end_epochs(h, now);
	tell = h->tell && h->control & HMU_INTERRUPT;
	h->tell = false;
	return tell;
}

static uint64_t hmu_next(const void *model)
{
	const struct hmu *h = model;

	return h->control & HMU_ENABLE ? h->epoch_end : 0;
}

static uint64_t read_range(const struct hmu *h, uint64_t offset)
{
	const struct range *r = nth_range(h, (offset - HMU_RANGE(0)) / 16);

	if (!r)
		return 0;
	return offset % 16 ? r->end - r->start : r->start;
}

static uint64_t hmu_read(const void *model, uint64_t offset)
{
	const struct hmu *h = model;

	if (offset % 8)
		return 0;
	if (offset >= HMU_LIST)
		return offset < HMU_LIST + sizeof(h->list) ?
		       h->list[(offset - HMU_LIST) / 8] : 0;
	if (offset >= HMU_RANGE(0))
		return read_range(h, offset);
	switch (offset) {
	case HMU_ID:
		return HMU_MAGIC;
	case HMU_CAPABILITY:
		return HMU_UNIT_MIN | HMU_UNIT_MAX << 8 |
		       __builtin_ctz(HMU_ENTRIES) << 16 | HMU_COUNT_BITS << 24;
	case HMU_NODE:
		return h->node;
	case HMU_RANGES:
		return ranges(h);
	case HMU_UNIT:
		return h->unit;
	case HMU_EPOCH:
		return h->epoch_ns;
	case HMU_THRESHOLD:
		return h->threshold;
	case HMU_SAMPLE:
		return h->sample;
	case HMU_TRACK:
		return h->track;
	case HMU_CONTROL:
		return h->control;
	case HMU_STATUS:
		return h->status | (h->control & HMU_ENABLE);
	case HMU_HEAD:
		return h->head;
	case HMU_TAIL:
		return h->tail;
	case HMU_LOST:
		return h->lost;
	case HMU_EPOCHS:
		return h->epochs;
	}
	return 0;
}

static uint64_t within(uint64_t value, uint64_t low, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

static void control(struct hmu *h, uint64_t value, uint64_t now)
{
	bool was = h->control & HMU_ENABLE;

	h->control = value & (HMU_ENABLE | HMU_INTERRUPT);
	if (was || !(value & HMU_ENABLE))
		return;
	forget(h);
	h->tell = false;
	h->head = h->tail = h->lost = h->epochs = h->requests = h->status = 0;
	h->epoch_end = now + h->epoch_ns;
}

static void hmu_write(void *model, uint64_t offset, uint64_t value, uint64_t now)
{
	struct hmu *h = model;

	switch (offset) {
	case HMU_CONTROL:
		return control(h, value, now);
	case HMU_STATUS:
		h->status &= ~(value & HMU_OVERFLOW);
		return;
	case HMU_HEAD:
		/* From where it was to the tail, or not at all. */
		if (value - h->head <= h->tail - h->head)
			h->head = value;
		return;
	}
	/* The rest is set before counting begins. */
	if (h->control & HMU_ENABLE)
		return;
	switch (offset) {
	case HMU_UNIT:
		h->unit = within(value, HMU_UNIT_MIN, HMU_UNIT_MAX);
		break;
	case HMU_EPOCH:
		h->epoch_ns = within(value, HMU_EPOCH_MIN, HMU_EPOCH_MAX);
		break;
	case HMU_THRESHOLD:
		h->threshold = within(value, 1, COUNT_MAX);
		break;
	case HMU_SAMPLE:
		h->sample = within(value, 0, HMU_SAMPLE_MAX);
		break;
	case HMU_TRACK:
		h->track = value & (HMU_READS | HMU_WRITES);
		break;
	}
}

static bool hmu_present(const struct config *c, unsigned int node)
{
	return c->hmu[node];
}

static void *hmu_create(struct memory *m, unsigned int node, guest_access access)
{
	struct hmu *h = malloc(sizeof(*h));

	(void)access;
	if (!h || !hmu_init(h, m->c, node)) {
		free(h);
		return NULL;
	}
	m->hmu[node] = h;
	return h;
}

const struct device_ops hmu_ops = {
	.type = "memsim-hmu", .id = "hmu", .per_node = true,
	.device = HMU_DEVICE, .class = 0x0880, .bytes = HMU_BYTES,
	.present = hmu_present, .create = hmu_create,
	.read = hmu_read, .write = hmu_write,
	.advance = hmu_advance, .next = hmu_next,
};
