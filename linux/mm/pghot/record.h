/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hotness record of one page: how often, how recently and from where it
 * was accessed, and whether it is ready to be promoted.
 *
 * Two layouts share one set of functions. This file has no kernel state: time
 * and limits come in as arguments, so that the same text is tested in user
 * space against a plain reference model.
 *
 *	layout   unit     ready  freq  who    time
 *	default  1 byte   1      2     1      4     bits
 *	precise  4 bytes  1      7     10     14    bits
 *
 * "who" says which node accesses the page. In the precise layout it is the node
 * ID. The default layout has room for one bit, which selects one of the two
 * nodes remembered for the 8 MiB that the page belongs to: on a machine with
 * two sockets that is exact.
 *
 * "time" counts buckets of a fixed number of milliseconds (a fraction of the
 * window) and wraps. It is never derived from ticks.
 */
#ifndef _MM_PGHOT_RECORD_H
#define _MM_PGHOT_RECORD_H

#include <linux/types.h>
#include <linux/bits.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/minmax.h>

/* Frequency classes; a higher class is hotter. */
#define PGHOT_CLASSES		8

/**
 * struct pghot_layout - where the fields of a record are
 * @bits: width of a record
 * @freq_bits: width of the saturating access count
 * @who_bits: width of the node field
 * @time_bits: width of the wrapping bucket number
 * @window_buckets: buckets that make up one window
 * @linear_classes: class is freq - 1 rather than its logarithm
 *
 * All users pass a constant, so the compiler folds every shift and mask.
 */
struct pghot_layout {
	u8 bits;
	u8 freq_bits;
	u8 who_bits;
	u8 time_bits;
	u8 window_buckets;
	bool linear_classes;
};

static const struct pghot_layout pghot_layout_default = {
	.bits = 8, .freq_bits = 2, .who_bits = 1, .time_bits = 4,
	.window_buckets = 4, .linear_classes = true,
};

static const struct pghot_layout pghot_layout_precise = {
	.bits = 32, .freq_bits = 7, .who_bits = 10, .time_bits = 14,
	.window_buckets = 16, .linear_classes = false,
};

/**
 * struct pghot_rec - a record, unpacked
 * @freq: accesses counted, saturating; 0 means that the record is empty
 * @who: node that accesses the page, as the layout encodes it
 * @time: bucket of the last access; one before it if it was counted with an interval
 * @ready: waiting to be promoted
 */
struct pghot_rec {
	u32 freq;
	u32 who;
	u32 time;
	bool ready;
};

static inline u32 pghot_freq_max(const struct pghot_layout *l)
{
	return BIT(l->freq_bits) - 1;
}

static inline u32 pghot_time_mask(const struct pghot_layout *l)
{
	return BIT(l->time_bits) - 1;
}

static inline u32 pghot_who_mask(const struct pghot_layout *l)
{
	return BIT(l->who_bits) - 1;
}

/* The ready bit of a packed record; the most significant one. */
static inline u32 pghot_ready_bit(const struct pghot_layout *l)
{
	return (u32)BIT(l->bits - 1);
}

static inline u32 pghot_pack(const struct pghot_layout *l, struct pghot_rec r)
{
	u32 w;

	w = r.freq & pghot_freq_max(l);
	w = w << l->who_bits | (r.who & pghot_who_mask(l));
	w = w << l->time_bits | (r.time & pghot_time_mask(l));
	return (u32)r.ready << (l->bits - 1) | w;
}

static inline struct pghot_rec pghot_unpack(const struct pghot_layout *l, u32 w)
{
	return (struct pghot_rec) {
		.time = w & pghot_time_mask(l),
		.who = w >> l->time_bits & pghot_who_mask(l),
		.freq = w >> (l->time_bits + l->who_bits) & pghot_freq_max(l),
		.ready = w & pghot_ready_bit(l),
	};
}

