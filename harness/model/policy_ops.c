// SPDX-License-Identifier: GPL-2.0
/*
 * Operations on the policy and a model of it that keeps time and tokens in
 * integers that do not run out.
 */
#include <stdio.h>
#include <string.h>

#include <linux/array_size.h>
#include <linux/limits.h>

#include "ops.h"
#include "policy.h"

typedef __int128 wide;

enum op {
	OP_REFILL, OP_TAKE, OP_RETURN, OP_WAIT, OP_RATE, OP_CLASS, OP_WEIGHT,
	OP_NR,
};

static const char *const op_name[OP_NR] = {
	"refill", "take", "return", "wait", "rate", "class", "weight",
};

/* A turn of the clock, less what may be another CPU's being ahead. */
#define TURN_MS		(U32_MAX - 2000ULL)

static const u64 sizes[] = { 1, 4096, 65536, 2 << 20, 1 << 30 };
static const u64 rates[] = {
	0, 1, 999, 4096, 1 << 20, 100 << 20, 65536ULL << 20,
	(u64)PGHOT_RATE_MBPS_MAX << 20,
};
static const u64 steps_ms[] = {
	0, 1, 10, 249, 250, 1000, 60000, 60001, 1ULL << 31, TURN_MS,
};

struct world {
	struct pghot_bucket bucket;
	/* The model. */
	wide level;
	wide now, bucket_stamp;
	bool bucket_started;
	u64 rate;
	u64 taken[16];
	int nr_taken;
	struct ops_failure *why;
};

static bool equal(struct world *w, const char *what, wide got, wide want)
{
	if (got == want)
		return true;
	snprintf(w->why->what, sizeof(w->why->what),
		 "%s: got %lld, expected %lld", what, (long long)got,
		 (long long)want);
	return false;
}

static bool do_refill(struct world *w, u64 step)
{
	wide size = (wide)w->rate * PGHOT_BURST_MS;

	w->now += step;
	pghot_bucket_refill(&w->bucket, (u32)w->now, w->rate);
	if (!w->bucket_started)
		w->level = size;
	else if (w->now > w->bucket_stamp)
		w->level += (w->now - w->bucket_stamp) * w->rate;
	if (!w->bucket_started || w->now > w->bucket_stamp)
		w->bucket_stamp = w->now;
	w->bucket_started = true;
	if (w->level > size)
		w->level = size;
	return true;
}

static bool do_take(struct world *w, u64 bytes)
{
	bool want = w->level > 0;

	if (!equal(w, "take", pghot_bucket_take(&w->bucket, bytes), want))
		return false;
	if (!want)
		return true;
	w->level -= (wide)bytes * 1000;
	w->taken[w->nr_taken++ % ARRAY_SIZE(w->taken)] = bytes;
	return true;
}

static bool do_return(struct world *w)
{
	u64 bytes;

	if (!w->nr_taken)
		return true;
	bytes = w->taken[--w->nr_taken % ARRAY_SIZE(w->taken)];
	pghot_bucket_return(&w->bucket, bytes);
	w->level += (wide)bytes * 1000;
	return true;
}

/* The shortest time after which there are tokens, and no shorter one. */
static bool do_wait(struct world *w)
{
	u32 wait = pghot_bucket_wait_ms(&w->bucket, w->rate);

	if (w->level > 0)
		return equal(w, "wait with tokens", wait, 0);
	if (wait == U32_MAX)
		return equal(w, "wait without end",
			     w->level + (wide)(U32_MAX - 1) * w->rate > 0, 0);
	return equal(w, "wait is enough",
		     w->level + (wide)wait * w->rate > 0, 1) &&
	       equal(w, "wait is not too long",
		     w->level + ((wide)wait - 1) * w->rate > 0, 0);
}

static bool do_class(struct world *w, const u8 *op)
{
	unsigned long hist[PGHOT_CLASSES], budget = op[1] * (1 + op[2] % 3);
	unsigned long above = 0;
	int class, want = 0;

	for (class = 0; class < PGHOT_CLASSES; class++)
		hist[class] = (op[3 + class % 5] >> class / 5 * 2) % 64;
	for (class = PGHOT_CLASSES - 1; class >= 0; class--) {
		above += hist[class];
		if (above >= budget && !want)
			want = class;
	}
	return equal(w, "min class", pghot_min_class(hist, budget), want);
}

static bool do_weight(struct world *w, const u8 *op)
{
	u32 latency = op[1] << 8 | op[2], in_force = op[3] * 8, ref = 1000;
	u32 freq = 1 + op[4] % 127;
	bool room = op[5] & 1;
	u32 want = 0;

	if (room || latency < in_force)
		want = freq;
	else if (in_force >= ref)
		want = 1;
	return equal(w, "weight",
		     pghot_fault_weight(latency, in_force, ref, freq, room),
		     want);
}

/* Nothing can tell what happened before the clock's last whole turn. */
static void keep_within_a_turn(struct world *w, u64 step)
{
	if (w->now + step - w->bucket_stamp > TURN_MS)
		do_refill(w, 0);
}

static bool one(struct world *w, const u8 *op)
{
	u64 step = steps_ms[op[1] % ARRAY_SIZE(steps_ms)];

	keep_within_a_turn(w, step);
	switch (op[0] % OP_NR) {
	case OP_REFILL:
		/* A clock that is a little behind another CPU's. */
		if (op[2] < 32 && w->now > op[2])
			w->now -= op[2];
		return do_refill(w, step);
	case OP_TAKE:
		return do_take(w, sizes[op[1] % ARRAY_SIZE(sizes)]);
	case OP_RETURN:
		return do_return(w);
	case OP_WAIT:
		return do_wait(w);
	case OP_RATE:
		w->rate = rates[op[1] % ARRAY_SIZE(rates)];
		return do_refill(w, 0);
	case OP_CLASS:
		return do_class(w, op);
	default:
		return do_weight(w, op);
	}
}

static bool policy_run(u8 head, const u8 *ops, size_t nr,
		       struct ops_failure *why)
{
	struct world w = {
		.why = why, .rate = rates[head % ARRAY_SIZE(rates)],
		.now = head & 0x80 ? U32_MAX - 10 : 5000,
	};
	size_t i;

	do_refill(&w, 0);
	for (i = 0; i < nr; i++) {
		why->step = i;
		if (!one(&w, ops + i * OP_BYTES) ||
		    !equal(&w, "level", w.bucket.level, w.level))
			return false;
	}
	return true;
}

static void policy_describe(const u8 *op, char *text, size_t size)
{
	snprintf(text, size, "%-7s args=%u,%u,%u,%u", op_name[op[0] % OP_NR],
		 op[1], op[2], op[3], op[4]);
}

const struct ops policy_ops = {
	.name = "policy", .run = policy_run, .describe = policy_describe,
};
