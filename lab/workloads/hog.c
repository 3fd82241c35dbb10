// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps CPUs busy beside a workload, and says how much it got done meanwhile. Runs in the
 * background: it waits for the measured part to begin, and ends with it.
 *
 * It does nothing that takes the model long: straight lines of instructions that access
 * no memory, which is what moving pages takes from a program that has all it needs in
 * its caches.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/measured.h"
#include "lib/workload.h"

#define LOOK_US	4000	/* between two looks at the files: a tick of the kernel */
#define BLOCK	8192	/* instructions, which are ns in the model */

static const char *begin = RUN_DIRECTORY "/busy", *end = VMSTAT_END;

static const struct workload_option options[] = {
	{ "begin", 'B', "work once this file begins with a 1", .text = &begin },
	{ "end", 'E', "end when this file is there", .text = &end },
	{}
};

static struct {
	uint64_t blocks;
	char apart[LINE * 2 - sizeof(uint64_t)];
} done[MAX_THREADS];
static int working;

static bool begun(void)
{
	int fd = open(begin, O_RDONLY | O_CLOEXEC);
	char first = 0;

	if (fd < 0 || read(fd, &first, 1) < 0)
		workload_fail("cannot read %s: %s", begin, strerror(errno));
	close(fd);
	return first == '1';
}

static uint64_t sum(void)
{
	uint64_t all = 0;
	int i;

	for (i = 0; i < MAX_THREADS; i++)
		all += __atomic_load_n(&done[i].blocks, __ATOMIC_RELAXED);
	return all;
}

/* Looks at the files, and is done in microseconds: it waits for no turn. */
static void watch(void)
{
	struct sched_param first = { .sched_priority = 1 };
	double from, now, seconds = 0;
	uint64_t before, blocks = 0;

	/* Not on a host where only root may: there nothing depends on it. */
	if (sched_setscheduler(0, SCHED_FIFO, &first) && errno != EPERM)
		workload_fail("cannot go before all others: %s", strerror(errno));
	while (!begun())
		usleep(LOOK_US);
	workload_barrier();
	before = sum();
	from = workload_now();
	/* What was done before the last look that found no end was done within the part. */
	do {
		now = workload_now() - from;
		if (now > 0) {
			seconds = now;
			blocks = sum() - before;
		}
		usleep(LOOK_US);
	} while (access(end, F_OK));
	printf("{\"hog\":{\"instructions\":%lu,\"seconds\":%.6f,\"cpus\":%d}}\n",
	       blocks * BLOCK, seconds, working);
	fflush(stdout);
	_exit(0);
}

static void work(int thread)
{
	workload_barrier();
	for (;;) {
		__asm__ volatile(".rept %c0\n\tnop\n\t.endr" : : "i" (BLOCK));
		__atomic_store_n(&done[thread].blocks, done[thread].blocks + 1,
				 __ATOMIC_RELAXED);
	}
}

static void run(int thread)
{
	if (thread < working)
		work(thread);
	else
		watch();
}

int main(int argc, char **argv)
{
	workload_parse(argc, argv, "Keeps the CPUs of --cpus busy.", options);
	working = workload.cpus.n ? workload.cpus.n : 1;
	if (working >= MAX_THREADS)
		workload_fail("more than %d CPUs", MAX_THREADS - 1);
	begun();
	workload_threads(working + 1, run);
	return 0;
}