/**
 * pghot_bucket_ms - length of a time bucket
 * @l: layout
 * @window_ms: the window, in milliseconds
 *
 * Rounded down, so that what counts as within the window never is older.
 *
 * Return: milliseconds, at least 1.
 */
static inline u32 pghot_bucket_ms(const struct pghot_layout *l, u32 window_ms)
{
	return max(window_ms / l->window_buckets, 1U);
}

/**
 * pghot_era_buckets - how many buckets make up an era
 * @l: layout
 *
 * A bucket number wraps, and an old access would then look recent. So nothing
 * is accounted to a block of pages before all that is out of the window was
 * forgotten there, once in an era. A record that was kept is at most a window
 * old then, and at most two eras later it is looked at again or known to be
 * stale: as many buckets as can be told apart from the present one and from the
 * one after it, which another CPU may have stored.
 *
 * Return: buckets; 5 in the default layout, 8183 in the precise one.
 */
static inline u32 pghot_era_buckets(const struct pghot_layout *l)
{
	return (pghot_time_mask(l) - 1 - l->window_buckets) / 2;
}

/*
 * How many buckets ago the last access was, plus one. Another CPU may have
 * stored the next bucket between this CPU's reading of the clock and of the
 * record; a record from the future, 0 here, is a fresh one.
 */
static inline u32 pghot_turn(const struct pghot_layout *l, struct pghot_rec r,
			     u32 bucket)
{
	return (bucket + 1 - r.time) & pghot_time_mask(l);
}

/**
 * pghot_age - how long ago the last access was
 * @l: layout
 * @r: record
 * @bucket: the present bucket number, not yet wrapped
 *
 * Return: age in buckets.
 */
static inline u32 pghot_age(const struct pghot_layout *l, struct pghot_rec r,
			    u32 bucket)
{
	u32 turn = pghot_turn(l, r, bucket);

	return turn ? turn - 1 : 0;
}

static inline bool pghot_in_window(const struct pghot_layout *l,
				   struct pghot_rec r, u32 bucket)
{
	return r.freq && pghot_age(l, r, bucket) < l->window_buckets;
}

/**
 * pghot_forget - what is left of a record when its block enters an era
 * @l: layout
 * @r: record
 * @bucket: the present bucket number
 * @all: the last record of this block is out of the window already
 *
 * Who took it for ready has yet to deal with it: such a record stays, just out
 * of the window, also for a CPU whose bucket is the one before.
 *
 * Return: the record after.
 */
static inline struct pghot_rec
pghot_forget(const struct pghot_layout *l, struct pghot_rec r, u32 bucket,
	     bool all)
{
	if (!all && pghot_in_window(l, r, bucket))
		return r;
	if (!r.ready)
		return (struct pghot_rec) {};
	r.time = (bucket - l->window_buckets - 1) & pghot_time_mask(l);
	return r;
}

/**
 * pghot_account - account accesses to a page
 * @l: layout
 * @r: record before
 * @bucket: the present bucket number
 * @who: node that the accesses come from, as the layout encodes it
 * @weight: how many accesses this report stands for; 0 leaves the count alone
 * @threshold: accesses within the window that make the page ready
 *
 * Accesses older than the window are forgotten, unless the record is ready: that
 * it waits for longer makes it no colder, and only who promotes it takes that back,
 * so that each is accounted for once.
 *
 * Return: the record after.
 */
static inline struct pghot_rec
pghot_account(const struct pghot_layout *l, struct pghot_rec r, u32 bucket,
	      u32 who, u32 weight, u32 threshold)
{
	u32 turn = pghot_turn(l, r, bucket);
	u64 freq, freq_max = pghot_freq_max(l);
	u32 counts, future;

	if (!weight)
		return r;
	/*
	 * Calculated rather than branched on: it is as random as accesses are,
	 * and a mispredicted branch would wait for the record to be fetched.
	 */
	counts = (turn <= l->window_buckets) | r.ready;
	/* Both !turn and r.freq: any other turn is shifted above all counts. */
	future = r.freq > turn << l->freq_bits;
	freq = r.freq & -counts;
	freq += weight;
	r.freq = min(freq, freq_max);
	r.who = who;
	r.time = (bucket + future) & pghot_time_mask(l);
	r.ready |= r.freq >= threshold;
	return r;
}

