// SPDX-License-Identifier: GPL-2.0
/*
 * Sources: who there is, and switching pghot and each of them on and off. A
 * source runs while both switches are on, and where it depends on NUMA balancing
 * while that has memory tiering on. Maps are kept while any source runs.
 *
 * Locks nest switch_lock -> pghot_lock. Memory hotplug takes pghot_lock while
 * it holds the CPU hotplug lock, which static keys take too: they are switched
 * under switch_lock only. Switching waits for memory hotplug, and allocates: who
 * reads /proc/vmstat goes through the sources under RCU.
 */
#define pr_fmt(fmt) "pghot: " fmt

#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/rculist.h>
#include <linux/mutex.h>
#include <linux/numa_promotion.h>
#include <linux/percpu.h>
#include <linux/pghot.h>
#include <linux/rcupdate.h>
#include <linux/sched/sysctl.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"
#include "knob.h"

/**
 * struct pghot_source_dir - directory of a source in sysfs
 * @kobj: the directory
 * @source: the source; whoever reads a file here keeps it
 *
 * Lives on its own, for a kobject may be released after its source went.
 */
struct pghot_source_dir {
	struct kobject kobj;
	struct pghot_source *source;
};

/* Serialises switching, registering, and what follows. */
static DEFINE_MUTEX(switch_lock);
static LIST_HEAD(sources);
static struct kobject *sources_parent;
static bool enabled;
/* Maps are kept: at least one source is running, or about to. */
static bool recording;
/* What NUMA balancing is about to change to, while it is; else 0. */
static int next_mode;

/* On by default is nothing that would run where nobody asked for promotion. */
static bool source_needs_tiering(const struct pghot_source *source)
{
	return !source->alone || source->tiering;
}

static bool source_wanted(const struct pghot_source *source)
{
	int mode = READ_ONCE(sysctl_numa_balancing_mode) | next_mode;

	if (source_needs_tiering(source) && !(mode & NUMA_BALANCING_MEMORY_TIERING))
		return false;
	return enabled && source->on;
}

static void source_stop(struct pghot_source *source)
{
	if (!source->running)
		return;
	if (source->stop)
		source->stop(source);
	pghot_ring_sync(source);
	if (source->alone)
		static_branch_dec(&pghot_headroom_key);
	WRITE_ONCE(source->running, false);
}

static int source_start(struct pghot_source *source)
{
	int err;

	if (source->running)
		return 0;
	err = source->start ? source->start(source) : 0;
	if (err) {
		pr_notice("source %s does not start (%d)\n", source->name, err);
		return err;
	}
	if (source->alone)
		static_branch_inc(&pghot_headroom_key);
	WRITE_ONCE(source->running, true);
	return 0;
}

/*
 * Who changes NUMA balancing's mode may be killed, or find no memory. What is on with it
 * starts when it changes next.
 */
static bool source_is_tried_again(const struct pghot_source *source, int err)
{
	return source->tiering && (err == -EINTR || err == -ENOMEM);
}

/*
 * Bring all in line with the switches and with NUMA balancing. A source that does
 * not start is switched off, but for source_is_tried_again(), and the others go on.
 * Without maps all is switched off. Return why.
 */
static int source_sync_all(void)
{
	struct pghot_source *source;
	bool any = false;
	int err = 0, ret;

	lockdep_assert_held(&switch_lock);
	list_for_each_entry(source, &sources, list)
		any |= source_wanted(source);
	if (any && !recording) {
		err = pghot_nodes_enable(true);
		if (err) {
			pr_err("no maps of the lower tiers (%d), switched off\n",
			       err);
			WRITE_ONCE(enabled, false);
			return err;
		}
		recording = true;
		static_branch_enable(&pghot_exchange_key);
	}

	any = false;
	list_for_each_entry(source, &sources, list) {
		ret = 0;
		if (source_wanted(source))
			ret = source_start(source);
		else
			source_stop(source);
		if (ret) {
			WRITE_ONCE(source->on, source_is_tried_again(source, ret));
			err = ret;
		}
		any |= source->running;
	}

	if (!any && recording) {
		/* A report that is under way may still add a record. */
		synchronize_rcu();
		static_branch_disable(&pghot_exchange_key);
		pghot_nodes_enable(false);
		recording = false;
	}
	return err;
}

