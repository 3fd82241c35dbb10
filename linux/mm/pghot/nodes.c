// SPDX-License-Identifier: GPL-2.0
/*
 * Which nodes pghot serves, as memory comes and goes and as tiers change: maps
 * and a thread for each lower-tier node; of top-tier nodes target.c is told. While
 * pghot is switched off there are no maps, and the threads are parked.
 *
 * Everything is brought in line by nodes_sync(), which may run any time and
 * any number of times. Locks nest memory hotplug lock -> pghot_lock.
 *
 * Who switches does not wait for memory hotplug, which may try for minutes to get a block offline.
 * Under pghot_lock a page that is online keeps its struct page: that goes after the
 * notifier was called, which takes the lock. What comes or goes while whole nodes are gone
 * through is seen, or the notifier comes after that.
 */
#define pr_fmt(fmt) "pghot: " fmt

#include <linux/init.h>
#include <linux/kthread.h>
#include <linux/limits.h>
#include <linux/memory.h>
#include <linux/memory-tiers.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/pghot.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/workqueue.h>

#include "internal.h"

/* Serialises changes of the map, of nodes and of targets. */
DEFINE_MUTEX(pghot_lock);

struct pghot_node *pghot_nodes[MAX_NUMNODES];
/* Those that are active, for who asks often: changed under pghot_lock. */
nodemask_t pghot_lower_nodes __read_mostly;
/* Before it is known: all. */
struct pghot_scan_pfns pghot_scan_pfns __read_mostly = { .nr = ULONG_MAX };
static struct kobject *nodes_parent;
/* Maps are there and threads run. Protected by pghot_lock. */
static bool serving;

static bool nodes_is_lower(int nid)
{
	return node_state(nid, N_MEMORY) && !node_is_toptier(nid);
}

/*
 * The node that a section's pages belong to, NUMA_NO_NODE if it is offline. A
 * section that two nodes share counts for the one that its last page is on;
 * kmigrated looks at each folio's own node.
 */
static int nodes_section_nid(unsigned long section)
{
	unsigned long pfn = section_nr_to_pfn(section);
	struct page *page = pfn_to_online_page(pfn + PAGES_PER_SECTION - 1);

	if (!page)
		page = pfn_to_online_page(pfn);
	return page ? page_to_nid(page) : NUMA_NO_NODE;
}

/*
 * The records are hot themselves, and what they are in cannot go offline: not into the memory
 * that they describe, as long as a target can make room for them.
 */
static int nodes_add_section(struct pghot_node *node, unsigned long section)
{
	int nid = NUMA_NO_NODE, err;

	do {
		nid = pghot_next_target(NUMA_NO_NODE, node->map.nid, NULL, nid);
		err = pghot_map_add(&pghot_map, &node->map, section, nid);
	} while (err == -ENOMEM && nid != NUMA_NO_NODE);
	if (err)
		pr_warn_ratelimited("no memory for the hot map, part of node %d is not tracked (%d)\n",
				    node->map.nid, err);
	return err;
}

static int nodes_add_sections(struct pghot_node *node, unsigned long section,
			      unsigned long nr)
{
	int err = 0;

	for (; serving && nr && !err; nr--, section++)
		if (nodes_section_nid(section) == node->map.nid)
			err = nodes_add_section(node, section);
	return err;
}

/* A node's span may change meanwhile: whose the sections are, they say themselves. */
static int nodes_add_all(struct pghot_node *node)
{
	unsigned long section;
	int err = 0;

	if (!serving)
		return 0;
	for_each_present_section_nr(0, section) {
		cond_resched();
		err = nodes_add_sections(node, section, 1);
		if (err)
			break;
	}
	return err;
}

/*
 * Sections of @node only: those of other nodes may lie between them. What was
 * ready is counted as @skip.
 */
static void nodes_remove_sections(struct pghot_node *node, enum pghot_stat skip)
{
	unsigned long section = node->map.first, run = 0, lost = 0;

	for (; node->map.sections && section <= node->map.last; section++) {
		cond_resched();
		if (pghot_map_owner(&pghot_map, section_nr_to_pfn(section)) ==
		    &node->map) {
			run++;
			continue;
		}
		lost += pghot_map_remove(&pghot_map, section - run, run);
		run = 0;
	}
	lost += pghot_map_remove(&pghot_map, section - run, run);
	pghot_stat_add(skip, lost);
}