/**
 * pghot_account_interval - account accesses that were counted over an interval
 * @l: layout
 * @r: record before
 * @bucket: the present bucket number
 * @back: how many buckets ago the interval began, at most the window
 * @who: node that the accesses come from, as the layout encodes it
 * @weight: how many accesses in that time; 0 leaves the record alone
 * @threshold: accesses within the window that make the page ready
 *
 * What the record says of the same time may be the same accesses, seen by
 * another source. They count once: as many as the source says that saw more.
 *
 * What comes of both is of the bucket before, at the latest. So the next interval, which
 * begins now, tells it from what others have added since. But a record that is ready
 * after it is of now: none is of a time before it became ready, which is what
 * pghot_renew() relies on. So while it waits a further interval raises its count only if
 * that saw more. What another CPU has put into the next bucket is left there: it is part
 * of the next interval.
 *
 * Return: the record after.
 */
static inline struct pghot_rec
pghot_account_interval(const struct pghot_layout *l, struct pghot_rec r,
		       u32 bucket, u32 back, u32 who, u32 weight, u32 threshold)
{
	bool fresh = pghot_in_window(l, r, bucket);
	bool seen = fresh && pghot_age(l, r, bucket) <= back;
	u64 freq = fresh || r.ready ? r.freq : 0;
	u32 turn = pghot_turn(l, r, bucket);
	u32 age = 1;

	if (!weight)
		return r;
	/* Nor does anybody know that it did not see what made a stale one ready. */
	freq = seen || !fresh ? max_t(u64, freq, weight) : freq + weight;
	r.ready |= freq >= threshold;
	if (r.ready)
		age = 0;
	if (!seen || (r.ready ? turn > 1 : turn == 1))
		r.time = (bucket - age) & pghot_time_mask(l);
	r.freq = min_t(u64, freq, pghot_freq_max(l));
	r.who = who;
	return r;
}

/**
 * pghot_renew - a page was accessed after the last report of it
 * @l: layout
 * @r: record before
 * @bucket: the present bucket number
 * @back: since how many buckets ago it is known to have been
 * @threshold: accesses within the window that make a page ready
 *
 * How often is not known: the count stays, and a record that needs more of them
 * is left alone.
 *
 * Return: the record after.
 */
static inline struct pghot_rec
pghot_renew(const struct pghot_layout *l, struct pghot_rec r, u32 bucket,
	    u32 back, u32 threshold)
{
	if (r.ready && r.freq >= threshold && back < l->window_buckets &&
	    pghot_age(l, r, bucket) > back)
		r.time = (bucket - back) & pghot_time_mask(l);
	return r;
}

/**
 * pghot_is_hot - is a ready record still worth acting on
 * @l: layout
 * @r: record
 * @bucket: the present bucket number
 * @threshold: accesses within the window that make a page ready
 *
 * Return: true if it is.
 */
static inline bool pghot_is_hot(const struct pghot_layout *l,
				struct pghot_rec r, u32 bucket, u32 threshold)
{
	return pghot_in_window(l, r, bucket) && r.freq >= threshold;
}

/**
 * pghot_class - frequency class of a record that is not empty
 * @l: layout
 * @r: record
 *
 * Return: 0 to PGHOT_CLASSES - 1, higher is hotter.
 */
static inline u32 pghot_class(const struct pghot_layout *l, struct pghot_rec r)
{
	if (!r.freq)
		return 0;
	return l->linear_classes ? r.freq - 1 : (u32)ilog2(r.freq);
}

#endif /* _MM_PGHOT_RECORD_H */
