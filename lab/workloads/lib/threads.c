// SPDX-License-Identifier: GPL-2.0
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "workload.h"

static void (*work)(int thread);
static pthread_barrier_t barrier;

void workload_pin(int thread)
{
	cpu_set_t set;

	if (!workload.cpus.n)
		return;
	CPU_ZERO(&set);
	CPU_SET(workload.cpus.item[thread % workload.cpus.n], &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		workload_fail("there is no CPU %d",
			      workload.cpus.item[thread % workload.cpus.n]);
}

static void *start(void *thread)
{
	workload_pin((long)thread);
	work((long)thread);
	return NULL;
}

void workload_threads(int n, void (*f)(int thread))
{
	pthread_t threads[MAX_THREADS];
	long i;

	work = f;
	pthread_barrier_init(&barrier, NULL, n);
	for (i = 0; i < n; i++) {
		int error = pthread_create(&threads[i], NULL, start, (void *)i);

		if (error)
			workload_fail("no thread: %s", strerror(error));
	}
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
}

void workload_barrier(void)
{
	pthread_barrier_wait(&barrier);
}