/* Sections only with a thread: who reports leaves the decision to it. */
static int nodes_start(int nid)
{
	struct pghot_node *node = pghot_nodes[nid];
	int err;

	if (!node) {
		node = kzalloc_obj(*node);
		if (!node) {
			pr_warn("no memory for node %d, it is not tracked\n",
				nid);
			return -ENOMEM;
		}
		pghot_map_node_init(&node->map, nid);
		pghot_wake_init(node);
		/* Who finds it with pghot_node() finds it set up. */
		smp_store_release(&pghot_nodes[nid], node);
	}
	if (!node->active) {
		err = pghot_kmigrated_start(node);
		if (err) {
			pr_warn("cannot start kmigrated%d, node %d is not tracked\n",
				nid, nid);
			return err;
		}
		if (!serving)
			kthread_park(node->kmigrated);
		node->active = true;
		node_set(nid, pghot_lower_nodes);
	}
	pghot_node_add_dir(node, nodes_parent);
	return nodes_add_all(node);
}

static void nodes_stop(int nid)
{
	struct pghot_node *node = pghot_nodes[nid];

	if (!node || !node->active)
		return;
	node_clear(nid, pghot_lower_nodes);
	nodes_remove_sections(node, PGHOT_STAT_skip_offline);
	pghot_del_dir(&node->kobj);
	pghot_kmigrated_stop(node);
	node->active = false;
}

/*
 * Which pages may be of lower tiers: those of others the scanner for hint faults passes over.
 * Spans of nodes change under the memory hotplug lock, which is held.
 */
static void nodes_bound_scan(void)
{
	unsigned long first = ULONG_MAX, end = 0;
	int nid;

	for_each_node_state(nid, N_MEMORY) {
		pg_data_t *pgdat = NODE_DATA(nid);

		if (!nodes_is_lower(nid))
			continue;
		first = min(first, pgdat->node_start_pfn);
		end = max(end, pgdat_end_pfn(pgdat));
	}
	WRITE_ONCE(pghot_scan_pfns.first, first);
	WRITE_ONCE(pghot_scan_pfns.nr, end - min(first, end));
}

/* Return the first error there was. The other nodes are served all the same. */
static int nodes_sync(void)
{
	int nid, err = 0;

	lockdep_assert_held(&pghot_lock);
	for_each_node(nid) {
		err = pghot_target_sync(nid, nodes_parent) ?: err;
		err = pghot_exchange_sync(nid) ?: err;
		if (nodes_is_lower(nid))
			err = nodes_start(nid) ?: err;
		else
			nodes_stop(nid);
	}
	pghot_ask_sync();
	return err;
}

static int nodes_serve(bool serve)
{
	int nid, err = 0;

	lockdep_assert_held(&pghot_lock);
	serving = serve;
	if (serve)
		err = nodes_sync();
	for_each_node(nid) {
		struct pghot_node *node = pghot_nodes[nid];

		if (!node || !node->active)
			continue;
		if (serve) {
			kthread_unpark(node->kmigrated);
			continue;
		}
		kthread_park(node->kmigrated);
		nodes_remove_sections(node, PGHOT_STAT_skip_disabled);
	}
	return err;
}

struct nodes_enable {
	struct work_struct work;
	int err;
};

static void nodes_enable_work(struct work_struct *work)
{
	struct nodes_enable *e = container_of(work, struct nodes_enable, work);

	guard(mutex)(&pghot_lock);
	if (!serving)
		e->err = nodes_serve(true);
	if (e->err)
		nodes_serve(false);
}

/* Not by who switches it on: where its cpuset lets memory be has nothing to do with it. */
static int nodes_enable(void)
{
	struct nodes_enable e = {};

	INIT_WORK_ONSTACK(&e.work, nodes_enable_work);
	queue_work(system_dfl_wq, &e.work);
	flush_work(&e.work);
	destroy_work_on_stack(&e.work);
	return e.err;
}

/**
 * pghot_nodes_enable - make the maps and let the threads run, or the reverse
 * @enable: which
 *
 * The caller has stopped recording before it disables, and starts it after it
 * enabled.
 *
 * Return: 0, or a negative error if not all lower tiers and targets could be
 * enabled, and so none is.
 */
int pghot_nodes_enable(bool enable)
{
	if (enable)
		return nodes_enable();
	guard(mutex)(&pghot_lock);
	if (serving)
		nodes_serve(false);
	return 0;
}

/**
 * pghot_nodes_forget - forget all accesses that were counted
 *
 * For when the window changes: records keep time in parts of it. What is ready
 * stays so, and is found not to be hot when its turn comes.
 */
void pghot_nodes_forget(void)
{
	int nid;

	guard(mutex)(&pghot_lock);
	for_each_node(nid) {
		struct pghot_node *node = pghot_nodes[nid];

		if (!node || !node->active)
			continue;
		pghot_map_expire(&pghot_map, &node->map, pghot_now_ms(),
				 &pghot_tunables, true);
		/* It may sleep for as long as eras take with the window of before. */
		pghot_wake_for_room(nid);
	}
}

