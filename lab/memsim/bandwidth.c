// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "bandwidth.h"
#include "cache.h"

void bandwidth_init(struct bandwidth *b, uint32_t mbps)
{
	/* 1 MB/s is a thousandth of a byte each nanosecond. */
	b->capacity = (uint64_t)mbps << BUCKET_SHIFT;
	b->line_ps = (uint64_t)LINE_BYTES * 1000000 / mbps;
	bandwidth_clear(b);
}

void bandwidth_clear(struct bandwidth *b)
{
	memset(b->bucket, 0, sizeof(b->bucket));
	memset(&b->share, 0, sizeof(b->share));
}

/* What it carries in a stretch of time by which shares go. */
static uint64_t in_a_stretch(const struct bandwidth *b)
{
	return b->capacity << (SHARE_SHIFT - BUCKET_SHIFT);
}

/* Take @left from buckets from @now_ns on; return how long the first with room is away. */
static uint32_t fill(struct bandwidth *b, uint64_t now_ns, uint64_t left)
{
	uint64_t first = now_ns >> BUCKET_SHIFT, number, at = UINT64_MAX;
	unsigned int tries;

	for (number = first, tries = 0; left && tries < BUCKETS - 1;
	     number++, tries++) {
		__typeof__(&b->bucket[0]) s = &b->bucket[number % BUCKETS];
		uint64_t take;

		/* A CPU that is this far behind is alone there. */
		if (s->number > number)
			return 0;
		if (s->number < number) {
			s->number = number;
			s->fill = 0;
		}
		if (s->fill >= b->capacity)
			continue;
		/* It may end in the next bucket; its turn is when it begins. */
		if (at == UINT64_MAX)
			at = number;
		take = b->capacity - s->fill;
		if (take > left)
			take = left;
		s->fill += take;
		left -= take;
	}
	if (at == UINT64_MAX)
		at = number;
	return at == first ? 0 : (at << BUCKET_SHIFT) - now_ns;
}

uint32_t bandwidth_take(struct bandwidth *b, unsigned int who, uint64_t now_ns,
			uint32_t bytes)
{
	uint64_t amount = (uint64_t)bytes * MILLI;
	uint32_t wait = share_take(&b->share, who, now_ns, amount, in_a_stretch(b));

	wait += fill(b, now_ns + wait, amount);
	share_waited(&b->share, who, now_ns, wait);
	return wait;
}

uint32_t bandwidth_queue(const struct bandwidth *b, uint64_t now_ns)
{
	uint64_t percent = share_taken(&b->share, now_ns) * 100 / in_a_stretch(b);

	if (percent > MAX_LOAD)
		percent = MAX_LOAD;
	/* M/D/1: service time * load / (2 * (1 - load)). */
	return b->line_ps * percent / (2 * (100 - percent)) / 1000;
}
