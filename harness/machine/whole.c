// SPDX-License-Identifier: GPL-2.0
/* Booting, memory hotplug and changes of tiers on the made-up machine. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/memory.h>
#include <linux/pghot.h>
#include <linux/workqueue.h>

#include "unit.h"
#include "whole.h"

/* In core.c. */
int machine_pghot_init(void);

static struct notifier_block *notifier;

unsigned int machine_lives(bool (*life)(unsigned int n))
{
	unsigned int n;
	int status;

	for (n = 0;; n++) {
		pid_t child;

		fflush(NULL);
		child = fork();
		if (!child) {
			/* What goes wrong there must not go on with other tests. */
			setenv("CMOCKA_TEST_ABORT", "1", true);
			_exit(!life(n));
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
			fail_msg("in life %u", n);
		if (WEXITSTATUS(status))
			return n;
	}
}

int machine_boot(void)
{
	return machine_pghot_init();
}

int register_memory_notifier(struct notifier_block *nb)
{
	notifier = nb;
	return 0;
}

static void notify(unsigned long action, int nid, unsigned long section,
		   unsigned long nr)
{
	struct memory_notify mn = {
		.start_pfn = section_nr_to_pfn(MACHINE_SECTION(nid) + section),
		.nr_pages = nr * PAGES_PER_SECTION,
	};

	if (!notifier)
		return;
	/* Who asks for it now would wait for ever. */
	machine_hotplug_off = MACHINE_HOTPLUG;
	assert_int_equal(notifier->notifier_call(notifier, action, &mn),
			 NOTIFY_OK);
	machine_hotplug_off = 0;
}

void machine_online(int nid, unsigned long section, unsigned long nr)
{
	if (!node_state(nid, N_MEMORY))
		machine_node_up(nid);
	machine_plug(nid, section, nr);
	notify(MEM_ONLINE, nid, section, nr);
}

static bool has_pages(int nid)
{
	unsigned long i;

	for (i = 0; i < NODE_SECTIONS; i++)
		if (pfn_to_online_page(machine_pfn(nid, i * PAGES_PER_SECTION)))
			return true;
	return false;
}

void machine_offline(int nid, unsigned long section, unsigned long nr)
{
	machine_unplug(nid, section, nr);
	if (!has_pages(nid))
		machine_take_away(nid);
	notify(MEM_OFFLINE, nid, section, nr);
}

void machine_tiers(int nr)
{
	machine_top = nr;
	pghot_tiers_changed();
}

void machine_balance(int mode)
{
	pghot_balancing_changes(mode);
	sysctl_numa_balancing_mode = mode;
	pghot_balancing_changed();
}

/* What asks is not there: no source takes hint faults. */
void pghot_ask_sync(void)
{
}

/* At once: nobody who schedules it here holds a lock. */
bool schedule_work(struct work_struct *work)
{
	work->func(work);
	return true;
}
