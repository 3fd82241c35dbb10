// SPDX-License-Identifier: GPL-2.0
/* Core: the boot option, and starting. */
#define pr_fmt(fmt) "pghot: " fmt

#include <linux/init.h>
#include <linux/mm.h>
#include <linux/pghot.h>
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

static bool boot_off __initdata = IS_ENABLED(CONFIG_PGHOT_BOOT_OFF);
static bool boot_precise __initdata = IS_ENABLED(CONFIG_PGHOT_BOOT_PRECISE);
static bool boot_default __initdata = IS_ENABLED(CONFIG_PGHOT_BOOT_DEFAULT);

/* As with other options, the last one given counts. */
static int __init pghot_setup(char *s)
{
	boot_precise = !strcmp(s, "precise");
	boot_default = !strcmp(s, "default");
	boot_off = !boot_precise && !boot_default;
	if (boot_off && strcmp(s, "off"))
		pr_err("unknown mode '%s', staying off: use default, precise or off\n",
		       s);
	return 1;
}
__setup("pghot=", pghot_setup);

/*
 * The default layout tells two nodes apart, see hotmap_record.c. With more to
 * choose from, it is worth four times the memory to know the right one.
 */
static bool __init pghot_choose_precise(void)
{
	int nid, targets = 0;

	if (boot_precise || boot_default)
		return boot_precise;
	for_each_node(nid)
		targets += pghot_may_promote_to(nid);
	return targets > 2;
}

/* After memory_tier_late_init(), which is linked before this. */
static int __init pghot_init(void)
{
	struct kobject *pghot, *sources;
	int err;

	if (boot_off)
		return 0;

	err = pghot_map_init(&pghot_map, 1UL << SECTIONS_SHIFT,
			     pghot_choose_precise());
	if (err)
		goto fail;
	err = pghot_sysfs_init(&pghot, &sources);
	if (err)
		goto fail;
	err = pghot_nodes_init(pghot);
	if (err) {
		pghot_sysfs_exit();
		goto fail;
	}
	pghot_booted = true;
	pghot_sources_init(sources);
	return 0;

fail:
	pghot_map_exit(&pghot_map);
	pr_err("cannot start (%d), staying off\n", err);
	return err;
}
late_initcall(pghot_init);
