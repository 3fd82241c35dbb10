// SPDX-License-Identifier: GPL-2.0
/*
 * Recorders, a consumer and memory hotplug at once.
 *
 *	concurrent layout ROUNDS ACCESSES	layout: default or precise
 *
 * Every record that became ready must end up in exactly one place: taken by
 * the consumer, counted when its section was removed, or still ready; and a last walk must find every one that still is.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/array_size.h>
#include <linux/limits.h>
#include <linux/mmzone.h>
#include <linux/numa.h>

#include "harness.h"
#include "hotmap.h"

#define RECORDERS	3
#define NODES		2

static const unsigned long sections[] = { 5, 6, 511, 512, 513, 1024 };

static struct pghot_map map;
static struct pghot_map_node node[NODES];
static struct pghot_tunables tunables = {
	.freq_threshold = 2, .window_ms = 4000,
};

static u32 now_ms;
static int recording;		/* recorders still at work */
static unsigned long accesses;
/* Held while the consumer runs: what parking kmigrated is in the kernel. */
static pthread_mutex_t consumer_runs = PTHREAD_MUTEX_INITIALIZER;

struct worker {
	pthread_t thread;
	u64 random;
	unsigned long became;	/* records that became ready */
	unsigned long gone;	/* records that were taken or dropped */
};

static u32 next_random(struct worker *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random >> 20;
}

/* Of this thread's batch. */
static __thread unsigned long became;

static void became_ready(const struct pghot_access *access,
			 struct pghot_map_node *owner)
{
	became++;
	if (!owner)
		abort();
}

static void *recorder(void *arg)
{
	static const int nids[] = { 0, 1, 2, NUMA_NO_NODE };
	struct pghot_access batch[50];
	unsigned int nr = 0;
	struct worker *w = arg;
	unsigned long i;

	harness_thread_enter();
	for (i = 0; i < accesses; i++) {
		u32 r = next_random(w);
		unsigned long section = sections[r % ARRAY_SIZE(sections)];
		/* Few enough for threads to meet in one record. */
		unsigned long page = (r >> 8) % 3 * 16300 + (r >> 12) % 16;
		struct pghot_access a = {
			.pfn = section_nr_to_pfn(section) + page,
			.nid = nids[(r >> 16) % 4], .weight = 1,
		};
		struct pghot_map_node *owner = NULL;

		if (r & 1 << 18)
			batch[nr++] = a;
		else if (pghot_map_record(&map, &a, READ_ONCE(now_ms), &tunables,
					  &owner) == PGHOT_BECAME_READY)
			became_ready(&a, owner);
		if (nr == ARRAY_SIZE(batch) || i == accesses - 1) {
			pghot_map_record_batch(&map, batch, nr,
					       READ_ONCE(now_ms), &tunables,
					       became_ready);
			nr = 0;
		}
		if (!(r >> 24))
			__atomic_fetch_add(&now_ms, 500, __ATOMIC_RELAXED);
	}
	w->became = became;
	__atomic_fetch_sub(&recording, 1, __ATOMIC_RELAXED);
	harness_thread_leave();
	return NULL;
}

/* A block's records: take most, leave some for the next walk. */
static void consume(struct worker *w, unsigned long pfn,
		    struct pghot_entry *entries)
{
	u32 min_class = next_random(w) % 3;
	bool more = false;
	unsigned int n, i;

	n = pghot_map_collect(&map, pfn, min_class, READ_ONCE(now_ms),
			      &tunables, entries, &more);
	for (i = 0; i < n; i++) {
		if (next_random(w) % 8 == 0)
			pghot_map_renew(&map, &entries[i],
					READ_ONCE(now_ms) - 1000,
					READ_ONCE(now_ms), &tunables);
		if (next_random(w) % 8)
			w->gone += pghot_map_take(&map, entries[i].pfn);
		else
			more = true;
	}
	/* Marked or held, it is for a later walk. */
	if (more && next_random(w) % 2)
		pghot_map_hold(&map, pfn, PGHOT_WAIT_BIT(0));
	else if (more)
		pghot_map_mark(&map, pfn);
}

static void walk(struct worker *w, const struct pghot_map_node *of,
		 struct pghot_entry *entries)
{
	struct pghot_cursor c = { .wanted = PGHOT_WAIT_BIT(next_random(w) % 2) };
	unsigned long pfn;

	while (pghot_map_next_block(&map, of, &c, &pfn)) {
		consume(w, pfn, entries);
		if (next_random(w) % 16)
			continue;
		pghot_map_stop(&map, &c);
		return;
	}
}

static void *consumer(void *arg)
{
	static struct pghot_entry entries[PGHOT_BLOCK_PAGES];
	struct worker *w = arg;

	harness_thread_enter();
	while (READ_ONCE(recording)) {
		pthread_mutex_lock(&consumer_runs);
		walk(w, &node[next_random(w) % NODES], entries);
		pthread_mutex_unlock(&consumer_runs);
	}
	harness_thread_leave();
	return NULL;
}

