/* SPDX-License-Identifier: GPL-2.0 */
/* What the helpers need of NUMA, by plain system calls: no library required. */
#ifndef PGHOT_SELFTEST_NUMA_H
#define PGHOT_SELFTEST_NUMA_H

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE		4096UL
#define NODES_MAX	64
#define CPUS_MAX	8192

/* Of what other threads and processes change, or of memory to be accessed. */
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), value, __ATOMIC_RELAXED)

/* A macro, so that the compiler checks the format as it does printf()'s. */
#define die(...)							\
	do {								\
		fprintf(stderr, __VA_ARGS__);				\
		fputc('\n', stderr);					\
		exit(1);						\
	} while (0)

/* "0,2" -> bit mask */
static inline unsigned long parse_nodes(const char *list)
{
	unsigned long mask = 0;
	char *end;

	do {
		unsigned long node = strtoul(list, &end, 10);

		if (end == list || node >= NODES_MAX)
			die("bad node list at '%s'", list);
		mask |= 1UL << node;
		list = end + 1;
	} while (*end == ',');
	return mask;
}

/* Memory policy of the calling thread; a mask of 0 goes with MPOL_DEFAULT. */
static inline void set_policy(int mode, unsigned long nodes)
{
	if (syscall(SYS_set_mempolicy, mode, nodes ? &nodes : NULL,
		    nodes ? sizeof(nodes) * 8 : 0))
		die("set_mempolicy: %s", strerror(errno));
}

/* The same of a range of memory; what is there stays where it is. */
static inline void set_policy_of(char *start, size_t bytes, int mode,
				 unsigned long nodes)
{
	if (syscall(SYS_mbind, start, bytes, mode, nodes ? &nodes : NULL,
		    nodes ? sizeof(nodes) * 8 : 0, 0))
		die("mbind: %s", strerror(errno));
}

/*
 * Where @nr pages from @base are, if @to is NULL, or move them there. The status
 * of each is its node or a negative error.
 */
static inline void move_pages_of(char *base, unsigned long nr, const int *to,
				 int *status)
{
	void **pages = malloc(nr * sizeof(*pages));
	unsigned long i;

	if (!pages)
		die("no memory for %lu page addresses", nr);
	for (i = 0; i < nr; i++)
		pages[i] = base + i * PAGE;
	if (syscall(SYS_move_pages, 0, nr, pages, to, status,
		    to ? MPOL_MF_MOVE : 0) < 0)
		die("move_pages: %s", strerror(errno));
	free(pages);
}

/* Have the calling thread run on one CPU only. */
static inline void bind_to(int cpu)
{
	unsigned long cpus[CPUS_MAX / 64] = { };

	if (cpu < 0 || cpu >= CPUS_MAX)
		die("no CPU %d", cpu);
	cpus[cpu / 64] = 1UL << cpu % 64;
	if (syscall(SYS_sched_setaffinity, 0, sizeof(cpus), cpus) < 0)
		die("CPU %d: %s", cpu, strerror(errno));
}

static inline uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ULL + t.tv_nsec / 1000;
}

static inline void nap_ms(unsigned int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

#endif /* PGHOT_SELFTEST_NUMA_H */
