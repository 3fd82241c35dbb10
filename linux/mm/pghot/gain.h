/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What exchanging pages gains: where a target is full, each page that comes has
 * another one go. Pure: time and counts come in as arguments, nothing is read
 * from the kernel.
 */
#ifndef _MM_PGHOT_GAIN_H
#define _MM_PGHOT_GAIN_H

#include <linux/types.h>

/* Of so many folios each way it has to be known how often they are accessed. */
#define PGHOT_GAIN_FOLIOS	192U
/*
 * What comes has to count for so much more than what goes. Of as many pages as that,
 * two kinds that are alike differ by more in one case of ten, by chance; where one is
 * accessed twice as often as the other they do in nine of ten.
 */
#define PGHOT_GAIN_PERCENT	110U
/* And for so much more until promotion that was slowed down gets faster. */
#define PGHOT_GAIN_AGAIN	120U
#define PGHOT_GAIN_PERCENT_MAX	10000U
/*
 * Page cache has to be worth more. To read a page copies it, which an exchange does twice.
 * And what is read in turn is watched with its neighbours: of all those pages a dozen say
 * something of their own, and kinds that are alike were seen to differ by a fifth.
 */
#define PGHOT_CACHE_GAIN_PERCENT 140U
#define PGHOT_CACHE_GAIN_AGAIN	150U
/*
 * Promotion is slowed down to no less than so many bytes in a window, and in a second:
 * with less a bucket would not hold a page.
 */
#define PGHOT_SPEED_BYTES	(256U << 10)
#define PGHOT_SPEED_LEAST	(32U << 10)
/* By at most so many powers of two fewer pages are looked for then. */
#define PGHOT_SPEED_HELD_MAX	5U
/* Hint faults are to be so much sooner then, by powers of two. */
#define PGHOT_SPEED_CHOOSY	6U
/* For so many windows at least it stays as it is; then it is given up by a step. */
#define PGHOT_SPEED_PATIENCE	4U
/* It is known sooner that promotion gains, if it does by so much. */
#define PGHOT_GAIN_EARLY	150U
#define PGHOT_GAIN_EARLY_FOLIOS	(PGHOT_GAIN_FOLIOS / 3U)
/* Windows between two tries to promote faster again, at most. */
#define PGHOT_SPEED_WINDOWS	16U

/**
 * struct pghot_use - how often folios of one kind are accessed
 * @folios: how many were watched
 * @roots: the roots of their pages, together
 * @largest: the largest of these
 * @weight: of all that were accessed together, see pghot_use_add()
 * @idle: and of those that were not
 * @idle_roots: the same times the root of each
 */
struct pghot_use {
	u32 folios;
	u32 roots;
	u32 largest;
	u64 weight;
	u64 idle;
	u64 idle_roots;
};

/**
 * struct pghot_gain - what exchanging pages gains, in percent
 * @least: that much at least
 * @most: and at most
 */
struct pghot_gain {
	u32 least;
	u32 most;
};

/**
 * struct pghot_speed - how fast a target takes pages, for what that gains
 * @rate: bytes a second; 0 for any
 * @top: what it was before it was slowed down
 * @wait_ms: for how long it stays so, unless it is known to gain
 * @choosy: by which power of two pages have to be hotter than else
 * @patience: for how many windows it stays as choosy as it is
 */
struct pghot_speed {
	u64 rate;
	u64 top;
	u32 wait_ms;
	u32 choosy;
	u32 patience;
};

void pghot_use_halve(struct pghot_use *use);
void pghot_use_add(struct pghot_use *use, u32 ms, unsigned long nr_pages, bool accessed);
bool pghot_use_known(const struct pghot_use *use);
struct pghot_gain pghot_gain(const struct pghot_use *came, const struct pghot_use *went);
bool pghot_gain_early(const struct pghot_use *least, const struct pghot_use *went);
void pghot_speed_judge(struct pghot_speed *s, u32 percent, u64 bytes, u32 ms,
		       u32 window_ms);
void pghot_speed_try(struct pghot_speed *s);
u32 pghot_held_judge(u32 held, u32 percent);
u32 pghot_held_try(u32 held);
bool pghot_speed_relax(struct pghot_speed *s, u32 ms, bool idle, u32 window_ms);
u32 pghot_speed_held(const struct pghot_speed *s);
u32 pghot_speed_threshold(const struct pghot_speed *s, u32 threshold_ms,
			  u32 least_ms);

#endif /* _MM_PGHOT_GAIN_H */
