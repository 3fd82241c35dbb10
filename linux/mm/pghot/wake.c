// SPDX-License-Identifier: GPL-2.0
/*
 * Between those who make records ready and the thread that looks for them: how
 * it is woken, and how far it is behind.
 */
#include <linux/hardirq.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/wait.h>

#include "internal.h"

static void wake_work(struct irq_work *work)
{
	wake_up(&container_of(work, struct pghot_node, wake_work)->wait);
}

/**
 * pghot_wake_init - prepare a node for being woken
 * @node: the node
 */
void pghot_wake_init(struct pghot_node *node)
{
	init_waitqueue_head(&node->wait);
	init_irq_work(&node->wake_work, wake_work);
}

/*
 * The lock of a wait queue is not to be taken from an NMI, nor with interrupts off,
 * for whoever has that done may hold a lock that waking up takes. With PREEMPT_RT it
 * sleeps, and so not where preemption is off either.
 */
static bool wake_is_allowed(void)
{
	return !in_nmi() && !irqs_disabled() &&
	       (!IS_ENABLED(CONFIG_PREEMPT_RT) || preemptible());
}

static void wake_thread(struct pghot_node *node)
{
	if (READ_ONCE(node->kick))
		return;
	WRITE_ONCE(node->kick, true);
	pghot_stat_add(PGHOT_STAT_wakeups, 1);
	if (!wake_is_allowed())
		irq_work_queue(&node->wake_work);
	else if (wq_has_sleeper(&node->wait))
		wake_up(&node->wait);
}

/* The thread looks again when a target may take something. */
static bool wake_all_closed_to(struct pghot_node *node, int nid)
{
	if (READ_ONCE(node->all_closed))
		return true;
	return nid >= 0 ? node_isset(nid, node->closed) :
			  READ_ONCE(node->strays_closed);
}

/**
 * pghot_wake_kmigrated - a record became ready: have the thread look for it
 * @node: node of the record
 * @nid: who accesses the page, or NUMA_NO_NODE
 *
 * Context: any, NMI included.
 */
void pghot_wake_kmigrated(struct pghot_node *node, int nid)
{
	/*
	 * Pairs with the barriers in pghot_wake_seen() and pass_open_targets():
	 * either they see the hot bits that were set before, or what they
	 * cleared is seen here.
	 */
	smp_mb();
	if (wake_all_closed_to(node, nid))
		return;
	atomic_long_inc(&node->unseen);
	/* Pairs with the first barrier in pghot_wake_seen(). */
	smp_mb__after_atomic();
	wake_thread(node);
}

/**
 * pghot_wake_for_room - a target has room for what waits: have the thread look
 * @nid: node whose thread it is
 *
 * Context: any, NMI included.
 */
void pghot_wake_for_room(int nid)
{
	struct pghot_node *node = pghot_node(nid);

	if (node)
		wake_thread(node);
}

/**
 * pghot_wake_seen - the thread begins to look at all that is ready
 * @node: its node
 *
 * What is counted from here on, and only that, is @unseen when the thread sleeps
 * the next time. It must be kicked then, or those who find it to be behind make
 * no more records, and nobody wakes it.
 *
 * Context: the node's thread.
 */
void pghot_wake_seen(struct pghot_node *node)
{
	WRITE_ONCE(node->kick, false);
	/*
	 * Pairs with the barrier behind the count in pghot_wake_kmigrated(). Who
	 * counts after the count was reset sees this kick cleared, or one that
	 * somebody has set since.
	 */
	smp_mb();
	atomic_long_set(&node->unseen, 0);
	/*
	 * Pairs with the first barrier in pghot_wake_kmigrated(). Whose count was
	 * reset, or who still saw an old kick, has set the hot bits that the pass
	 * looks at from here on.
	 */
	smp_mb();
}

/**
 * pghot_is_waiting - does what becomes ready wait for targets to open
 * @nid: lower-tier node
 * @from: node that accesses the page
 *
 * Return: true if no target takes such pages just now, as far as is known.
 */
bool pghot_is_waiting(int nid, int from)
{
	struct pghot_node *node = pghot_node(nid);

	return node && wake_all_closed_to(node, from);
}

/*
 * So many records may wait for a thread that has to share its CPU. Some have to
 * go its way, or it would never find out that it has a CPU for itself again.
 */
#define BEHIND_RECORDS	4
/*
 * So many may wait for one that has a CPU for itself: some 4 ms of its work. More
 * come at once where several CPUs fault faster than one thread moves pages.
 */
#define FAR_BEHIND_RECORDS	256

/**
 * pghot_is_behind - is the thread's work better done by those who report
 * @nid: lower-tier node
 *
 * Where no CPU is idle the thread's time is taken from somebody, and it has only
 * part of a CPU, while those who fault have all of theirs: what it would take
 * from one of them, and get done late, they do at once and each for itself. And
 * where it has a CPU, several that fault are faster than one thread is.
 *
 * A thread that nobody has kicked is not behind: it may sleep, and it is the next
 * record that wakes it.
 *
 * Return: true if so.
 */
bool pghot_is_behind(int nid)
{
	struct pghot_node *node = pghot_node(nid);

	return node && READ_ONCE(node->kick) &&
	       atomic_long_read(&node->unseen) >
	       (READ_ONCE(node->crowded) ? BEHIND_RECORDS : FAR_BEHIND_RECORDS);
}
