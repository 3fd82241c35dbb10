// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/mm/migrate_offload/: a directory for each copy engine, and in debugfs a table
 * of what each was found to cost.
 */
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "internal.h"
#include "state.h"

#define FIRST_US_MAX	1000000U

/**
 * struct copy_dir - directory of an engine
 * @kobj: the directory
 * @state: the engine; whoever reads a file here keeps it
 *
 * Lives on its own, for a kobject may be released after its engine went.
 */
struct copy_dir {
	struct kobject kobj;
	struct migrate_copy_state *state;
};

static struct kobject *parent;
static struct dentry *debug_parent;

static struct migrate_copy_state *to_state(struct kobject *kobj)
{
	return container_of(kobj, struct copy_dir, kobj)->state;
}

/* --- all engines --------------------------------------------------------- */

static ssize_t first_folio_us_show(struct kobject *kobj,
				   struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(migrate_copy_first_us));
}

static ssize_t first_folio_us_store(struct kobject *kobj,
				    struct kobj_attribute *attr,
				    const char *buf, size_t count)
{
	u32 value;

	if (kstrtou32(buf, 0, &value) || value > FIRST_US_MAX)
		return -EINVAL;
	WRITE_ONCE(migrate_copy_first_us, value);
	return count;
}

static struct kobj_attribute first_folio_us_attr = __ATTR_RW(first_folio_us);

/* --- <engine>/ ----------------------------------------------------------- */

static const char * const use_names[] = {
	[MIGRATE_COPY_OFF] = "0",
	[MIGRATE_COPY_ON] = "1",
	[MIGRATE_COPY_ALWAYS] = "always",
};

static ssize_t enabled_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%s\n", use_names[READ_ONCE(to_state(kobj)->use)]);
}

static ssize_t enabled_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	int use = sysfs_match_string(use_names, buf);

	if (use < 0)
		return use;
	mutex_lock(&migrate_copy_lock);
	migrate_copy_switch(to_state(kobj), use);
	mutex_unlock(&migrate_copy_lock);
	return count;
}

static struct kobj_attribute enabled_attr = __ATTR_RW(enabled);

static ssize_t reasons_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	unsigned long reasons = READ_ONCE(to_state(kobj)->reasons);
	unsigned int bit;
	int len = 0;

	for_each_set_bit(bit, &reasons, MR_NEVER)
		len += sysfs_emit_at(buf, len, "%s%s", len ? " " : "",
				     migrate_reason_names[bit]);
	return len + sysfs_emit_at(buf, len, "\n");
}

/* Words, of which each is one that the engine is there for. */
static int reasons_read(char *words, unsigned long served, unsigned long *reasons)
{
	char *word;
	int reason;

	*reasons = 0;
	while ((word = strsep(&words, " "))) {
		if (!*word)
			continue;
		reason = match_string(migrate_reason_names, MR_NEVER, word);
		if (reason < 0 || !(served & BIT(reason)))
			return -EINVAL;
		*reasons |= BIT(reason);
	}
	/* To be used for nothing is another setting. */
	return *reasons ? 0 : -EINVAL;
}

static ssize_t reasons_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	struct migrate_copy_state *state = to_state(kobj);
	unsigned long reasons;
	char *words;
	int err;

	words = kstrndup(buf, count, GFP_KERNEL);
	if (!words)
		return -ENOMEM;
	err = reasons_read(strim(words), state->engine->reasons, &reasons);
	kfree(words);
	if (err)
		return err;
	WRITE_ONCE(state->reasons, reasons);
	return count;
}

static struct kobj_attribute reasons_attr = __ATTR_RW(reasons);

static ssize_t busy_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *buf)
{
	return sysfs_emit(buf, "%llu\n", READ_ONCE(to_state(kobj)->busy));
}

static struct kobj_attribute busy_attr = __ATTR_RO(busy);

static struct attribute *engine_attrs[] = {
	&enabled_attr.attr,
	&reasons_attr.attr,
	&busy_attr.attr,
	NULL,
};

static const struct attribute_group engine_group = {
	.attrs = engine_attrs,
};

/* --- <engine>/folios-<size>kB/ ------------------------------------------- */

/**
 * struct order_attr - a counter of folios of one size
 * @attr: its file
 * @order: the size
 */
struct order_attr {
	struct kobj_attribute attr;
	unsigned int order;
};

/**
 * struct order_dir - a directory of such
 * @name: of the directory
 * @copied: folios that the engine copied
 * @failed: folios that it should have
 * @attrs: both
 * @group: the directory
 */
struct order_dir {
	char name[24];
	struct order_attr copied, failed;
	struct attribute *attrs[3];
	struct attribute_group group;
};

static struct order_dir order_dirs[MIGRATE_COPY_ORDERS];
static const struct attribute_group *groups[MIGRATE_COPY_ORDERS + 2];

static unsigned int order_of(struct kobj_attribute *attr)
{
	return container_of(attr, struct order_attr, attr)->order;
}

static ssize_t copied_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%llu\n",
			  READ_ONCE(to_state(kobj)->copied[order_of(attr)]));
}

static ssize_t failed_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%llu\n",
			  READ_ONCE(to_state(kobj)->failed[order_of(attr)]));
}

