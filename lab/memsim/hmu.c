// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "hmu.h"
#include "hmu_registers.h"
#include "memory.h"

#define COUNT_MAX	((1U << HMU_COUNT_BITS) - 1)

bool hmu_init(struct hmu *h, const struct config *c, unsigned int node)
{
	struct hmu_instance *i;
	const struct range *r;
	uint64_t n;

	*h = (struct hmu) { .c = c, .node = node };
	for (n = 0; (r = hmu_range(h, n)); n++)
		h->bytes += r->end - r->start;
	for (i = h->instance; i < h->instance + HMU_INSTANCES; i++) {
		/* Only what is used of it takes memory. */
		i->count = calloc((h->bytes >> CHMU_UNIT_SHIFT) + 1, sizeof(*i->count));
		i->touched = calloc((h->bytes >> CHMU_UNIT_SHIFT) + 1, sizeof(*i->touched));
		if (!i->count || !i->touched) {
			hmu_exit(h);
			return false;
		}
	}
	return true;
}

void hmu_exit(struct hmu *h)
{
	struct hmu_instance *i;

	for (i = h->instance; i < h->instance + HMU_INSTANCES; i++) {
		free(i->count);
		free(i->touched);
		i->count = i->touched = NULL;
	}
}

/* Is an interrupt of this kind due: once until software has seen it. */
static void tell(struct hmu_instance *i, bool *status, uint64_t enable)
{
	i->interrupt |= !*status && i->cfg[0] & enable;
	*status = true;
}

static void list(struct hmu_instance *i, uint32_t unit, uint32_t count)
{
	uint32_t next = (i->tail + 1) % HMU_ENTRIES;
	uint32_t fill = HMU_GET(CHMU_CFG2_FILL, i->cfg[2]), used;

	if (next == i->head) {
		tell(i, &i->overflow, CHMU_CFG0_OVERFLOW_IRQ);
		return;
	}
	i->list[i->tail] = (uint64_t)unit << HMU_COUNT_BITS | count;
	i->tail = next;
	used = (i->tail + HMU_ENTRIES - i->head) % HMU_ENTRIES;
	if (fill && used >= fill)
		tell(i, &i->filled, CHMU_CFG0_FILL_IRQ);
}

static void forget(struct hmu_instance *i)
{
	uint32_t n;

	for (n = 0; n < i->touched_n; n++)
		i->count[i->touched[n]] = 0;
	i->touched_n = 0;
}

static void end_epochs(struct hmu_instance *i, uint64_t now)
{
	uint32_t n;

	if (HMU_GET(CHMU_CFG1_MODE, i->cfg[1]) == CHMU_MODE_BY_EPOCH)
		for (n = 0; n < i->touched_n; n++)
			if (i->count[i->touched[n]] >= i->threshold)
				list(i, i->touched[n], i->count[i->touched[n]]);
	forget(i);
	/* Epochs without a request may have passed since. */
	i->epoch_end += ((now - i->epoch_end) / i->epoch_ns + 1) * i->epoch_ns;
}

static bool tracks(const struct hmu_instance *i, uint64_t at, bool write)
{
	uint64_t track = HMU_GET(CHMU_CFG0_TRACK, i->cfg[0]);
	uint64_t n = at >> CHMU_RANGE_SHIFT;

	/* All memory is plain. */
	if (write ? track == CHMU_TRACK_PLAIN_READS || track == CHMU_TRACK_READS :
		    track == CHMU_TRACK_PLAIN_WRITES)
		return false;
	return n < 64 * HMU_WORDS && i->bitmap[n / 64] >> n % 64 & 1;
}

static void count(struct hmu_instance *i, uint64_t at)
{
	uint64_t sampled = 1ULL << HMU_GET(CHMU_CFG1_SAMPLING, i->cfg[1]);
	uint32_t unit = at >> i->unit, *c = &i->count[unit];

	if (i->requests++ & (sampled - 1))
		return;
	if (!*c)
		i->touched[i->touched_n++] = unit;
	if (*c < COUNT_MAX)
		++*c;
	if (*c == i->threshold &&
	    HMU_GET(CHMU_CFG1_MODE, i->cfg[1]) == CHMU_MODE_ALWAYS_ON)
		list(i, unit, *c);
}

static void operation_done(struct hmu *h, struct hmu_instance *i)
{
	unsigned int operation = i->operation;

	i->operation = CHMU_OPERATION_NONE;
	forget(i);
	if (operation == CHMU_OPERATION_RESET) {
		i->head = i->tail = 0;
		i->overflow = i->filled = i->interrupt = false;
		return;
	}
	h->enabled -= i->enabled;
	i->enabled = operation == CHMU_OPERATION_ENABLE && hmu_can(i);
	h->enabled += i->enabled;
	if (!i->enabled)
		return;
	i->requests = 0;
	i->unit = HMU_GET(CHMU_CFG1_UNIT, i->cfg[1]);
	i->threshold = HMU_GET(CHMU_CFG0_THRESHOLD, i->cfg[0]);
	i->epoch_ns = hmu_epoch_ns(i->cfg[1]);
	i->epoch_end = i->operation_end + i->epoch_ns;
}

/* What is due by @now: an epoch that ends before the unit is disabled is still listed. */
static void advance(struct hmu *h, struct hmu_instance *i, uint64_t now)
{
	if (i->operation && now >= i->operation_end) {
		if (i->enabled && i->epoch_end <= i->operation_end)
			end_epochs(i, i->operation_end);
		operation_done(h, i);
	}
	if (i->enabled && now >= i->epoch_end)
		end_epochs(i, now);
}

void hmu_request(struct hmu *h, uint64_t pa, bool write, uint64_t now)
{
	struct hmu_instance *i;
	const struct range *r;
	uint64_t at = 0, n;

	if (!h->enabled)
		return;
	for (n = 0; (r = hmu_range(h, n)); n++) {
		if (pa >= r->start && pa < r->end)
			break;
		at += r->end - r->start;
	}
	if (!r)
		return;
	at += pa - r->start;
	for (i = h->instance; i < h->instance + HMU_INSTANCES; i++) {
		if (!i->enabled)
			continue;
		advance(h, i, now);
		if (i->enabled && tracks(i, at, write))
			count(i, at);
	}
}

static uint64_t hmu_advance(void *model, uint64_t now)
{
	struct hmu *h = model;
	uint64_t vectors = 0;
	unsigned int n;

	for (n = 0; n < HMU_INSTANCES; n++) {
		advance(h, &h->instance[n], now);
		vectors |= (uint64_t)h->instance[n].interrupt << n;
		h->instance[n].interrupt = false;
	}
	return vectors;
}

static uint64_t hmu_next(const void *model)
{
	const struct hmu *h = model;
	const struct hmu_instance *i;
	uint64_t next = UINT64_MAX;

	for (i = h->instance; i < h->instance + HMU_INSTANCES; i++) {
		if (i->enabled && i->epoch_end < next)
			next = i->epoch_end;
		if (i->operation && i->operation_end < next)
			next = i->operation_end;
	}
	return next == UINT64_MAX ? 0 : next;
}

static bool hmu_present(const struct config *c, unsigned int node)
{
	return c->hmu[node];
}

static unsigned int hmu_vectors(const struct config *c)
{
	(void)c;
	return HMU_INSTANCES;
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
	.device = HMU_PCI_DEVICE, .class = 0x0880, .bytes = HMU_PCI_BYTES,
	.present = hmu_present, .create = hmu_create, .size = hmu_size,
	.read = hmu_read, .write = hmu_write, .vectors = hmu_vectors,
	.advance = hmu_advance, .next = hmu_next,
};
