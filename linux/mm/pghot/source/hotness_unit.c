// SPDX-License-Identifier: GPL-2.0
/*
 * CXL hotness monitoring units as a source. A memory device counts the requests that
 * come to it, and lists the pages that were requested often. That costs no CPU and
 * sees whatever the CPUs' caches do not hold; it does not see who asked.
 *
 * Each unit has a work item that reads it. Locks nest switch_lock -> units_lock; the
 * work takes neither.
 */
#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/hotness_unit.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/pghot.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "../internal.h"
#include "../knob.h"
#include "hotness_unit.h"

/* Protects what follows, and units from starting and stopping at the same time. */
static DEFINE_MUTEX(units_lock);
static LIST_HEAD(units);
static bool reporting;
static struct pghot_source hotness_unit;

static int hotness_unit_start(struct pghot_source *source)
{
	struct hotness_unit *unit;

	guard(mutex)(&units_lock);
	reporting = true;
	list_for_each_entry(unit, &units, list)
		hotness_unit_run(unit);
	return 0;
}

static void hotness_unit_stop(struct pghot_source *source)
{
	struct hotness_unit *unit;

	guard(mutex)(&units_lock);
	reporting = false;
	list_for_each_entry(unit, &units, list)
		hotness_unit_halt(unit);
}

/* --- units come and go -------------------------------------------------------- */

/* Instances may share one: it is requested for the first of them. */
static bool hotness_unit_is_shared(const struct hotness_unit *unit, unsigned int n,
				   int irq)
{
	while (n--)
		if (unit->irqs[n] == irq)
			return true;
	return false;
}

static void hotness_unit_free_irqs(struct hotness_unit *unit)
{
	unsigned int n;

	for (n = 0; n < unit->nr; n++)
		if (unit->irqs[n] && !hotness_unit_is_shared(unit, n, unit->irqs[n]))
			free_irq(unit->irqs[n], unit);
}

/* An instance without one is polled. */
static void hotness_unit_request_irqs(struct hotness_unit *unit)
{
	unsigned int n;
	int irq;

	for (n = 0; unit->info.irq && n < unit->nr; n++) {
		irq = unit->info.irq(unit->info.data, unit->instance[n].caps.vector);
		if (irq <= 0)
			continue;
		if (hotness_unit_is_shared(unit, n, irq) ||
		    !request_irq(irq, hotness_unit_irq, 0, "hotness_unit", unit))
			unit->irqs[n] = irq;
	}
}

static struct hotness_unit *hotness_unit_alloc(const struct hotness_unit_info *info,
					       unsigned int nr)
{
	struct hotness_unit *unit = kvzalloc_flex(*unit, instance, nr);

	if (!unit)
		return NULL;
	unit->nr = nr;
	unit->source = &hotness_unit;
	unit->info = *info;
	unit->irqs = kcalloc(nr, sizeof(*unit->irqs), GFP_KERNEL);
	if (!unit->irqs) {
		kvfree(unit);
		return NULL;
	}
	hotness_unit_init(unit);
	return unit;
}

static void hotness_unit_free(struct hotness_unit *unit)
{
	kfree(unit->irqs);
	kvfree(unit);
}

/**
 * hotness_unit_add - have pghot run a hotness monitoring unit
 * @info: the unit, which is copied; what it names must stay
 *
 * Context: process context; sleeps.
 *
 * Return: the unit, for hotness_unit_remove(), or an error pointer.
 */
struct hotness_unit *hotness_unit_add(const struct hotness_unit_info *info)
{
	int nr = chmu_instances(info), err = 0;
	struct hotness_unit *unit;
	unsigned int n;

	if (nr < 0)
		return ERR_PTR(nr);
	unit = hotness_unit_alloc(info, nr);
	if (!unit)
		return ERR_PTR(-ENOMEM);
	for (n = 0; !err && n < unit->nr; n++)
		err = chmu_instance_init(&unit->instance[n], info, n, unit->nr);
	if (err) {
		hotness_unit_free(unit);
		return ERR_PTR(err);
	}
	hotness_unit_request_irqs(unit);
	guard(mutex)(&units_lock);
	list_add_tail(&unit->list, &units);
	if (reporting)
		hotness_unit_run(unit);
	return unit;
}
EXPORT_SYMBOL_GPL(hotness_unit_add);

/**
 * hotness_unit_remove - take a unit away
 * @unit: the unit
 *
 * Context: process context; sleeps.
 */
void hotness_unit_remove(struct hotness_unit *unit)
{
	scoped_guard(mutex, &units_lock) {
		list_del(&unit->list);
		if (reporting)
			hotness_unit_halt(unit);
	}
	hotness_unit_free_irqs(unit);
	hotness_unit_free(unit);
}
EXPORT_SYMBOL_GPL(hotness_unit_remove);

/* --- sources/hotness_unit/ ---------------------------------------------------- */

static ssize_t units_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	guard(mutex)(&units_lock);
	return sysfs_emit(buf, "%zu\n", list_count_nodes(&units));
}

static struct kobj_attribute units_attr = __ATTR_RO(units);

static ssize_t overflows_show(struct kobject *kobj, struct kobj_attribute *attr,
			      char *buf)
{
	return sysfs_emit(buf, "%ld\n", atomic_long_read(&hotness_unit_overflows));
}

static struct kobj_attribute overflows_attr = __ATTR_RO(overflows);

static ssize_t threshold_show(struct kobject *kobj, struct kobj_attribute *attr,
			      char *buf)
{
	struct hotness_unit *unit;
	u32 highest = 0;

	guard(mutex)(&units_lock);
	list_for_each_entry(unit, &units, list)
		if (reporting)
			highest = max(highest, READ_ONCE(unit->pace.threshold));
	return sysfs_emit(buf, "%u\n", highest);
}

static struct kobj_attribute threshold_attr = __ATTR_RO(threshold);

/* Who sleeps for longer is to see it now. */
static void hotness_unit_epoch_changed(void)
{
	struct hotness_unit *unit;

	guard(mutex)(&units_lock);
	list_for_each_entry(unit, &units, list)
		hotness_unit_wake(unit);
}

DEFINE_KNOB(epoch_ms, &hotness_unit_epoch_ms,
	    HOTNESS_UNIT_EPOCH_MS_MIN, HOTNESS_UNIT_EPOCH_MS_MAX);

static struct attribute *hotness_unit_attrs[] = {
	&epoch_ms_knob.attr.attr,
	&units_attr.attr,
	&overflows_attr.attr,
	&threshold_attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(hotness_unit);

static struct pghot_source hotness_unit = {
	.name = "hotness_unit",
	.evidence = PGHOT_COUNTS,
	.alone = true,
	.files = hotness_unit_groups,
	.start = hotness_unit_start,
	.stop = hotness_unit_stop,
};

/* After pghot_init(). */
static int __init hotness_unit_source_init(void)
{
	if (!pghot_booted)
		return 0;
	hotness_unit_wq = alloc_workqueue("pghot_hotness_unit",
					  WQ_UNBOUND | WQ_FREEZABLE, 0);
	if (!hotness_unit_wq)
		return -ENOMEM;
	epoch_ms_knob.changed = hotness_unit_epoch_changed;
	return pghot_register_source(&hotness_unit);
}
late_initcall_sync(hotness_unit_source_init);
