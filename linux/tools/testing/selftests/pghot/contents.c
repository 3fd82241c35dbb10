// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that is moved to and fro while it is read and written, and whether each byte of
 * it is what it should be.
 *
 *	contents [-f] [-w WRITERS] KIND MB NODE NODE ROUNDS
 *
 *	KIND	anon, thp, shmem, locked, huge, file:PATH
 *	-f	processes are forked meanwhile, and look at what they have inherited
 *	-w	threads that write; default: 2. Each second one has the kernel write for it,
 *		by a reference to the page
 *
 * All is moved by move_pages(2) to the one node and to the other, so many times. Prints
 * one line: pages that arrived, summed up, and pages that were found wrong.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>

#include "region.h"

#define WORDS		(PAGE / sizeof(uint64_t))
#define WRITERS_MAX	8

static int nr_writers = 2;
static bool forks, shared;
static int stop, memory_fd;
static unsigned long wrong;
/* What each writer has counted in each page, in memory that stays where it is. */
static uint64_t *counted[WRITERS_MAX];

/* The last words of a page are the writers'. */
static uint64_t *words_of(unsigned long page)
{
	return (uint64_t *)(region.start + page * PAGE);
}

static uint64_t pattern(unsigned long page, unsigned long word)
{
	return (page * WORDS + word + 1) * 0x9e3779b97f4a7c15ULL;
}

static bool page_is_wrong(unsigned long page)
{
	const uint64_t *words = words_of(page);
	unsigned long word;

	for (word = 0; word < WORDS - WRITERS_MAX; word++)
		if (READ_ONCE(words[word]) != pattern(page, word))
			return true;
	return false;
}

static void fill(void)
{
	unsigned long page, word;

	for (page = 0; page < region.nr_pages; page++)
		for (word = 0; word < WORDS - WRITERS_MAX; word++)
			words_of(page)[word] = pattern(page, word);
}

/* By the kernel, which holds a reference to the page meanwhile. */
static void write_by_kernel(uint64_t *word, uint64_t value)
{
	if (pwrite(memory_fd, &value, sizeof(value), (uintptr_t)word) != sizeof(value))
		die("/proc/self/mem: %s", strerror(errno));
}

static void *writer(void *arg)
{
	long me = (long)arg;
	uint64_t x = me + 1;

	while (!READ_ONCE(stop)) {
		unsigned long page = (x = x * 6364136223846793005ULL + 1) >> 33;
		uint64_t *word;

		page %= region.nr_pages;
		word = &words_of(page)[WORDS - WRITERS_MAX + me];
		/* A write that got lost shows at the next one, or in the end. */
		if (READ_ONCE(*word) != counted[me][page])
			__sync_fetch_and_add(&wrong, 1);
		counted[me][page] = READ_ONCE(*word) + 1;
		if (me % 2)
			write_by_kernel(word, counted[me][page]);
		else
			WRITE_ONCE(*word, counted[me][page]);
	}
	return NULL;
}

static void *reader(void *arg)
{
	unsigned long page = 0;

	while (!READ_ONCE(stop)) {
		if (page_is_wrong(page))
			__sync_fetch_and_add(&wrong, 1);
		page = (page + 7) % region.nr_pages;
	}
	return arg;
}

/* A child has the pages as they were, whatever becomes of the parent's. */
static void fork_and_look(void)
{
	pid_t child = fork();
	unsigned long page, bad = 0;
	int status;

	if (child < 0)
		die("fork: %s", strerror(errno));
	if (!child) {
		for (page = 0; page < region.nr_pages; page++)
			bad += page_is_wrong(page);
		for (page = 0; page < region.nr_pages && !shared; page += 3)
			WRITE_ONCE(words_of(page)[0], 0);
		_exit(bad != 0);
	}
	if (waitpid(child, &status, 0) != child || status)
		__sync_fetch_and_add(&wrong, 1);
}

static void *forker(void *arg)
{
	while (!READ_ONCE(stop))
		fork_and_look();
	return arg;
}

static void begin(pthread_t *thread, void *(*what)(void *), long arg)
{
	if (pthread_create(thread, NULL, what, (void *)arg))
		die("cannot start a thread");
}

int main(int argc, char **argv)
{
	pthread_t threads[WRITERS_MAX + 2];
	unsigned long page, rounds, moved = 0, i;
	int nodes[2], option, n = 0;
	const char *kind;
	unsigned long mb;
	bool locked;

	while ((option = getopt(argc, argv, "fw:")) != -1) {
		if (option == 'f')
			forks = true;
		else if (option == 'w')
			nr_writers = atoi(optarg);
	}
	if (argc - optind != 5 || nr_writers < 0 || nr_writers > WRITERS_MAX)
		die("usage: contents [-f] [-w WRITERS] KIND MB NODE NODE ROUNDS");
	kind = argv[optind];
	mb = strtoul(argv[optind + 1], NULL, 0);
	nodes[0] = atoi(argv[optind + 2]);
	nodes[1] = atoi(argv[optind + 3]);
	rounds = strtoul(argv[optind + 4], NULL, 0);
	if (!mb)
		die("no memory to move");
	memory_fd = open("/proc/self/mem", O_RDWR);
	if (memory_fd < 0)
		die("/proc/self/mem: %s", strerror(errno));
	locked = !strcmp(kind, "locked");
	shared = !strcmp(kind, "shmem") || !strncmp(kind, "file:", 5);
	region_make(locked ? "anon" : kind, mb, nodes[1], false);
	if (locked)
		region_lock();
	fill();

	for (n = 0; n < nr_writers; n++) {
		counted[n] = calloc(region.nr_pages, sizeof(uint64_t));
		if (!counted[n])
			die("no memory");
		begin(&threads[n], writer, n);
	}
	begin(&threads[n++], reader, 0);
	if (forks)
		begin(&threads[n++], forker, 0);
	for (i = 0; i < rounds; i++) {
		region_move_to(nodes[i % 2]);
		/* What it says of pages that came along with others is not where they are. */
		region_look();
		moved += region_count_on(1UL << nodes[i % 2]);
	}
	WRITE_ONCE(stop, 1);
	while (n)
		pthread_join(threads[--n], NULL);

	for (page = 0; page < region.nr_pages; page++) {
		wrong += page_is_wrong(page);
		for (n = 0; n < nr_writers; n++)
			wrong += words_of(page)[WORDS - WRITERS_MAX + n] !=
				 counted[n][page];
	}
	printf("moved=%lu wrong=%lu\n", moved, wrong);
	return 0;
}
