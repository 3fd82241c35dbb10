// SPDX-License-Identifier: GPL-2.0
/*
 * Promotion alone on the made-up machine: in place of core.c, nodes.c and
 * source.c, whoever wants a thread starts it.
 */
#include <string.h>

#include <linux/mutex.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>

#include "unit.h"
#include "machine.h"

/* core.c */
bool pghot_booted = true;
struct pghot_map pghot_map;
struct pghot_tunables pghot_tunables;
u32 pghot_batch_pages, pghot_period_ms;

struct pghot_node machine_lower[NODES];
struct pghot_node *pghot_nodes[MAX_NUMNODES] = {
	[LOWER] = &machine_lower[LOWER], [LOWER + 1] = &machine_lower[LOWER + 1],
};
DEFINE_MUTEX(pghot_lock);
bool machine_enabled;

bool pghot_is_enabled(void)
{
	return machine_enabled;
}

/* Tests say themselves whether it is asked who accesses a page. */
void pghot_ask_enable(bool enable)
{
}

/* There is no sysfs. */
void pghot_target_add_dir(struct pghot_target *target, struct kobject *parent)
{
}

void pghot_del_dir(struct kobject *kobj)
{
}

static void lower_start(int nid)
{
	unsigned long i;

	memset(&machine_lower[nid], 0, sizeof(machine_lower[nid]));
	pghot_map_node_init(&machine_lower[nid].map, nid);
	pghot_wake_init(&machine_lower[nid]);
	machine_plug(nid, 0, NODE_SECTIONS);
	for (i = 0; i < NODE_SECTIONS; i++)
		assert_int_equal(pghot_map_add(&pghot_map,
					       &machine_lower[nid].map,
					       MACHINE_SECTION(nid) + i, 0), 0);
}

void machine_start(bool precise)
{
	int nid;

	machine_power_on();
	machine_enabled = true;
	pghot_tunables = (struct pghot_tunables) {
		.freq_threshold = PGHOT_FREQ_THRESHOLD,
		.window_ms = PGHOT_WINDOW_MS,
	};
	pghot_batch_pages = PGHOT_BATCH_PAGES;
	pghot_period_ms = PGHOT_PERIOD_MS;
	assert_int_equal(pghot_map_init(&pghot_map, MACHINE_SECTIONS, precise),
			 0);
	for (nid = 0; nid < NODES; nid++)
		machine_node_up(nid);
	for (nid = 0; nid < LOWER; nid++)
		assert_int_equal(pghot_target_sync(nid, NULL) ?: pghot_exchange_sync(nid), 0);
	for (nid = LOWER; nid < NODES; nid++)
		lower_start(nid);
}

void machine_start_apart(bool precise)
{
	machine_start(precise);
	machine_distance = machine_apart;
}

/* It is kept once made; the next test finds it as new. */
static void forget_target(int nid)
{
	struct pghot_target *target = pghot_target(nid);

	machine_forget_work();
	kfree(target->exchange);
	kfree(target->cache_exchange);
	memset(target, 0, sizeof(*target) + NODES * sizeof(*target->from));
	target->nid = nid;
	assert_int_equal(pghot_exchange_sync(nid), 0);
}

void machine_stop(void)
{
	struct harness_live live;
	int nid;

	for (nid = LOWER; nid < NODES; nid++)
		pghot_kmigrated_stop(&machine_lower[nid]);
	machine_check();
	for (nid = 0; nid < LOWER; nid++)
		forget_target(nid);
	pghot_map_exit(&pghot_map);
	machine_power_off();
	live = harness_live();
	assert_int_equal(live.pages + live.vmalloc + live.slab, 0);
}

void machine_thread(int nid)
{
	assert_int_equal(pghot_kmigrated_start(&machine_lower[nid]), 0);
}

void machine_behind(int nid)
{
	machine_thread(nid);
	machine_crowded = true;
	machine_ready(nid, 100, 0);
	machine_run(10);
	machine_ready_first(nid, 5, 0);
	assert_true(pghot_is_behind(nid));
}
