/* SPDX-License-Identifier: GPL-2.0 */
/* Pages that are exchanged between node 0 and node 2, in turn. */
#ifndef UNIT_EXCHANGE_H
#define UNIT_EXCHANGE_H

#include <linux/pghot.h>

#include "gain.h"
#include "machine.h"
#include "unit.h"

#define WINDOW		PGHOT_WINDOW_MS
#define FRAMES		((unsigned long)PAGES_PER_SECTION)
#define MOST_TICKS	256

/* How often in the mean pages are accessed that came, and that went; 0: never. */
static unsigned int came_every, went_every;
/* So many may come in a tick, if tokens allow; does another one go for each? */
static unsigned int come_a_tick;
static bool give_away;
/* Of which order those are that come, and those that go. */
static unsigned int came_order, went_order;
/* After how long, in ms, hint faults come; and folios have a place on an LRU list. */
static unsigned int latency, listed_after;
static unsigned long next, came, listed;
/* How many are exchanged, in turn. */
static unsigned long frames;
static u64 seed;

/* Chance is alike for all; the order in which frames are used is not that of PFNs. */
static void use(int nid, unsigned int every)
{
	unsigned long i, n = every ? FRAMES / every : 0;

	if (every && harness_random(&seed) % every < FRAMES % every)
		n++;
	for (i = 0; i < n; i++)
		machine_touch(nid, harness_random(&seed) % FRAMES);
}

/*
 * A page of node 2 comes to a frame of node 0, and another one the other way round. Large
 * folios do with their first pages.
 */
static void move(unsigned long i)
{
	unsigned long k = (i + frames / 2) % frames;
	struct folio from_lower = {
		.nid = 2, .pfn = machine_pfn(2, i), .order = came_order,
	};
	struct folio from_top = {
		.nid = 0, .pfn = machine_pfn(0, k), .order = went_order,
	};

	if (listed_after)
		machine_folio(0, i)->on_lru = machine_folio(2, k)->on_lru = false;
	if (i % (1UL << came_order) == 0)
		__pghot_moved(machine_folio(0, i), &from_lower);
	if (give_away && k % (1UL << went_order) == 0)
		__pghot_moved(machine_folio(2, k), &from_top);
	atomic_long_add(1, &pghot_target(0)->promoted);
	came++;
}

/* Those that came @listed_after ticks ago. */
static void list(void)
{
	static unsigned long came_by[MOST_TICKS];

	came_by[jiffies % MOST_TICKS] = next;
	while (listed < came_by[(jiffies - listed_after) % MOST_TICKS]) {
		machine_folio(0, listed % frames)->on_lru = true;
		machine_folio(2, (listed++ + frames / 2) % frames)->on_lru = true;
	}
}

static bool is_hot(void)
{
	return latency < pghot_speed_threshold(&pghot_target(0)->speed, WINDOW, 5);
}

static void tick(void)
{
	unsigned int i;
	unsigned long paid;
	u32 wait_ms;

	for (i = 0; i < come_a_tick && is_hot(); i++)
		if (pghot_take_tokens(0, 2, 1, &paid, &wait_ms))
			move(next++ % frames);
	if (listed_after)
		list();
	use(0, came_every);
	use(2, went_every);
}

static void begin(unsigned int hot, unsigned int cold)
{
	unsigned long i;

	machine_start(false);
	machine_plug(0, 0, 1);
	machine_room(0, 0);
	for (i = 0; i < FRAMES; i++) {
		machine_folio(0, i)->mapped = true;
		machine_folio(2, i)->mapped = true;
		/* It stays what it was where it moves to and fro. */
		machine_folio(2, i)->mapping = machine_folio(0, i)->mapping;
	}
	came_every = hot;
	went_every = cold;
	come_a_tick = 8;
	give_away = true;
	came_order = 0;
	went_order = 0;
	latency = 0;
	listed_after = 0;
	listed = 0;
	frames = FRAMES;
	next = 0;
	came = 0;
	seed = 1;
	machine_work = tick;
}

/* For after begin(): those that come, or that go, are that large. */
static inline void make_large(bool come, unsigned int order)
{
	unsigned long i;

	for (i = 0; i < FRAMES; i += 1UL << order)
		machine_large(come ? 0 : 2, i, order);
	*(come ? &came_order : &went_order) = order;
	/* One such folio in eight ticks, if they are huge. */
	come_a_tick = 64;
}

static bool is_held_back(void)
{
	return pghot_target_slowed(0);
}

#endif
