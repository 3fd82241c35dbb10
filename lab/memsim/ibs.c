// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "ibs.h"
#include "xorshift.h"

#define COUNT_MASK	((1ULL << IBS_COUNT_BITS) - 1)
/* A counter that starts anew has random lower bits, so that no loop is in step with it. */
#define RANDOM_MASK	0x7fULL
#define LATENCY_MAX	0xffffULL
#define GOLDEN		0x9e3779b97f4a7c15ULL

void ibs_init(struct ibs *s, unsigned int seed)
{
	*s = (struct ibs) { .random = (seed + 1) * GOLDEN };
	s->reg[IBS_CTL] = IBS_VECTOR | IBS_VECTOR_VALID;
}

bool ibs_has(uint32_t number)
{
	return number - IBS_FIRST < IBS_REGISTERS;
}

static uint64_t maximum(const struct ibs *s)
{
	uint64_t ctl = s->reg[IBS_OP_CTL];

	return (ctl & IBS_MAX_LOW) << 4 | (ctl & IBS_MAX_HIGH);
}

/* A sample that software has not taken yet stops it. */
static bool counts(const struct ibs *s)
{
	return (s->reg[IBS_OP_CTL] & (IBS_ENABLE | IBS_VALID)) == IBS_ENABLE &&
	       maximum(s);
}

static bool counts_ops(const struct ibs *s)
{
	return s->reg[IBS_OP_CTL] & IBS_COUNTS_OPS;
}

/* @instructions are executed at @now, or none is. */
static void advance(struct ibs *s, uint32_t instructions, int64_t now)
{
	if (counts_ops(s))
		s->count += instructions;
	else if (now > s->since)
		s->count += now - s->since;
	s->since = now;
}

void ibs_halt(struct ibs *s, int64_t now)
{
	if (!counts(s) || s->tagged)
		return;
	advance(s, 0, now);
	s->since = INT64_MAX;
}

uint64_t ibs_read(struct ibs *s, uint32_t number, int64_t now)
{
	unsigned int which = number - IBS_FIRST;

	if (which != IBS_OP_CTL)
		return s->reg[which];
	if (counts(s) && !s->tagged)
		advance(s, 0, now);
	return s->reg[which] | (s->count & COUNT_MASK) << IBS_COUNT_SHIFT;
}

void ibs_write(struct ibs *s, uint32_t number, uint64_t value, int64_t now)
{
	unsigned int which = number - IBS_FIRST;

	if (which == IBS_CTL)
		return;
	if (which == IBS_OP_CTL) {
		s->count = value >> IBS_COUNT_SHIFT & COUNT_MASK;
		value &= ~(COUNT_MASK << IBS_COUNT_SHIFT);
		s->since = now;
		s->tagged = 0;
	}
	s->reg[which] = value;
}

static void start_anew(struct ibs *s, int64_t now)
{
	s->count = xorshift_next(&s->random) >> 32 & RANDOM_MASK;
	s->since = now;
	s->tagged = 0;
}

static uint64_t latency(uint64_t ns)
{
	return ns < LATENCY_MAX ? ns : LATENCY_MAX;
}

/* The tagged op is done: @a is its access, NULL where it had none. */
static bool finish(struct ibs *s, const struct ibs_access *a, int64_t now)
{
	bool missed = a && !a->uncached && a->source != IBS_NOWHERE;
	bool missed_l3 = missed && a->source != IBS_CACHE;
	uint64_t data3 = 0;

	start_anew(s, now);
	if (s->reg[IBS_OP_CTL] & IBS_L3_MISS_ONLY && !missed_l3) {
		s->filtered++;
		/* The count goes on from the op, and not from the block's end. */
		if (counts_ops(s))
			s->count += s->left;
		return false;
	}
	memset(&s->reg[IBS_OP_RIP], 0, (IBS_CTL - IBS_OP_RIP) * sizeof(s->reg[0]));
	s->reg[IBS_OP_CTL] |= IBS_VALID;
	s->samples++;
	if (!a) {
		/* What is told of an instruction is told by its access. */
		s->reg[IBS_OP_DATA] = IBS_RIP_INVALID;
		return true;
	}
	data3 |= a->locked ? IBS_LOAD | IBS_STORE : a->store ? IBS_STORE : IBS_LOAD;
	data3 |= IBS_LINEAR | (a->has_physical ? IBS_PHYSICAL : 0);
	data3 |= a->walked ? IBS_TLB_MISS | IBS_TLB_WALK : 0;
	data3 |= a->locked ? IBS_LOCKED : 0;
	data3 |= a->uncached ? IBS_UNCACHED : 0;
	data3 |= (uint64_t)(a->bytes_shift + 1) << IBS_WIDTH_SHIFT;
	data3 |= latency(a->refill_ns) << IBS_REFILL_SHIFT;
	if (missed) {
		data3 |= IBS_DC_MISS | IBS_L2_MISS;
		data3 |= latency(a->ns) << IBS_LATENCY_SHIFT;
		s->reg[IBS_OP_DATA2] = (a->source & 7) |
				       (uint64_t)(a->source >> 3) << IBS_SOURCE_HIGH |
				       (a->remote ? IBS_REMOTE : 0) |
				       (a->source == IBS_FAR_CACHE ? 0 : IBS_CLEAN);
	}
	s->reg[IBS_OP_RIP] = a->rip;
	s->reg[IBS_OP_DATA] = latency(a->ns + a->refill_ns + 1) << 16;
	s->reg[IBS_OP_DATA3] = data3;
	s->reg[IBS_DC_LIN_AD] = a->linear;
	s->reg[IBS_DC_PHYS_AD] = a->has_physical ? a->physical : 0;
	return true;
}

bool ibs_block(struct ibs *s, uint32_t instructions, int64_t now)
{
	uint64_t past;

	if (!counts(s))
		return false;
	if (s->tagged && finish(s, NULL, now))
		return true;
	advance(s, instructions, now);
	if (s->count < maximum(s))
		return false;
	/* Cycles say nothing of which it is: any. */
	past = counts_ops(s) ? s->count - maximum(s) :
			       (xorshift_next(&s->random) >> 32) % instructions;
	s->left = past < instructions ? past : instructions - 1;
	s->tagged = instructions - s->left;
	return false;
}

bool ibs_access(struct ibs *s, const struct ibs_access *a, int64_t now)
{
	return counts(s) && s->tagged && finish(s, a, now);
}
