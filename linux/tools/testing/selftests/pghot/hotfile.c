// SPDX-License-Identifier: GPL-2.0
/*
 * A file whose page cache is on a given node, and a thread that reads it without
 * mapping it.
 *
 *	hotfile [-c CPU] [-w KB] PATH MB NODE
 *
 *	-c	the reader is bound to this CPU
 *	-w	written, and read, in pieces of this size, which large folios are
 *		made of where there are some; default: 4
 *
 * It is told what to do by lines on its standard input and answers each with one
 * line. Every page holds a pattern of its own, which each read compares.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "region.h"

/* What a pipe has room for, if it is not told otherwise. */
#define HELD	16

static int fd, cpu = -1;
static int held[2];
static size_t piece = PAGE, bytes;
static char *buffer;
static bool running, reading;
static unsigned long bad;

static void fill(unsigned long first)
{
	unsigned long i;

	memset(buffer, 0, piece);
	for (i = 0; i < piece / PAGE; i++)
		*(uint64_t *)(buffer + i * PAGE) = region_pattern(first + i);
}

static void make_file(const char *path, int node)
{
	size_t at;

	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	unlink(path);
	set_policy(MPOL_BIND, 1UL << node);
	for (at = 0; at < bytes; at += piece) {
		fill(at / PAGE);
		if (write(fd, buffer, piece) != (ssize_t)piece)
			die("%s: %s", path, strerror(errno));
	}
	set_policy(MPOL_DEFAULT, 0);
	/* Only clean pages are promoted. */
	if (fsync(fd))
		die("%s: fsync: %s", path, strerror(errno));
}

/* From beginning to end; true if it is what was written. */
static bool read_file(char *to)
{
	bool good = true;
	size_t at, i;

	for (at = 0; at < bytes; at += piece) {
		if (pread(fd, to, piece, at) != (ssize_t)piece)
			die("read: %s", strerror(errno));
		for (i = 0; i < piece; i += PAGE)
			good &= *(uint64_t *)(to + i) == region_pattern((at + i) / PAGE);
	}
	return good;
}

static void *reader(void *unused)
{
	char *to = malloc(piece);

	if (!to)
		die("no memory");
	if (cpu >= 0)
		bind_to(cpu);
	for (;;) {
		bool now = READ_ONCE(running);

		WRITE_ONCE(reading, now);
		if (!now)
			nap_ms(1);
		else if (!read_file(to))
			WRITE_ONCE(bad, bad + 1);
	}
	return unused;
}

static void set_running(bool on)
{
	WRITE_ONCE(running, on);
	while (READ_ONCE(reading) != on)
		nap_ms(1);
}

static void new_pipe(int fds[2])
{
	if (pipe(fds))
		die("no pipe: %s", strerror(errno));
}

static void close_pipe(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

static void splice_page(int from, loff_t *at, int to)
{
	if (splice(from, at, to, NULL, PAGE, 0) != (ssize_t)PAGE)
		die("splice: %s", strerror(errno));
}

/* Page by page through a pipe, as sendfile() does. */
static void splice_file(void)
{
	int pipe_fd[2], null = open("/dev/null", O_WRONLY);
	loff_t at = 0;

	if (null < 0)
		die("/dev/null: %s", strerror(errno));
	new_pipe(pipe_fd);
	while (at < (loff_t)bytes) {
		splice_page(fd, &at, pipe_fd[1]);
		splice_page(pipe_fd[0], NULL, null);
	}
	close_pipe(pipe_fd);
	close(null);
}

/* The first pages stay in a pipe, as many as go into it. */
static void hold(void)
{
	loff_t at = 0;

	new_pipe(held);
	while (at < HELD * (loff_t)PAGE)
		splice_page(fd, &at, held[1]);
}

static void map_file(void)
{
	region.start = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (region.start == MAP_FAILED)
		die("mmap: %s", strerror(errno));
}

/* Accesses by a mapping; when it goes, so do its accessed bits. */
static void touch_mapped(void)
{
	unsigned long page;

	for (page = 0; page < region.nr_pages; page++)
		if (*(uint64_t *)(region.start + page * PAGE) != region_pattern(page))
			bad++;
}

/* By a mapping that is said to be accessed at random, which nobody takes for use. */
static void where(void)
{
	map_file();
	if (madvise(region.start, bytes, MADV_RANDOM) ||
	    madvise(region.start, bytes, MADV_POPULATE_READ))
		die("madvise: %s", strerror(errno));
	region_look();
	region_where("ok");
	region_free();
}

/* What waits on its way to the LRU lists is put there when a page moves. */
static void drain(int node)
{
	map_file();
	madvise(region.start, bytes, MADV_RANDOM);
	madvise(region.start, PAGE, MADV_POPULATE_READ);
	move_pages_of(region.start, 1, &node, region.status);
	region_free();
}

/*
 *	run, stop	read the file over and over, or no more
 *	read, splice	read it once, or page by page through a pipe
 *	hold, let	put its first 16 pages into a pipe; drop what is in that
 *	map, unmap	map it and read all of the mapping; unmap it
 *	where		pages on each node
 *	check		passes and pages that found wrong contents
 */
static bool obey(const char *line)
{
	if (!strcmp(line, "run") || !strcmp(line, "stop")) {
		set_running(*line == 'r');
	} else if (!strcmp(line, "read")) {
		bad += !read_file(buffer);
	} else if (!strcmp(line, "splice")) {
		splice_file();
	} else if (!strcmp(line, "hold")) {
		hold();
	} else if (!strcmp(line, "let")) {
		close_pipe(held);
	} else if (!strcmp(line, "map")) {
		map_file();
		touch_mapped();
	} else if (!strcmp(line, "unmap")) {
		region_free();
	} else if (!strcmp(line, "where")) {
		where();
		return true;
	} else if (!strcmp(line, "check")) {
		printf("%lu\n", READ_ONCE(bad) + !read_file(buffer));
		return true;
	} else {
		return false;
	}
	puts("ok");
	return true;
}

int main(int argc, char **argv)
{
	char line[64];
	pthread_t thread;
	int option, node;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((option = getopt(argc, argv, "c:w:")) != -1) {
		if (option == 'c')
			cpu = atoi(optarg);
		else if (option == 'w')
			piece = strtoul(optarg, NULL, 10) << 10;
		else
			die("hotfile [-c CPU] [-w KB] PATH MB NODE");
	}
	if (argc - optind != 3)
		die("hotfile [-c CPU] [-w KB] PATH MB NODE");
	bytes = strtoul(argv[optind + 1], NULL, 10) << 20;
	node = atoi(argv[optind + 2]);
	if (!bytes || piece < PAGE || bytes % piece || piece % PAGE)
		die("%lu KB do not go into %zu MB", (unsigned long)(piece >> 10), bytes >> 20);
	region.nr_pages = bytes / PAGE;
	region.status = calloc(region.nr_pages, sizeof(*region.status));
	buffer = malloc(piece);
	if (!region.status || !buffer)
		die("no memory");

	make_file(argv[optind], node);
	drain(node);
	if (pthread_create(&thread, NULL, reader, NULL))
		die("cannot start a thread");
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		if (!obey(line))
			die("unknown command %s", line);
	}
	return 0;
}
