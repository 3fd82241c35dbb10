// SPDX-License-Identifier: GPL-2.0
/*
 * Those who make records ready against the thread that begins to look for them.
 *
 *	concurrent_wake SECONDS
 *
 * Whatever comes first: when all are through, and the thread would sleep, it is
 * kicked if anything is unseen, or what it left behind is behind for ever.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../linux/mm/pghot/internal.h"

struct pghot_stat_counts pghot_stat_counts;
bool machine_irqs_off, machine_preempt_off, machine_preempt_rt;

static struct pghot_node node = { .crowded = true };
/* The round that the reporter may begin, and the last one it is through with. */
static unsigned long begun, through;
static bool over;

struct pghot_node *pghot_nodes[MAX_NUMNODES] = { &node };

/* Both at once, if there are CPUs for both, and in any order. */
static void wait_for(unsigned long *counter, unsigned long value)
{
	unsigned int i = 0;

	while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < value)
		if (++i % 256 == 0)
			sched_yield();
}

/* As if preempted: at some barriers the other one goes on first, on any machine. */
static void now_and_then(void)
{
	static __thread unsigned int calls;

	if (++calls % 3 == 0)
		sched_yield();
}

void (*machine_meanwhile)(void) = now_and_then;

static void idle(unsigned long n)
{
	while (n--)
		barrier();
}

/* As many as make it behind, or fewer. */
static void *reporter(void *arg)
{
	unsigned long i, n;

	for (i = 1;; i++) {
		wait_for(&begun, i);
		if (READ_ONCE(over))
			return NULL;
		idle(i * 7 % 61);
		for (n = 0; n < 1 + i % 6; n++)
			pghot_wake_kmigrated(&node, 0);
		__atomic_store_n(&through, i, __ATOMIC_RELEASE);
	}
}

static bool in_order(unsigned long round)
{
	long unseen = atomic_long_read(&node.unseen);

	if (unseen > 0 && !READ_ONCE(node.kick))
		printf("round %lu: %ld are unseen, and nobody kicked the thread\n",
		       round, unseen);
	else if (pghot_is_behind(0) != (unseen > 4))
		printf("round %lu: behind with %ld\n", round, unseen);
	else
		return true;
	return false;
}

int main(int argc, char **argv)
{
	unsigned long i = 0, some = 0;
	pthread_t thread;
	time_t end;
	bool ok = true;

	if (argc != 2) {
		fprintf(stderr, "usage: concurrent_wake SECONDS\n");
		return 2;
	}
	end = time(NULL) + strtoul(argv[1], NULL, 0);
	pghot_wake_init(&node);
	if (pthread_create(&thread, NULL, reporter, NULL))
		abort();
	while (ok && time(NULL) <= end) {
		__atomic_store_n(&begun, ++i, __ATOMIC_RELEASE);
		idle(i * 11 % 127);
		pghot_wake_seen(&node);
		wait_for(&through, i);
		some += atomic_long_read(&node.unseen) > 0;
		ok = in_order(i);
	}
	WRITE_ONCE(over, true);
	__atomic_store_n(&begun, i + 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	if (ok && !some)
		printf("nothing was ever left unseen\n");
	return !ok || !some;
}
