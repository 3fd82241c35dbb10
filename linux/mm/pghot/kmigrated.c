// SPDX-License-Identifier: GPL-2.0
/*
 * kmigrated: one thread for each lower-tier node, which sleeps until a record
 * becomes ready and promotes what is.
 *
 * The thread takes no lock that anyone holds while stopping or parking it.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/numa_promotion.h>
#include <linux/sched.h>
#include <linux/topology.h>

#include "internal.h"

/*
 * A batch costs a wakeup and an interrupt to each CPU that uses its pages, be
 * it of one page or of hundreds. The first page moves at once; what becomes
 * ready soon after moves together.
 */
#define GATHER_US	1000
/*
 * Where others want the thread's CPU they have it for a slice of the scheduler
 * first (some 3 ms). Meanwhile faults move what becomes ready, and what is left
 * for the thread costs no more than what it learns: whether it has a CPU again.
 */
#define CROWDED_US	4000
/*
 * But where no target has room for all, faults move nothing. What the thread takes
 * from others is less, the fewer its batches, and to go by heat there has to be a
 * choice.
 */
#define CROWDED_FULL_US	16000

/*
 * Where no CPU is idle, a thread like all others has half of one. What is hot is then
 * slow for twice as long, to those who have the other half as to all, and what was
 * found at once goes stale before its turn. There is no more to be done than was to
 * be done anyway: with this weight it has three quarters of a CPU, and is ready
 * sooner.
 */
#define KMIGRATED_NICE	(-5)

/* The clock of records counts round; so do eras. */
static void kmigrated_expire(struct pghot_node *node)
{
	u32 now = pghot_now_ms();
	bool all;

	if (!pghot_map_expire_due(&pghot_map, &pghot_tunables, node->expired_ms,
				  now, &all))
		return;
	pghot_map_expire(&pghot_map, &node->map, now, &pghot_tunables, all);
	node->expired_ms = now;
}

/*
 * Sleep until a record becomes ready for a target that takes something, or the
 * next pass is due: because a target may have opened, what was busy may be free,
 * or what waits may have gone stale. Or until kmigrated_expire() is due, also because
 * the clock wraps.
 */
static void kmigrated_wait(struct pghot_node *node, u32 due_ms)
{
	u32 expire_ms = pghot_map_expire_ms(&pghot_map, &pghot_tunables);
	u32 wrap_ms = max(0U - pghot_now_ms(), 1U);

	due_ms = min(due_ms, min(expire_ms, wrap_ms));
	wait_event_freezable_timeout(node->wait,
				     READ_ONCE(node->kick) ||
				     kthread_should_stop() ||
				     kthread_should_park(),
				     msecs_to_jiffies(due_ms));
}

static unsigned int kmigrated_gather_us(const struct pghot_node *node)
{
	int nid;

	if (!READ_ONCE(node->crowded))
		return GATHER_US;
	for_each_node_state(nid, N_MEMORY)
		if (pghot_may_promote_to(nid) &&
		    pgdat_free_space_enough(NODE_DATA(nid)))
			return CROWDED_US;
	return CROWDED_FULL_US;
}

/* Let readiness add up, without being woken for each record. */
static void kmigrated_gather(struct pghot_node *node)
{
	unsigned int us = kmigrated_gather_us(node);

	WRITE_ONCE(node->kick, true);
	usleep_range_idle(us, us + us / 4);
}

static int kmigrated(void *data)
{
	struct pghot_node *node = data;
	/* There may be records from before the thread. */
	u32 due_ms = READ_ONCE(pghot_period_ms);
	long promoted;

	set_user_nice(current, KMIGRATED_NICE);
	set_freezable();
	while (!kthread_should_stop()) {
		if (kthread_should_park()) {
			pghot_pass_park(node->pass);
			kthread_parkme();
			continue;
		}
		/* A wait that is over at once does not freeze. */
		try_to_freeze();
		kmigrated_wait(node, due_ms);
		if (kthread_should_stop() || kthread_should_park())
			continue;

		kmigrated_expire(node);
		pghot_wake_seen(node);
		promoted = atomic_long_read(&node->promoted);
		due_ms = pghot_pass_run(node->pass);
		promoted = atomic_long_read(&node->promoted) - promoted;
		/* More than a batch came during one pass: it gathers as it is. */
		if (promoted && promoted < READ_ONCE(pghot_batch_pages))
			kmigrated_gather(node);
	}
	return 0;
}

/**
 * pghot_is_kmigrated - is a task the thread of a node
 * @task: the task; it does not end meanwhile
 *
 * Context: any, NMI included.
 *
 * Return: true if so, of whichever node.
 */
bool pghot_is_kmigrated(struct task_struct *task)
{
	return kthread_func(task) == kmigrated;
}

/*
 * The node whose CPUs are next to @nid; a lower tier mostly has none. Those that are
 * offline count too: they may come, and the thread was never to be run elsewhere.
 * Until then it runs anywhere.
 */
static int kmigrated_cpu_node(int nid)
{
	int best = NUMA_NO_NODE, best_distance = INT_MAX;
	unsigned int cpu;

	for_each_present_cpu(cpu) {
		int n = cpu_to_node(cpu);

		if (n == NUMA_NO_NODE)
			continue;
		/* Seen from the CPU: that is the direction that firmware fills. */
		if (node_distance(n, nid) < best_distance) {
			best = n;
			best_distance = node_distance(n, nid);
		}
	}
	return best;
}

/**
 * pghot_kmigrated_start - start the thread of a node
 * @node: the node
 *
 * Context: pghot_lock held.
 *
 * Return: 0 or a negative error.
 */
int pghot_kmigrated_start(struct pghot_node *node)
{
	struct task_struct *thread;

	node->pass = pghot_pass_alloc(node);
	if (!node->pass)
		return -ENOMEM;
	/* Records are no older. */
	node->expired_ms = pghot_now_ms();

	/* Not affine to a mask: to the node it keeps to as CPUs come and go. */
	thread = kthread_create_on_node(kmigrated, node,
					kmigrated_cpu_node(node->map.nid),
					"kmigrated%d", node->map.nid);
	if (IS_ERR(thread)) {
		pghot_pass_free(node->pass);
		node->pass = NULL;
		return PTR_ERR(thread);
	}
	node->kmigrated = get_task_struct(thread);
	wake_up_process(thread);
	return 0;
}

/**
 * pghot_kmigrated_stop - stop the thread of a node
 * @node: the node
 *
 * What it has isolated is moved or put back first.
 *
 * Context: pghot_lock held.
 */
void pghot_kmigrated_stop(struct pghot_node *node)
{
	struct task_struct *thread = node->kmigrated;

	if (!thread)
		return;
	node->kmigrated = NULL;
	kthread_stop(thread);
	put_task_struct(thread);
	/* Not the thread's to free: one that is stopped at once never runs. */
	pghot_pass_free(node->pass);
	node->pass = NULL;
}