/**
 * pghot_set_enabled - switch pghot on or off
 * @on: which
 *
 * Off: nothing is recorded, what was is forgotten, and its memory given back.
 *
 * Return: 0, or a negative error if it cannot be switched on and is off.
 */
int pghot_set_enabled(bool on)
{
	int err;

	guard(mutex)(&switch_lock);
	if (on && !enabled)
		numa_promotion_reset();
	WRITE_ONCE(enabled, on);
	err = source_sync_all();
	return on == enabled ? 0 : err;
}

/**
 * pghot_balancing_changes - NUMA balancing is about to be in another mode
 * @mode: which
 *
 * Starts the sources that depend on its memory tiering before there is a hint fault
 * in that mode: maps take some time to allocate. pghot_balancing_changed() is to
 * follow, and the next change only after that.
 *
 * Context: process context; sleeps.
 */
void pghot_balancing_changes(int mode)
{
	guard(mutex)(&switch_lock);
	next_mode = mode;
	source_sync_all();
}

/**
 * pghot_balancing_changed - NUMA balancing may be in another mode
 *
 * Starts and stops the sources that depend on its memory tiering.
 *
 * Context: process context; sleeps.
 */
void pghot_balancing_changed(void)
{
	guard(mutex)(&switch_lock);
	next_mode = 0;
	source_sync_all();
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
 * pghot_source_switch - switch a source on or off
 * @source: which
 * @on: what to
 * @tiering: on while NUMA balancing has memory tiering on, though it works without
 *
 * Context: process context; sleeps.
 *
 * Return: 0, or a negative error if it does not start and is off, but for
 *	   source_is_tried_again(); -ENODEV if it is being removed.
 */
int pghot_source_switch(struct pghot_source *source, bool on, bool tiering)
{
	guard(mutex)(&switch_lock);
	/* Its file is being removed. */
	if (!source->dir)
		return -ENODEV;
	WRITE_ONCE(source->on, on);
	WRITE_ONCE(source->tiering, tiering);
	return source_sync_all();
}

static unsigned long source_accesses(const struct pghot_source *source)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(source->accesses, cpu));
	return sum;
}

/**
 * pghot_sources_show - print each source's counter as /proc/vmstat does
 * @m: where to
 */
void pghot_sources_show(struct seq_file *m)
{
	struct pghot_source *source;

	rcu_read_lock();
	list_for_each_entry_rcu(source, &sources, list) {
		unsigned long n = source_accesses(source);

		seq_printf(m, "pghot_recorded_%s %lu\n", source->name, n);
		if (source->counter)
			seq_printf(m, "%s %lu\n", source->counter, n);
	}
	rcu_read_unlock();
}

/* --- sources/<name>/ --------------------------------------------------- */

static struct pghot_source *source_of(struct kobject *kobj)
{
	return container_of(kobj, struct pghot_source_dir, kobj)->source;
}

static ssize_t source_enabled_show(struct kobject *kobj,
				   struct kobj_attribute *attr, char *buf)
{
	const struct pghot_source *source = source_of(kobj);

	if (READ_ONCE(source->on) && source->alone && READ_ONCE(source->tiering))
		return sysfs_emit(buf, "tiering\n");
	return sysfs_emit(buf, "%d\n", READ_ONCE(source->on));
}

static ssize_t source_enabled_store(struct kobject *kobj,
				    struct kobj_attribute *attr,
				    const char *buf, size_t count)
{
	bool tiering = sysfs_streq(buf, "tiering"), on = true;
	int err = tiering ? 0 : pghot_parse_switch(buf, &on);

	if (!err)
		err = pghot_source_switch(source_of(kobj), on, tiering);
	return err ? err : count;
}

static struct kobj_attribute source_enabled_attr =
	__ATTR(enabled, 0644, source_enabled_show, source_enabled_store);