static void __init counter_init(struct order_attr *counter, const char *name,
				typeof(copied_show) *show, unsigned int order)
{
	sysfs_attr_init(&counter->attr.attr);
	counter->attr.attr.name = name;
	counter->attr.attr.mode = 0444;
	counter->attr.show = show;
	counter->order = order;
}

static void __init order_dirs_init(void)
{
	unsigned int order;

	groups[0] = &engine_group;
	for (order = 0; order < MIGRATE_COPY_ORDERS; order++) {
		struct order_dir *dir = &order_dirs[order];

		snprintf(dir->name, sizeof(dir->name), "folios-%lukB",
			 PAGE_SIZE >> 10 << order);
		counter_init(&dir->copied, "copied", copied_show, order);
		counter_init(&dir->failed, "failed", failed_show, order);
		dir->attrs[0] = &dir->copied.attr.attr;
		dir->attrs[1] = &dir->failed.attr.attr;
		dir->group.name = dir->name;
		dir->group.attrs = dir->attrs;
		groups[order + 1] = &dir->group;
	}
}

/* --- what engines cost --------------------------------------------------- */

static const char * const way_names[MIGRATE_COPY_WAYS] = {
	"lower>lower", "lower>top", "top>lower", "top>top", "in lower", "in top",
};

static void show_cost(struct seq_file *m, const struct migrate_copy_cost *c)
{
	if (c->known)
		seq_printf(m, " %9u", c->cost >> MIGRATE_COPY_SHIFT);
	else
		seq_puts(m, "         -");
}

static void show_costs(struct seq_file *m, struct migrate_copy_state *state,
		       bool contended, unsigned int way, unsigned int order)
{
	struct migrate_copy_cost costs[MIGRATE_COPY_SIZES], cpu;
	struct migrate_copy_line line;
	unsigned int size;
	u64 setup, rate;
	bool any = false;

	migrate_copy_costs(state, contended, way, order, &line, costs, &cpu);
	for (size = 0; size < MIGRATE_COPY_SIZES; size++)
		any |= costs[size].known;
	if (!any && (contended || !cpu.known))
		return;
	migrate_copy_line_fit(&line, &setup, &rate);
	seq_printf(m, "%-5s %-12s %8lu    ", contended ? "busy" : "idle",
		   way_names[way], PAGE_SIZE >> 10 << order);
	show_cost(m, &cpu);
	seq_puts(m, "       ");
	for (size = 0; size < MIGRATE_COPY_SIZES; size++)
		show_cost(m, &costs[size]);
	seq_printf(m, " %10llu %12llu\n", setup, rate >> MIGRATE_COPY_SHIFT);
}

static int costs_show(struct seq_file *m, void *unused)
{
	struct migrate_copy_state *state = m->private;
	unsigned int contended, way, order;

	seq_puts(m, "CPU   way          folio kB    CPU ns/KiB  engine: 1 folio     to 4     to 16     to 64      more  set-up ns  then ns/KiB\n");
	for (contended = 0; contended < 2; contended++)
		for (way = 0; way < MIGRATE_COPY_WAYS; way++)
			for (order = 0; order < MIGRATE_COPY_ORDERS; order++)
				show_costs(m, state, contended, way, order);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(costs);

/* --- coming and going ---------------------------------------------------- */

static void dir_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct copy_dir, kobj));
}

static const struct kobj_type dir_ktype = {
	.sysfs_ops = &kobj_sysfs_ops,
	.release = dir_release,
	.default_groups = groups,
};

/**
 * migrate_copy_add_dir - show an engine to users
 * @state: the engine's
 *
 * Return: 0 or a negative error.
 */
int migrate_copy_add_dir(struct migrate_copy_state *state)
{
	struct copy_dir *dir;
	int err;

	if (!parent)
		return -ENODEV;
	dir = kzalloc_obj(*dir);
	if (!dir)
		return -ENOMEM;
	dir->state = state;
	err = kobject_init_and_add(&dir->kobj, &dir_ktype, parent, "%s",
				   state->engine->name);
	if (err) {
		kobject_put(&dir->kobj);
		return err;
	}
	state->dir = &dir->kobj;
	state->debug = debugfs_create_file(state->engine->name, 0400, debug_parent,
					   state, &costs_fops);
	return 0;
}

/**
 * migrate_copy_remove_dir - show it no more
 * @state: the engine's; nobody looks at it by its files after this
 */
void migrate_copy_remove_dir(struct migrate_copy_state *state)
{
	debugfs_remove(state->debug);
	kobject_del(state->dir);
	kobject_put(state->dir);
}

/* Before drivers. */
static int __init migrate_copy_init(void)
{
	int err;

	order_dirs_init();
	parent = kobject_create_and_add("migrate_offload", mm_kobj);
	if (!parent)
		return -ENOMEM;
	err = sysfs_create_file(parent, &first_folio_us_attr.attr);
	if (err) {
		kobject_put(parent);
		parent = NULL;
		return err;
	}
	debug_parent = debugfs_create_dir("migrate_offload", NULL);
	return 0;
}
subsys_initcall(migrate_copy_init);
