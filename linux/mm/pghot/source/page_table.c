// SPDX-License-Identifier: GPL-2.0
/*
 * Accessed bits of page tables as a source: a thread goes through the memory of
 * all processes, and counts which pages of lower tiers are accessed, and how often:
 * see pt_looker.c.
 */
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/pghot.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "../internal.h"
#include "../knob.h"
#include "pace.h"
#include "page_table.h"

static u32 pt_cpu_permille = PGHOT_CPU_PERMILLE;

/* Since boot; written by the thread alone, of which there is one at most. */
static unsigned long pt_passes;

/* Changed by start() and stop() alone, which exclude each other. */
static struct pt_scan *pt_scan;

/*
 * Fill the focus. Much of what there is may map nothing of a lower tier, and that is
 * gone through without looks.
 */
static bool page_table_fill(struct pt_looker *looker)
{
	bool passed;

	/* Until there is memory that could be promoted. */
	if (nodes_empty(pghot_lower_nodes))
		return true;
	/* A page table that was let go may be looked at again. */
	if (!looker->focus->nr)
		pt_scan->table = PT_NO_TABLE;
	passed = pghot_pt_fill(pt_scan);
	WRITE_ONCE(pt_passes, pt_passes + passed);
	return passed;
}

static u32 page_table_permille(void)
{
	return READ_ONCE(pt_cpu_permille);
}

static struct pt_looker page_table_looker = {
	.comm = "pghot_pt",
	.permille = page_table_permille,
	.fill = page_table_fill,
};

/* --- the source -------------------------------------------------------- */

static int page_table_start(struct pghot_source *source)
{
	int err;

	pt_scan = kvzalloc_obj(*pt_scan);
	if (!pt_scan)
		return -ENOMEM;
	pt_scan->focus.source = source;
	page_table_looker.focus = &pt_scan->focus;
	err = pghot_pt_start(&page_table_looker);
	if (err)
		goto free;
	err = pghot_pt_near_start(&page_table_near, source);
	if (err)
		goto stop;
	return 0;
stop:
	pghot_pt_stop(&page_table_looker);
free:
	kvfree(pt_scan);
	return err;
}

static void page_table_stop(struct pghot_source *source)
{
	pghot_pt_near_stop(&page_table_near);
	pghot_pt_stop(&page_table_looker);
	kvfree(pt_scan);
}

static void page_table_permille_changed(void)
{
	pghot_pt_kick(&page_table_looker);
}

DEFINE_KNOB(cpu_permille, &pt_cpu_permille, PGHOT_CPU_PERMILLE_MIN,
	    PGHOT_CPU_PERMILLE_MAX);

static void page_table_near_changed(void)
{
	pghot_pt_kick(&page_table_near.looker);
}

DEFINE_KNOB(near_permille, &page_table_near_permille, PGHOT_CPU_PERMILLE_MIN,
	    PGHOT_CPU_PERMILLE_MAX);

static ssize_t scan_period_ms_show(struct kobject *kobj,
				   struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(page_table_looker.period_ms));
}

static struct kobj_attribute scan_period_ms_attr = __ATTR_RO(scan_period_ms);

static ssize_t scanned_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%lu\n", READ_ONCE(page_table_looker.scanned));
}

static struct kobj_attribute scanned_attr = __ATTR_RO(scanned);

static ssize_t cpu_usec_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "%lu\n", READ_ONCE(page_table_looker.cpu_usec));
}

static struct kobj_attribute cpu_usec_attr = __ATTR_RO(cpu_usec);

static ssize_t passes_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%lu\n", READ_ONCE(pt_passes));
}

static struct kobj_attribute passes_attr = __ATTR_RO(passes);

static ssize_t near_scanned_show(struct kobject *kobj, struct kobj_attribute *attr,
				 char *buf)
{
	return sysfs_emit(buf, "%lu\n", READ_ONCE(page_table_near.looker.scanned));
}

static struct kobj_attribute near_scanned_attr = __ATTR_RO(near_scanned);

static ssize_t near_usec_show(struct kobject *kobj, struct kobj_attribute *attr,
			      char *buf)
{
	return sysfs_emit(buf, "%lu\n", READ_ONCE(page_table_near.looker.cpu_usec));
}

static struct kobj_attribute near_usec_attr = __ATTR_RO(near_usec);

static struct attribute *page_table_attrs[] = {
	&cpu_permille_knob.attr.attr,
	&near_permille_knob.attr.attr,
	&scan_period_ms_attr.attr,
	&scanned_attr.attr,
	&cpu_usec_attr.attr,
	&passes_attr.attr,
	&near_scanned_attr.attr,
	&near_usec_attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(page_table);

static struct pghot_source page_table = {
	.name = "page_table",
	.evidence = PGHOT_COUNTS,
	.on = true,
	.alone = true,
	.tiering = true,
	.files = page_table_groups,
	.start = page_table_start,
	.stop = page_table_stop,
};

/* After pghot_init(). */
static int __init page_table_init(void)
{
	if (!pghot_booted)
		return 0;
	cpu_permille_knob.changed = page_table_permille_changed;
	near_permille_knob.changed = page_table_near_changed;
	return pghot_register_source(&page_table);
}
late_initcall_sync(page_table_init);
