// SPDX-License-Identifier: GPL-2.0
/*
 * Random updates (GUPS) of a hot set that moves: seven of eight updates go to
 * it, the others to anywhere in the table.
 */
#include <stdlib.h>

#include "lib/workload.h"

static uint64_t mib = 256, hot_mib = 32, updates = 4000000, moves = 3;
static uint64_t threads = 2, cold_mib;
static struct list cold_place;
static uint64_t *table;
static uint64_t words, shift;
static uint64_t *order;

static const struct workload_option options[] = {
	{ "mib", 'm', "size of the table", .number = &mib, .low = 1, .high = 1 << 20 },
	{ "hot-mib", 'H', "size of the hot set", .number = &hot_mib, .low = 1, .high = 1 << 20 },
	{ "updates", 'n', "of each thread for each place of the hot set", .number = &updates, .low = 1, .high = UINT64_MAX },
	{ "moves", 'M', "places of the hot set in turn", .number = &moves, .low = 1, .high = 1000 },
	{ "cold-place", 'P', "nodes of the cold part", .nodes = &cold_place },
	{ "cold-mib", 'C', "so much of what is never hot lies there", .number = &cold_mib, .low = 0, .high = 1 << 20 },
	{ "threads", 't', "", .number = &threads, .low = 1, .high = MAX_THREADS },
	{}
};

/* Word number @word of the table, which begins anywhere in its memory. */
static uint64_t *word_at(uint64_t word)
{
	return &table[shifted(word, shift, words)];
}

/* The first word of a place of the hot set. */
static uint64_t hot_at(uint64_t move)
{
	uint64_t hot = (hot_mib << 20) / sizeof(*table);
	uint64_t first = order[move] * ((words - hot) / (moves > 1 ? moves - 1 : 1));

	return first > words - hot ? words - hot : first;
}

static bool ever_hot(uint64_t word)
{
	uint64_t hot = (hot_mib << 20) / sizeof(*table), last, move;

	for (move = 0; move < moves; move++) {
		last = word + PAGE / sizeof(*table) - 1;
		if (last >= hot_at(move) && word < hot_at(move) + hot)
			return true;
	}
	return false;
}

/* What is never hot comes first: it may have to fill a node. */
static void make_table(void)
{
	const uint64_t step = PAGE / sizeof(*table);
	uint64_t left = (cold_mib << 20) / PAGE, i, cold = 0;

	table = workload_map(words * sizeof(*table));
	workload_place(workload_filling(&cold_place));
	for (i = 0; i < words && cold < left; i += step) {
		if (!ever_hot(i)) {
			*word_at(i) = 0;
			cold++;
		}
	}
	workload_place(&workload.place);
	for (i = 0; i < words; i += step)
		*word_at(i) = 0;
	workload_place(&(struct list){});
}

/* Adds to one word of each update, or with @back takes away again. */
static void update(int thread, bool back)
{
	uint64_t x = random_start(thread), hot = (hot_mib << 20) / sizeof(*table);
	uint64_t move, n;

	for (move = 0; move < moves; move++) {
		uint64_t first = hot_at(move);

		for (n = 0; n < updates; n++) {
			uint64_t r = random_next(&x);
			uint64_t at = (r & 15) < 14 ? first + (r >> 8) % hot :
						      (r >> 8) % words;

			__atomic_fetch_add(word_at(at), back ? -r : r,
					   __ATOMIC_RELAXED);
		}
	}
}

static void forth(int thread)
{
	workload_barrier();
	update(thread, false);
}

static void back(int thread)
{
	update(thread, true);
}

int main(int argc, char **argv)
{
	double seconds;
	uint64_t i;

	workload_parse(argc, argv, "Random updates of a hot set that moves.", options);
	if (hot_mib > mib)
		workload_fail("the hot set is larger than the table");
	words = (mib << 20) / sizeof(*table);
	order = random_order(moves);
	shift = random_shift((mib << 20) / PAGE) * (PAGE / sizeof(*table));
	make_table();

	seconds = workload_measure(threads, forth);

	/* The same updates backwards leave zeroes. */
	if (getenv("BENCH_CORRUPT"))
		table[0]++;
	workload_threads(threads, back);
	for (i = 0; i < words; i++)
		if (table[i])
			workload_fail("word %lu was not updated rightly", i);
	workload_verified(words);
	workload_result(seconds, threads * moves * updates / seconds, "updates/s",
			"\"words\":%lu,\"first_page\":%lu,\"first\":%lu,\"last\":%lu", words,
			shift * sizeof(*table) / PAGE, order[0], order[moves - 1]);
	return 0;
}
