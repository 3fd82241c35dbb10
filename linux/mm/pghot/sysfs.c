// SPDX-License-Identifier: GPL-2.0
/* /sys/kernel/mm/pghot/: the switch, the layout and knobs. */
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/kobject.h>
#include <linux/mm.h>
#include <linux/pghot.h>
#include <linux/sched/sysctl.h>
#include <linux/sysfs.h>

#include "internal.h"
#include "knob.h"

/* --- numbers ---------------------------------------------------------- */

/**
 * pghot_knob_show - read a number
 * @kobj: its directory
 * @attr: its file
 * @buf: where to
 *
 * Return: length.
 */
ssize_t pghot_knob_show(struct kobject *kobj, struct kobj_attribute *attr,
			char *buf)
{
	struct pghot_knob *knob = container_of(attr, struct pghot_knob, attr);

	return sysfs_emit(buf, "%u\n", READ_ONCE(*knob->value));
}

/**
 * pghot_knob_store - set a number, if it is within its bounds
 * @kobj: its directory
 * @attr: its file
 * @buf: what was written
 * @count: length of that
 *
 * Return: @count or a negative error.
 */
ssize_t pghot_knob_store(struct kobject *kobj, struct kobj_attribute *attr,
			 const char *buf, size_t count)
{
	struct pghot_knob *knob = container_of(attr, struct pghot_knob, attr);
	u32 value, was;

	if (kstrtou32(buf, 0, &value) || value < knob->min || value > knob->max)
		return -EINVAL;
	was = READ_ONCE(*knob->value);
	WRITE_ONCE(*knob->value, value);
	if (knob->changed && (value != was || knob->resets))
		knob->changed();
	return count;
}

/* How high a record can count depends on the layout: filled in at boot. */
DEFINE_KNOB(freq_threshold, &pghot_tunables.freq_threshold, 1, 1);
DEFINE_KNOB(window_ms, &pghot_tunables.window_ms,
	    PGHOT_WINDOW_MS_MIN, PGHOT_WINDOW_MS_MAX);
DEFINE_KNOB(batch_pages, &pghot_batch_pages, 1, PGHOT_BATCH_PAGES_MAX);
DEFINE_KNOB(period_ms, &pghot_period_ms, PGHOT_PERIOD_MS_MIN, PGHOT_PERIOD_MS_MAX);
DEFINE_KNOB(backoff, &pghot_backoff, 0, 1);
DEFINE_KNOB(promote_rate_limit_MBps, &sysctl_numa_balancing_promote_rate_limit,
	    0, PGHOT_RATE_MBPS_MAX);

/* --- the switch, and the layout ---------------------------------------- */

static ssize_t enabled_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%d\n", pghot_is_enabled());
}

static ssize_t enabled_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	bool on;
	int err = pghot_parse_switch(buf, &on);

	if (!err)
		err = pghot_set_enabled(on);
	return err ? err : count;
}

static struct kobj_attribute enabled_attr = __ATTR_RW(enabled);

static ssize_t layout_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%s\n", pghot_map.precise ? "precise" : "default");
}

static struct kobj_attribute layout_attr = __ATTR_RO(layout);

static struct attribute *pghot_attrs[] = {
	&layout_attr.attr,
	&enabled_attr.attr,
	&freq_threshold_knob.attr.attr,
	&window_ms_knob.attr.attr,
	&batch_pages_knob.attr.attr,
	&period_ms_knob.attr.attr,
	&backoff_knob.attr.attr,
	&promote_rate_limit_MBps_knob.attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(pghot);

/* --- start ------------------------------------------------------------ */

/* The name that hot page tracking's threshold had when it was a debug knob. */
static int pghot_sysfs_freq_get(void *data, u64 *value)
{
	*value = READ_ONCE(pghot_tunables.freq_threshold);
	return 0;
}

static int pghot_sysfs_freq_set(void *data, u64 value)
{
	if (value < freq_threshold_knob.min || value > freq_threshold_knob.max)
		return -EINVAL;
	WRITE_ONCE(pghot_tunables.freq_threshold, value);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(debug_freq_fops, pghot_sysfs_freq_get, pghot_sysfs_freq_set,
			 "%llu\n");

static struct kobject *pghot_kobj, *sources_kobj;

static int __init pghot_sysfs_make_dirs(void)
{
	int err = sysfs_create_groups(pghot_kobj, pghot_groups);

	if (err)
		return err;
	sources_kobj = kobject_create_and_add("sources", pghot_kobj);
	return sources_kobj ? 0 : -ENOMEM;
}

/**
 * pghot_sysfs_exit - remove what pghot_sysfs_init() made
 */
void __init pghot_sysfs_exit(void)
{
	kobject_put(sources_kobj);
	kobject_put(pghot_kobj);
	debugfs_lookup_and_remove("pghot", NULL);
}

/**
 * pghot_sysfs_init - make the directories, but for those of nodes and sources
 * @pghot: set to the one that nodes' directories go into
 * @sources: set to the one for sources' directories
 *
 * The map must have been set up.
 *
 * Return: 0 or a negative error.
 */
int __init pghot_sysfs_init(struct kobject **pghot, struct kobject **sources)
{
	int err;

	freq_threshold_knob.max = pghot_freq_max(pghot_map_layout(&pghot_map));
	window_ms_knob.changed = pghot_nodes_forget;
	backoff_knob.changed = pghot_exchange_sum_up;

	pghot_kobj = kobject_create_and_add("pghot", mm_kobj);
	if (!pghot_kobj)
		return -ENOMEM;
	err = pghot_sysfs_make_dirs();
	if (err) {
		pghot_sysfs_exit();
		return err;
	}
	debugfs_create_file("freq_threshold", 0600,
			    debugfs_create_dir("pghot", NULL), NULL,
			    &debug_freq_fops);
	*pghot = pghot_kobj;
	*sources = sources_kobj;
	return 0;
}