/**
 * pghot_all_waiting - does all that is ready wait for targets to open
 *
 * A node on which nothing is ready says nothing: what its thread saw may be long ago.
 *
 * Context: process context; it goes through all nodes.
 *
 * Return: true if something is ready, and no target takes anything of it just now.
 */
bool pghot_all_waiting(void)
{
	bool any = false;
	int nid;

	for_each_node_mask(nid, pghot_lower_nodes) {
		if (!pghot_map_ready(&pghot_node(nid)->map, NULL))
			continue;
		if (!pghot_is_waiting(nid, NUMA_NO_NODE))
			return false;
		any = true;
	}
	return any;
}

/* Two page tables' pages, which some 8 ms move. */
#define FEW_READY	1024UL

/**
 * pghot_few_ready - is what becomes ready next to be moved at once
 *
 * As far as threads go; who takes nothing just now is for pghot_is_waiting().
 *
 * Context: any but NMI; it goes through all nodes.
 *
 * Return: true if hardly anything is ready before it.
 */
bool pghot_few_ready(void)
{
	int nid;

	for_each_node_mask(nid, pghot_lower_nodes)
		if (pghot_map_ready(&pghot_node(nid)->map, NULL) > FEW_READY)
			return false;
	return true;
}

static void nodes_sync_work(struct work_struct *work)
{
	get_online_mems();
	scoped_guard(mutex, &pghot_lock) {
		/* Before anybody asks who accesses a page there. */
		nodes_bound_scan();
		nodes_sync();
	}
	put_online_mems();
}

static DECLARE_WORK(tiers_work, nodes_sync_work);

/**
 * pghot_tiers_changed - nodes may have moved to another memory tier
 *
 * Context: memory_tier_lock held, which is why the work is done elsewhere.
 */
void pghot_tiers_changed(void)
{
	if (READ_ONCE(nodes_parent))
		schedule_work(&tiers_work);
}

/*
 * The sections that a notifier names. With the memory map on the memory itself
 * the pages begin and end within sections.
 */
static unsigned long nodes_first_section(const struct memory_notify *mn)
{
	return pfn_to_section_nr(mn->start_pfn);
}

static unsigned long nodes_nr_sections(const struct memory_notify *mn)
{
	return pfn_to_section_nr(mn->start_pfn + mn->nr_pages - 1) -
	       nodes_first_section(mn) + 1;
}

static void nodes_memory_online(const struct memory_notify *mn)
{
	int nid = page_to_nid(pfn_to_page(mn->start_pfn));

	/* Not a walk over whole nodes for each block that a node grows by. */
	if (pghot_nodes[nid] && pghot_nodes[nid]->active)
		nodes_add_sections(pghot_nodes[nid], nodes_first_section(mn),
				   nodes_nr_sections(mn));
	else if (!pghot_target_active(nid))
		nodes_sync();
}

static void nodes_memory_offline(const struct memory_notify *mn)
{
	int nid = page_to_nid(pfn_to_page(mn->start_pfn));
	unsigned long lost;

	lost = pghot_map_remove(&pghot_map, nodes_first_section(mn),
				nodes_nr_sections(mn));
	pghot_stat_add(PGHOT_STAT_skip_offline, lost);
	if (!node_state(nid, N_MEMORY))
		nodes_sync();
}

static int nodes_memory_callback(struct notifier_block *nb, unsigned long action,
				 void *arg)
{
	guard(mutex)(&pghot_lock);
	if (action == MEM_ONLINE || action == MEM_OFFLINE)
		nodes_bound_scan();
	if (action == MEM_ONLINE)
		nodes_memory_online(arg);
	else if (action == MEM_OFFLINE)
		nodes_memory_offline(arg);
	return NOTIFY_OK;
}

static struct notifier_block memory_nb = {
	.notifier_call = nodes_memory_callback,
	/* After the memory tiers have placed the node. */
	.priority = DEFAULT_CALLBACK_PRI,
};

/**
 * pghot_nodes_init - begin to serve the nodes there are and will be
 * @parent: where their directories go in sysfs
 *
 * Return: 0 or a negative error.
 */
int __init pghot_nodes_init(struct kobject *parent)
{
	int err;

	WRITE_ONCE(nodes_parent, parent);
	err = register_memory_notifier(&memory_nb);
	if (err) {
		WRITE_ONCE(nodes_parent, NULL);
		return err;
	}
	nodes_sync_work(NULL);
	return 0;
}
