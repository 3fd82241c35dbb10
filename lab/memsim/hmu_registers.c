// SPDX-License-Identifier: GPL-2.0
#include "hmu_registers.h"

#define EPOCH_MIN_NS	100000ULL
#define EPOCH_MAX_NS	1000000000ULL
#define TRACKED		(1 << (CHMU_TRACK_PLAIN_READS - 1) | \
			 1 << (CHMU_TRACK_PLAIN_WRITES - 1) | \
			 1 << (CHMU_TRACK_PLAIN_ALL - 1) | \
			 1 << (CHMU_TRACK_READS - 1))

const struct range *hmu_range(const struct hmu *h, uint64_t n)
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

	while (hmu_range(h, n))
		n++;
	return n;
}

uint64_t hmu_epoch_ns(uint64_t cfg1)
{
	static const uint64_t scale_ns[] = {
		[CHMU_EPOCH_100US] = 100000, [CHMU_EPOCH_1MS] = 1000000,
		[CHMU_EPOCH_10MS] = 10000000, [CHMU_EPOCH_100MS] = 100000000,
		[CHMU_EPOCH_1S] = 1000000000,
	};
	uint64_t scale = HMU_GET(CHMU_CFG1_EPOCH_SCALE, cfg1);

	if (scale >= sizeof(scale_ns) / sizeof(*scale_ns))
		return 0;
	return scale_ns[scale] * HMU_GET(CHMU_CFG1_EPOCH_COUNT, cfg1);
}

bool hmu_can(const struct hmu_instance *i)
{
	uint64_t track = HMU_GET(CHMU_CFG0_TRACK, i->cfg[0]);
	uint64_t unit = HMU_GET(CHMU_CFG1_UNIT, i->cfg[1]);
	uint64_t epoch_ns = hmu_epoch_ns(i->cfg[1]);

	return track && track <= CHMU_TRACK_ALL && TRACKED & 1 << (track - 1) &&
	       !(i->cfg[0] & CHMU_CFG0_RANDOM) &&
	       HMU_GET(CHMU_CFG0_THRESHOLD, i->cfg[0]) &&
	       unit >= CHMU_UNIT_SHIFT && unit < 64 &&
	       HMU_UNITS >> (unit - CHMU_UNIT_SHIFT) & 1 &&
	       HMU_SAMPLINGS >> HMU_GET(CHMU_CFG1_SAMPLING, i->cfg[1]) & 1 &&
	       HMU_GET(CHMU_CFG1_MODE, i->cfg[1]) <= CHMU_MODE_ALWAYS_ON &&
	       epoch_ns >= EPOCH_MIN_NS && epoch_ns <= EPOCH_MAX_NS;
}

static uint64_t read_instance(const struct hmu *h, unsigned int n, uint64_t offset)
{
	const struct hmu_instance *i = &h->instance[n];

	switch (offset) {
	case CHMU_CAP0:
		return HMU_SET(CHMU_CAP0_VECTOR, n) |
		       CHMU_CAP0_OVERFLOW_IRQ | CHMU_CAP0_FILL_IRQ |
		       HMU_SET(CHMU_CAP0_TRACK, TRACKED) |
		       HMU_SET(CHMU_CAP0_EPOCH_MAX_SCALE, CHMU_EPOCH_100MS) |
		       HMU_SET(CHMU_CAP0_EPOCH_MAX_COUNT, 10) |
		       HMU_SET(CHMU_CAP0_EPOCH_MIN_SCALE, CHMU_EPOCH_100US) |
		       HMU_SET(CHMU_CAP0_EPOCH_MIN_COUNT, 1) |
		       HMU_SET(CHMU_CAP0_ENTRIES, HMU_ENTRIES);
	case CHMU_CAP1:
		return HMU_SET(CHMU_CAP1_UNITS, HMU_UNITS) |
		       HMU_SET(CHMU_CAP1_SAMPLING, HMU_SAMPLINGS) |
		       CHMU_CAP1_BY_EPOCH | CHMU_CAP1_ALWAYS_ON | CHMU_CAP1_OVERLAP;
	case CHMU_BITMAP_OFFSET:
		return HMU_BITMAP(n) - HMU_INSTANCE(n);
	case CHMU_HOTLIST_OFFSET:
		return HMU_HOTLIST(n) - HMU_INSTANCE(n);
	case CHMU_CFG0:
	case CHMU_CFG1:
	case CHMU_CFG2:
		return i->cfg[(offset - CHMU_CFG0) / 8];
	case CHMU_STATUS:
		return (i->enabled ? CHMU_STATUS_ENABLED : 0) |
		       HMU_SET(CHMU_STATUS_OPERATION, i->operation) |
		       HMU_SET(CHMU_STATUS_COUNT_BITS, i->cfg[1] ? HMU_COUNT_BITS : 0) |
		       (i->overflow ? CHMU_STATUS_OVERFLOW : 0) |
		       (i->filled ? CHMU_STATUS_FILLED : 0);
	case CHMU_HEAD:
		return i->head;
	case CHMU_TAIL:
		return i->tail;
	}
	return 0;
}

