// SPDX-License-Identifier: GPL-2.0
/*
 * Core: the boot option, and switching pghot and its sources on and off.
 *
 * Locks nest switch_lock -> pghot_lock. Memory hotplug takes pghot_lock while
 * it holds the CPU hotplug lock, which static keys take too: they are switched
 * under switch_lock only.
 */
#define pr_fmt(fmt) "pghot: " fmt

#include <linux/init.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/pghot.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "internal.h"

/* Not pghot=off, and set up. */
bool pghot_booted __ro_after_init;
struct pghot_map pghot_map __read_mostly;

struct pghot_tunables pghot_tunables __read_mostly = {
	.freq_threshold = PGHOT_FREQ_THRESHOLD,
	.window_ms = PGHOT_WINDOW_MS,
};

u32 pghot_batch_pages __read_mostly = PGHOT_BATCH_PAGES;
u32 pghot_period_ms __read_mostly = PGHOT_PERIOD_MS;

/* Serialises switching pghot and its sources on and off. */
static DEFINE_MUTEX(switch_lock);
static bool enabled;
static bool hint_fault_enabled = true;

static bool boot_off __initdata;
static bool boot_precise __initdata;

/* As with other options, the last one given counts. */
static int __init pghot_setup(char *s)
{
	boot_precise = !strcmp(s, "precise");
	boot_off = !boot_precise && strcmp(s, "default");
	if (boot_off && strcmp(s, "off"))
		pr_err("unknown mode '%s', staying off: use default, precise or off\n",
		       s);
	return 1;
}
__setup("pghot=", pghot_setup);

static void update_keys(void)
{
	lockdep_assert_held(&switch_lock);
	if (enabled && hint_fault_enabled)
		static_branch_enable(&pghot_hint_fault_key);
	else
		static_branch_disable(&pghot_hint_fault_key);
}

/**
 * pghot_set_enabled - switch pghot on or off
 * @on: which
 *
 * Off: nothing is recorded, and what was is forgotten.
 */
void pghot_set_enabled(bool on)
{
	guard(mutex)(&switch_lock);
	enabled = on;
	if (on) {
		pghot_reset_thresholds();
		pghot_nodes_enable(true);
	}
	update_keys();
	if (!on) {
		/* A report that is under way may still add a record. */
		synchronize_rcu();
		pghot_nodes_enable(false);
	}
}

/**
 * pghot_is_enabled - is pghot switched on
 *
 * Return: true if so.
 */
bool pghot_is_enabled(void)
{
	return READ_ONCE(enabled);
}

/**
 * pghot_set_hint_fault - let NUMA hint faults be reported, or not
 * @on: which
 */
void pghot_set_hint_fault(bool on)
{
	guard(mutex)(&switch_lock);
	hint_fault_enabled = on;
	update_keys();
}

/**
 * pghot_hint_fault_is_enabled - are NUMA hint faults to be reported
 *
 * Return: true if so, when pghot is on.
 */
bool pghot_hint_fault_is_enabled(void)
{
	return READ_ONCE(hint_fault_enabled);
}

/* After memory_tier_late_init(), which is linked before this. */
static int __init pghot_init(void)
{
	struct kobject *pghot;
	int err;

	if (boot_off)
		return 0;

	err = pghot_map_init(&pghot_map, 1UL << SECTIONS_SHIFT, boot_precise);
	if (err)
		goto fail;
	err = pghot_sysfs_init(&pghot);
	if (err)
		goto fail;
	err = pghot_nodes_init(pghot);
	if (err) {
		pghot_sysfs_exit();
		goto fail;
	}
	pghot_booted = true;
	pghot_set_enabled(true);
	return 0;

fail:
	pghot_map_exit(&pghot_map);
	pr_err("cannot start (%d), staying off\n", err);
	return err;
}
late_initcall(pghot_init);
