// SPDX-License-Identifier: GPL-2.0
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "bench.h"

static void (*work)(int thread);
static pthread_barrier_t barrier;

void bench_pin(int thread)
{
	cpu_set_t set;

	if (!bench.cpus.n)
		return;
	CPU_ZERO(&set);
	CPU_SET(bench.cpus.item[thread % bench.cpus.n], &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		bench_fail("there is no CPU %d",
			   bench.cpus.item[thread % bench.cpus.n]);
}

static void *start(void *thread)
{
	bench_pin((long)thread);
	work((long)thread);
	return NULL;
}

void bench_threads(int n, void (*f)(int thread))
{
	pthread_t threads[MAX_THREADS];
	long i;

	work = f;
	pthread_barrier_init(&barrier, NULL, n);
	for (i = 0; i < n; i++) {
		int error = pthread_create(&threads[i], NULL, start, (void *)i);

		if (error)
			bench_fail("no thread: %s", strerror(error));
	}
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
}

void bench_barrier(void)
{
	pthread_barrier_wait(&barrier);
}