static void add_all(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sections); i++)
		if (pghot_map_add(&map, &node[i % NODES], sections[i], 0))
			abort();
}

static void *hotplug(void *arg)
{
	struct worker *w = arg;

	harness_thread_enter();
	while (READ_ONCE(recording)) {
		u32 r = next_random(w);
		unsigned long section = sections[(r >> 8) %
						 ARRAY_SIZE(sections)];

		switch (r % 8) {
		case 0:
			/* All, and with them the leaves: off and on again. */
			w->gone += pghot_map_remove(&map, 0, 2048);
			add_all();
			break;
		case 1:
		case 2:
			w->gone += pghot_map_remove(&map, section,
						    1 + (r >> 5) % 3);
			break;
		default:
			if (pghot_map_add(&map, &node[r >> 5 & 1], section, 0))
				abort();
		}
	}
	harness_thread_leave();
	return NULL;
}

/* Take what the bits lead to; then nothing may be left in the map. */
static bool last_walk(unsigned long left)
{
	static struct pghot_entry entries[PGHOT_BLOCK_PAGES];
	unsigned long found = 0, pfn;
	unsigned int n, i, s;
	bool more = false;

	for (i = 0; i < NODES; i++) {
		struct pghot_cursor c = { .wanted = U8_MAX };

		while (pghot_map_next_block(&map, &node[i], &c, &pfn)) {
			n = pghot_map_collect(&map, pfn, 0, 0, &tunables,
					      entries, &more);
			while (n--)
				found += pghot_map_take(&map, entries[n].pfn);
		}
	}
	if (found != left) {
		printf("%lu records are ready, but a walk finds %lu\n", left,
		       found);
		return false;
	}
	for (s = 0; s < ARRAY_SIZE(sections); s++) {
		pfn = section_nr_to_pfn(sections[s]);
		for (n = 0; n < PAGES_PER_SECTION; n += PGHOT_BLOCK_PAGES) {
			if (!pghot_map_collect(&map, pfn + n, 0, 0, &tunables,
					       entries, &more))
				continue;
			printf("a ready record that no bit leads to\n");
			return false;
		}
	}
	for (i = 0; i < NODES; i++)
		for (n = 0; n < PGHOT_CLASSES; n++) {
			long sum = 0;

			for (s = 0; s < PGHOT_HIST_SHARDS; s++)
				sum += atomic_long_read(&node[i].hist[s].class[n]);
			if (sum) {
				printf("class %u counts nobody\n", n);
				return false;
			}
		}
	return true;
}

/* Of all rounds: in one, the maps may happen to be gone all the time. */
static unsigned long ever_ready;

static bool round_of(u64 seed, bool precise)
{
	void *(*const work[])(void *) = {
		recorder, recorder, recorder, consumer, hotplug,
	};
	struct worker w[ARRAY_SIZE(work)] = { };
	unsigned long became = 0, gone = 0, left = 0;
	unsigned int i;
	bool ok;

	if (pghot_map_init(&map, 2048, precise))
		abort();
	for (i = 0; i < NODES; i++)
		pghot_map_node_init(&node[i], 2 + i);
	add_all();
	recording = RECORDERS;
	for (i = 0; i < ARRAY_SIZE(work); i++) {
		w[i].random = (seed * ARRAY_SIZE(work) + i) *
			      0x9e3779b97f4a7c15ULL | 1;
		if (pthread_create(&w[i].thread, NULL, work[i], &w[i]))
			abort();
	}
	for (i = 0; i < ARRAY_SIZE(work); i++) {
		pthread_join(w[i].thread, NULL);
		became += w[i].became;
		gone += w[i].gone;
	}
	for (i = 0; i < NODES; i++)
		left += pghot_map_ready(&node[i], NULL);
	ever_ready += became;
	ok = became == gone + left;
	if (!ok)
		printf("%lu became ready, %lu are gone, %lu are left\n",
		       became, gone, left);
	ok = ok && last_walk(left);
	pghot_map_exit(&map);
	if (harness_live().pages || harness_live().slab) {
		printf("memory was not freed\n");
		ok = false;
	}
	return ok;
}

int main(int argc, char **argv)
{
	bool ok = true;
	u64 round, rounds;

	if (argc != 4) {
		fprintf(stderr,
			"usage: concurrent default|precise ROUNDS ACCESSES\n");
		return 2;
	}
	rounds = strtoull(argv[2], NULL, 0);
	accesses = strtoul(argv[3], NULL, 0);
	harness_thread_enter();
	for (round = 1; round <= rounds && ok; round++)
		ok = round_of(round, !strcmp(argv[1], "precise"));
	harness_thread_leave();
	if (ok && !ever_ready)
		printf("no record became ready\n");
	return !ok || !ever_ready;
}