static ssize_t running_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(source_of(kobj)->running));
}

static struct kobj_attribute running_attr = __ATTR_RO(running);

static ssize_t accesses_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "%lu\n", source_accesses(source_of(kobj)));
}

static struct kobj_attribute accesses_attr = __ATTR_RO(accesses);

static struct attribute *source_attrs[] = {
	&source_enabled_attr.attr,
	&running_attr.attr,
	&accesses_attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(source);

static void source_dir_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct pghot_source_dir, kobj));
}

static const struct kobj_type source_ktype = {
	.sysfs_ops = &kobj_sysfs_ops,
	.release = source_dir_release,
	.default_groups = source_groups,
};

static bool source_is_known(const char *name)
{
	struct pghot_source *source;

	list_for_each_entry(source, &sources, list)
		if (!strcmp(source->name, name))
			return true;
	return false;
}

/*
 * What could not be made whole is left in @made, to be put without the lock: who writes
 * to a file that was there already may wait for that.
 */
static int source_add_dir(struct pghot_source *source, struct pghot_source_dir **made)
{
	struct pghot_source_dir *dir = kzalloc_obj(*dir);
	int err;

	if (!dir)
		return -ENOMEM;
	dir->source = source;
	err = kobject_init_and_add(&dir->kobj, &source_ktype, sources_parent,
				   "%s", source->name);
	if (!err && source->files)
		err = sysfs_create_groups(&dir->kobj, source->files);
	if (err)
		*made = dir;
	else
		source->dir = dir;
	return err;
}

/* --- who there is ------------------------------------------------------ */

static void source_free(struct pghot_source *source)
{
	pghot_ring_free(source);
	free_percpu(source->accesses);
}

/**
 * pghot_register_source - add a source
 * @source: the source, which must stay until pghot_unregister_source()
 *
 * Starts it if its switch and that of pghot are on, and NUMA balancing does what it
 * needs. If that fails it is there, switched off.
 *
 * Context: process context; sleeps.
 *
 * Return: 0 or a negative error; -ENODEV if pghot was switched off at boot,
 *	   -EEXIST if there is one of that name.
 */
int pghot_register_source(struct pghot_source *source)
{
	struct pghot_source_dir *failed = NULL;
	int err;

	if (!pghot_booted)
		return -ENODEV;
	source->accesses = alloc_percpu(unsigned long);
	source->ring = NULL;
	source->dir = NULL;
	source->running = false;
	if (!source->accesses)
		return -ENOMEM;
	err = source->nmi ? pghot_ring_alloc(source) : 0;
	if (!err) {
		guard(mutex)(&switch_lock);
		err = source_is_known(source->name) ? -EEXIST :
						      source_add_dir(source, &failed);
		if (!err) {
			list_add_tail_rcu(&source->list, &sources);
			source_sync_all();
		}
	}
	if (failed)
		kobject_put(&failed->kobj);
	if (err)
		source_free(source);
	return err;
}
EXPORT_SYMBOL_GPL(pghot_register_source);

/**
 * pghot_unregister_source - remove a source
 * @source: the source, which must not report any more once its stop() returned
 *
 * Context: process context; sleeps.
 */
void pghot_unregister_source(struct pghot_source *source)
{
	struct pghot_source_dir *dir;

	scoped_guard(mutex, &switch_lock) {
		source->on = false;
		source_sync_all();
		list_del_rcu(&source->list);
		dir = source->dir;
		source->dir = NULL;
	}
	/* Without the lock, which those who write to its files may wait for. */
	kobject_del(&dir->kobj);
	kobject_put(&dir->kobj);
	/* A report may be under way, and /proc/vmstat be read. */
	synchronize_rcu();
	source_free(source);
}
EXPORT_SYMBOL_GPL(pghot_unregister_source);

/**
 * pghot_sources_init - switch pghot on; sources may come from now on
 * @parent: where their directories go in sysfs
 */
void __init pghot_sources_init(struct kobject *parent)
{
	sources_parent = parent;
	pghot_set_enabled(true);
}
