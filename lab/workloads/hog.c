// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps CPUs busy beside a workload, and says how much it got done meanwhile. Runs in the
 * background: it waits for the measured part to begin, and ends with it.
 *
 * It does nothing that takes the model long: straight lines of instructions that access
 * no memory, which is what moving pages takes from a program that has all it needs in
 * its caches.
 *
 * On the CPUs of the workload itself it gives way to all others (SCHED_IDLE). What it gets
 * there is what they leave, and is counted by itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/measured.h"
#include "lib/workload.h"

#define LOOK_US	4000	/* between two looks at the files: a tick of the kernel */
#define BLOCK	8192	/* instructions, which are ns in the model */
/*
 * The same between two calls of the kernel by what gives way. Where preemption is lazy,
 * what wakes on its CPU waits until it is in the kernel, and without a call that is the
 * next tick.
 */
#define SHORT	4096

#define RUN(n)	__asm__ volatile(".rept %c0\n\tnop\n\t.endr" : : "i" (n))

static const char *begin = RUN_DIRECTORY "/busy", *end = VMSTAT_END;
static struct list idle_cpus;

static const struct workload_option options[] = {
	{ "begin", 'B', "work once this file begins with a 1", .text = &begin },
	{ "end", 'E', "end when this file is there", .text = &end },
	{ "idle-cpus", 'I', "CPUs to keep busy giving way to all others", .nodes = &idle_cpus },
	{}
};

static struct {
	uint64_t instructions;
	char apart[LINE * 2 - sizeof(uint64_t)];
} done[MAX_THREADS];
/* Threads: those of --cpus, and from there on those of --idle-cpus. */
static int working, all;

/* What was done up to some time. */
struct sums {
	uint64_t working, idle;
};

static bool begun(void)
{
	int fd = open(begin, O_RDONLY | O_CLOEXEC);
	char first = 0;

	if (fd < 0 || read(fd, &first, 1) < 0)
		workload_fail("cannot read %s: %s", begin, strerror(errno));
	close(fd);
	return first == '1';
}

static struct sums sum(void)
{
	struct sums s = {};
	int i;

	for (i = 0; i < all; i++)
		*(i < working ? &s.working : &s.idle) +=
			__atomic_load_n(&done[i].instructions, __ATOMIC_RELAXED);
	return s;
}

/* Looks at the files, and is done in microseconds: it waits for no turn. */
static void watch(void)
{
	struct sched_param first = { .sched_priority = 1 };
	double from, now, seconds = 0;
	struct sums before, last;

	/* Not on a host where only root may: there nothing depends on it. */
	if (sched_setscheduler(0, SCHED_FIFO, &first) && errno != EPERM)
		workload_fail("cannot go before all others: %s", strerror(errno));
	while (!begun())
		usleep(LOOK_US);
	workload_barrier();
	before = sum();
	last = before;
	from = workload_now();
	/* What was done before the last look that found no end was done within the part. */
	do {
		now = workload_now() - from;
		if (now > 0) {
			seconds = now;
			last = sum();
		}
		usleep(LOOK_US);
	} while (access(end, F_OK));
	printf("{\"hog\":{\"instructions\":%lu,\"seconds\":%.6f,\"cpus\":%d,",
	       last.working - before.working, seconds, working);
	printf("\"idle_instructions\":%lu,\"idle_cpus\":%d}}\n",
	       last.idle - before.idle, all - working);
	fflush(stdout);
	_exit(0);
}

static void count(int thread, uint64_t n)
{
	__atomic_store_n(&done[thread].instructions, done[thread].instructions + n,
			 __ATOMIC_RELAXED);
}

static void work(int thread)
{
	workload_barrier();
	for (;;) {
		RUN(BLOCK);
		count(thread, BLOCK);
	}
}

static void work_idle(int thread)
{
	if (sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){}))
		workload_fail("cannot give way to others: %s", strerror(errno));
	workload_barrier();
	for (;;) {
		RUN(SHORT);
		count(thread, SHORT);
		syscall(SYS_getppid);
	}
}

static void run(int thread)
{
	if (thread < working)
		work(thread);
	else if (thread < all)
		work_idle(thread);
	else
		watch();
}

int main(int argc, char **argv)
{
	struct list *cpus = &workload.cpus;
	int i;

	workload_parse(argc, argv, "Keeps the CPUs of --cpus and --idle-cpus busy.", options);
	working = cpus->n || idle_cpus.n ? cpus->n : 1;
	all = working + idle_cpus.n;
	if (all >= MAX_THREADS)
		workload_fail("more than %d CPUs", MAX_THREADS - 1);
	/* Threads have their CPUs in this order, and whoever watches the first one. */
	for (i = 0; i < idle_cpus.n; i++)
		cpus->item[cpus->n++] = idle_cpus.item[i];
	begun();
	workload_threads(all + 1, run);
	return 0;
}
