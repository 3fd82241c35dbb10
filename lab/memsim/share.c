// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "share.h"

#define STRETCH_NS	(1ULL << SHARE_SHIFT)
/* This part of the level may be taken at once: a bucket of bandwidth.h. */
#define BURST		128
/* Nobody is taken to want more than so many times what it took. */
#define MOST		16

typedef __typeof__(((struct share *)NULL)->slot[0]) slot_t;

static slot_t *slot_of(struct share *s, uint64_t number)
{
	return &s->slot[number % SHARES];
}

/* The last one before @number that all CPUs have passed; NULL if nobody took anything in it. */
static const slot_t *slot_before(const struct share *s, uint64_t number)
{
	const slot_t *then = &s->slot[(number - 2) % SHARES];

	return number >= 2 && then->number == number - 2 ? then : NULL;
}

/*
 * What @who would have taken without waiting, as it waits for each access before the next.
 * Who waited nearly all the time, or for several accesses at once, wants more than there is.
 */
static uint64_t wanted(const slot_t *then, unsigned int who)
{
	uint64_t waited = then->by[who].waited_ns;

	if (waited > STRETCH_NS - STRETCH_NS / MOST)
		waited = STRETCH_NS - STRETCH_NS / MOST;
	return then->by[who].taken * STRETCH_NS / (STRETCH_NS - waited);
}

/* The level at which all have what they want, or the same; 0 where there is enough for all. */
static uint64_t level_of(const slot_t *then, uint64_t capacity)
{
	uint64_t level = 0, last, left;
	unsigned int i, n;

	do {
		last = level;
		left = capacity;
		for (n = i = 0; i < REQUESTERS; i++) {
			uint64_t wants = wanted(then, i);

			if (wants > last)
				n++;
			else
				left -= wants;
		}
		if (!n)
			return 0;
		level = left / n;
	} while (level > last);
	return level;
}

uint32_t share_take(struct share *s, unsigned int who, uint64_t now_ns, uint64_t amount,
		    uint64_t capacity)
{
	uint64_t number = now_ns >> SHARE_SHIFT, due_ns = number << SHARE_SHIFT;
	slot_t *now = slot_of(s, number);

	/* A CPU that is this far behind is alone there. */
	if (now->number > number)
		return 0;
	if (now->number < number) {
		const slot_t *then = slot_before(s, number);

		memset(now, 0, sizeof(*now));
		now->number = number;
		if (then)
			now->level = level_of(then, capacity);
	}
	/* Copies come from several channels, each at a time of its own: none is held to the last. */
	if (now->level && now->by[who].taken > now->level / BURST)
		due_ns += (now->by[who].taken - now->level / BURST) * STRETCH_NS / now->level;
	now->by[who].taken += amount;
	now->total += amount;
	return due_ns > now_ns ? due_ns - now_ns : 0;
}

uint64_t share_taken(const struct share *s, uint64_t now_ns)
{
	const slot_t *then = slot_before(s, now_ns >> SHARE_SHIFT);

	return then ? then->total : 0;
}

void share_waited(struct share *s, unsigned int who, uint64_t now_ns, uint32_t ns)
{
	uint64_t number = now_ns >> SHARE_SHIFT;
	slot_t *now = slot_of(s, number);

	if (now->number == number)
		now->by[who].waited_ns += ns;
}
