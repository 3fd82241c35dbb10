// SPDX-License-Identifier: GPL-2.0
/*
 * node<N>/ and target<N>/ in /sys/kernel/mm/pghot/. They only show: what they
 * show works without them where there was no memory for them.
 */
#define pr_fmt(fmt) "pghot: " fmt

#include <linux/kobject.h>
#include <linux/mmzone.h>
#include <linux/numa_promotion.h>
#include <linux/sched.h>
#include <linux/sched/sysctl.h>
#include <linux/sysfs.h>

#include "internal.h"

static struct pghot_node *sysfs_node_of(struct kobject *kobj)
{
	return container_of(kobj, struct pghot_node, kobj);
}

static struct pghot_target *sysfs_node_target_of(struct kobject *kobj)
{
	return container_of(kobj, struct pghot_target, kobj);
}

/* A read-only file of a node's directory. */
#define NODE_FILE(_name, _file, _format, _value)			\
static ssize_t _name##_show(struct kobject *kobj,			\
			    struct kobj_attribute *attr, char *buf)	\
{									\
	return sysfs_emit(buf, _format "\n", _value);			\
}									\
static struct kobj_attribute _name##_attr =				\
	__ATTR(_file, 0444, _name##_show, NULL)

NODE_FILE(sections, sections, "%lu", READ_ONCE(sysfs_node_of(kobj)->map.sections));
NODE_FILE(map_bytes, map_bytes, "%lu", READ_ONCE(sysfs_node_of(kobj)->map.sections) *
	  pghot_map_section_bytes(&pghot_map));
NODE_FILE(ready, ready, "%lu", pghot_map_ready(&sysfs_node_of(kobj)->map, NULL));
NODE_FILE(node_promoted, promoted, "%ld",
	  atomic_long_read(&sysfs_node_of(kobj)->promoted));
NODE_FILE(target_promoted, promoted, "%ld",
	  atomic_long_read(&sysfs_node_target_of(kobj)->promoted));
NODE_FILE(threshold_ms, threshold_ms, "%u",
	  numa_promotion_threshold(NODE_DATA(sysfs_node_target_of(kobj)->nid),
				   READ_ONCE(sysctl_numa_balancing_hot_threshold)));
NODE_FILE(gain_percent, gain_percent, "%u",
	  READ_ONCE(sysfs_node_target_of(kobj)->gain_percent));
NODE_FILE(cache_gain_percent, cache_gain_percent, "%u",
	  READ_ONCE(sysfs_node_target_of(kobj)->cache_gain_percent));
NODE_FILE(rate_kib_s, rate_kib_s, "%llu",
	  pghot_target_rate(sysfs_node_target_of(kobj)) >> 10);

static ssize_t kmigrated_show(struct kobject *kobj,
			      struct kobj_attribute *attr, char *buf)
{
	struct task_struct *thread;
	pid_t pid;

	/* Removing this file waits for its readers before the thread goes. */
	thread = READ_ONCE(sysfs_node_of(kobj)->kmigrated);
	pid = thread ? task_pid_nr(thread) : 0;
	return sysfs_emit(buf, "%d\n", pid);
}

static struct kobj_attribute kmigrated_attr = __ATTR_RO(kmigrated);

static struct attribute *node_attrs[] = {
	&sections_attr.attr,
	&map_bytes_attr.attr,
	&ready_attr.attr,
	&node_promoted_attr.attr,
	&kmigrated_attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(node);

static struct attribute *target_attrs[] = {
	&threshold_ms_attr.attr,
	&target_promoted_attr.attr,
	&gain_percent_attr.attr,
	&cache_gain_percent_attr.attr,
	&rate_kib_s_attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(target);

/* Nodes and targets are kept once made; there is nothing to release. */
static void sysfs_node_release(struct kobject *kobj)
{
}

static const struct kobj_type node_ktype = {
	.sysfs_ops = &kobj_sysfs_ops,
	.release = sysfs_node_release,
	.default_groups = node_groups,
};

static const struct kobj_type target_ktype = {
	.sysfs_ops = &kobj_sysfs_ops,
	.release = sysfs_node_release,
	.default_groups = target_groups,
};

static void sysfs_node_add_dir(struct kobject *kobj, const struct kobj_type *ktype,
			       struct kobject *parent, const char *kind, int nid)
{
	if (kobj->state_in_sysfs)
		return;
	if (!kobj->state_initialized)
		kobject_init(kobj, ktype);
	if (kobject_add(kobj, parent, "%s%d", kind, nid))
		pr_warn("no directory for %s %d in sysfs\n", kind, nid);
}

/**
 * pghot_node_add_dir - make a lower-tier node's directory, unless it is there
 * @node: the node
 * @parent: where
 */
void pghot_node_add_dir(struct pghot_node *node, struct kobject *parent)
{
	sysfs_node_add_dir(&node->kobj, &node_ktype, parent, "node", node->map.nid);
}

/**
 * pghot_target_add_dir - make a top-tier node's directory, unless it is there
 * @target: the node
 * @parent: where
 */
void pghot_target_add_dir(struct pghot_target *target, struct kobject *parent)
{
	sysfs_node_add_dir(&target->kobj, &target_ktype, parent, "target", target->nid);
}

/**
 * pghot_del_dir - remove the directory of a node or a target
 * @kobj: its kobject; there may be no directory
 */
void pghot_del_dir(struct kobject *kobj)
{
	if (kobj->state_in_sysfs)
		kobject_del(kobj);
}