static uint64_t read_place(const struct hmu *h, uint64_t offset)
{
	const struct range *r;

	switch (offset) {
	case HMU_PCI_ID:
		return HMU_PCI_MAGIC;
	case HMU_PCI_NODE:
		return h->node;
	case HMU_PCI_CHMU:
		return HMU_CHMU;
	case HMU_PCI_RANGES:
		return ranges(h);
	}
	if (offset < HMU_PCI_RANGE(0))
		return 0;
	r = hmu_range(h, (offset - HMU_PCI_RANGE(0)) / 16);
	if (!r)
		return 0;
	return offset % 16 ? r->end - r->start : r->start;
}

/* The instance that has a register of the common size @step from @first on, or none. */
static bool find(uint64_t *offset, uint64_t first, uint64_t step, unsigned int *n)
{
	if (*offset < first || *offset >= first + HMU_INSTANCES * step)
		return false;
	*n = (*offset - first) / step;
	*offset -= first + *n * step;
	return true;
}

unsigned int hmu_size(uint64_t offset)
{
	unsigned int n;

	if (find(&offset, HMU_INSTANCE(0), CHMU_INSTANCE_BYTES, &n) &&
	    (offset == CHMU_HEAD || offset == CHMU_TAIL))
		return 2;
	return 8;
}

uint64_t hmu_read(const void *model, uint64_t offset)
{
	const struct hmu *h = model;
	unsigned int n;

	if (offset % hmu_size(offset))
		return 0;
	if (offset < HMU_CHMU)
		return read_place(h, offset);
	if (find(&offset, HMU_INSTANCE(0), CHMU_INSTANCE_BYTES, &n))
		return read_instance(h, n, offset);
	if (find(&offset, HMU_BITMAP(0), HMU_WORDS * 8, &n))
		return h->instance[n].bitmap[offset / 8];
	if (find(&offset, HMU_HOTLIST(0), HMU_ENTRIES * CHMU_ENTRY_BYTES, &n))
		return h->instance[n].list[offset / 8];
	switch (offset - HMU_CHMU) {
	case CHMU_COMMON_CAP0:
		return HMU_SET(CHMU_COMMON_VERSION, 1) |
		       HMU_SET(CHMU_COMMON_INSTANCES, HMU_INSTANCES);
	case CHMU_COMMON_CAP1:
		return HMU_SET(CHMU_COMMON_INSTANCE_BYTES, CHMU_INSTANCE_BYTES);
	}
	return 0;
}

static void operate(struct hmu_instance *i, unsigned int operation, uint64_t now)
{
	i->operation = operation;
	i->operation_end = now + HMU_OPERATION_NS;
}

/* ENABLE and RESET at any time but while one of them is under way, the rest if disabled. */
static void control(struct hmu_instance *i, uint64_t value, uint64_t now)
{
	if (!i->enabled)
		i->cfg[0] = value & (CHMU_CFG0_TRACK | CHMU_CFG0_RANDOM |
				     CHMU_CFG0_OVERFLOW_IRQ | CHMU_CFG0_FILL_IRQ |
				     CHMU_CFG0_THRESHOLD);
	i->cfg[0] &= ~CHMU_CFG0_ENABLE;
	i->cfg[0] |= value & CHMU_CFG0_ENABLE;
	if (!(value & CHMU_CFG0_ENABLE) != !i->enabled)
		operate(i, i->enabled ? CHMU_OPERATION_DISABLE : CHMU_OPERATION_ENABLE, now);
	else if (value & CHMU_CFG0_RESET)
		operate(i, CHMU_OPERATION_RESET, now);
}

/* From where it was to the tail, or not at all. */
static void advance_head(struct hmu_instance *i, uint64_t to)
{
	uint32_t used = (i->tail + HMU_ENTRIES - i->head) % HMU_ENTRIES;

	if (to < HMU_ENTRIES && (to + HMU_ENTRIES - i->head) % HMU_ENTRIES <= used)
		i->head = to;
}

static void write_instance(struct hmu_instance *i, uint64_t offset, uint64_t value,
			   uint64_t now)
{
	switch (offset) {
	case CHMU_CFG0:
		if (!i->operation)
			control(i, value, now);
		return;
	case CHMU_STATUS:
		i->overflow &= !(value & CHMU_STATUS_OVERFLOW);
		i->filled &= !(value & CHMU_STATUS_FILLED);
		return;
	case CHMU_HEAD:
		advance_head(i, value);
		return;
	}
	if (i->enabled || i->operation)
		return;
	if (offset == CHMU_CFG1)
		i->cfg[1] = value;
	else if (offset == CHMU_CFG2)
		i->cfg[2] = value & CHMU_CFG2_FILL;
}

void hmu_write(void *model, uint64_t offset, uint64_t value, uint64_t now)
{
	struct hmu *h = model;
	unsigned int n;

	if (offset % hmu_size(offset))
		return;
	if (find(&offset, HMU_INSTANCE(0), CHMU_INSTANCE_BYTES, &n))
		write_instance(&h->instance[n], offset, value, now);
	else if (find(&offset, HMU_BITMAP(0), HMU_WORDS * 8, &n) &&
		 !h->instance[n].enabled && !h->instance[n].operation)
		h->instance[n].bitmap[offset / 8] = value;
}
