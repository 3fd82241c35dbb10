// SPDX-License-Identifier: GPL-2.0
/*
 * Threads read a file from beginning to end, over and over, without mapping it.
 *
 * Source: "Promotion of Unmapped Page Cache Folios" (RFC): one to seven readers of
 * a file whose page cache was demoted to CXL memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/workload.h"

#define BUFFER	65536UL

static const char *path = "/mnt/readers";
static uint64_t mib = 48, loops = 24, readers = 1;
static bool wrong;

static const struct workload_option options[] = {
	{ "file", 'f', "", .text = &path },
	{ "mib", 'm', "size of the file", .number = &mib, .low = 1, .high = 1 << 20 },
	{ "loops", 'n', "by each reader", .number = &loops, .low = 1, .high = UINT32_MAX },
	{ "readers", 'r', "", .number = &readers, .low = 1, .high = MAX_THREADS },
	{}
};

/* Each line of the file begins with what belongs there. */
static void make_file(void)
{
	static uint64_t words[BUFFER / sizeof(uint64_t)];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	uint64_t at, i, line = 0;

	if (fd < 0)
		workload_fail("cannot create %s: %s", path, strerror(errno));
	for (at = 0; at < mib << 20; at += BUFFER) {
		for (i = 0; i < BUFFER / LINE; i++)
			words[i * LINE / sizeof(*words)] = line_value(line++);
		if (write(fd, words, BUFFER) != (ssize_t)BUFFER)
			workload_fail("cannot write %s: %s", path, strerror(errno));
	}
	if (getenv("BENCH_CORRUPT") && pwrite(fd, "x", 1, PAGE) != 1)
		workload_fail("cannot write %s", path);
	/* Promotion leaves dirty pages where they are. */
	if (fsync(fd))
		workload_fail("cannot write %s: %s", path, strerror(errno));
	close(fd);
}

static void work(int thread)
{
	uint64_t *buffer = malloc(BUFFER), loop, at, i, differ = 0;
	/* Each begins elsewhere: whether they share what is in the cache is no chance. */
	uint64_t n = (mib << 20) / BUFFER, x = random_start(0);
	uint64_t first = (random_next(&x) % n + n * thread / readers) % n * BUFFER;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || !buffer)
		workload_fail("cannot open %s: %s", path, strerror(errno));
	workload_barrier();
	for (loop = 0; loop < loops; loop++) {
		for (n = 0; n < mib << 20; n += BUFFER) {
			at = (first + n) % (mib << 20);
			if (pread(fd, buffer, BUFFER, at) != (ssize_t)BUFFER)
				workload_fail("cannot read %s: %s", path,
					      strerror(errno));
			/* One line a page: a reader uses what it reads. */
			for (i = 0; i < BUFFER; i += PAGE)
				differ |= buffer[i / sizeof(*buffer)] ^
					  line_value((at + i) / LINE);
		}
	}
	if (differ)
		__atomic_store_n(&wrong, true, __ATOMIC_RELAXED);
	close(fd);
	free(buffer);
}

int main(int argc, char **argv)
{
	double seconds;

	workload_parse(argc, argv, "Readers of a file that is not mapped.", options);
	workload_place(&workload.place);
	make_file();
	workload_place(&(struct list){});

	workload_begin();
	workload_threads(readers, work);
	seconds = workload_end();

	if (wrong)
		workload_fail("the data read is not what was written");
	workload_verified(readers * loops * (mib << 20) / PAGE);
	workload_result(seconds, readers * loops * mib * 1.048576 / seconds, "MB/s",
			"\"readers\":%lu,\"seconds_a_loop\":%.6f", readers,
			seconds / loops);
	return 0;
}
