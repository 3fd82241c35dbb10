// SPDX-License-Identifier: GPL-2.0
/* Directories in sysfs, each of which takes some memory, and their files. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <linux/slab.h>
#include <linux/sysfs.h>

#include "unit.h"
#include "whole.h"

static struct kobject mm = { .name = "mm", .refs = 1 };
struct kobject *mm_kobj = &mm;

const struct sysfs_ops kobj_sysfs_ops;

/* Those that have a directory. */
static struct kobject *shown;

void kobject_init(struct kobject *kobj, const struct kobj_type *ktype)
{
	assert_false(kobj->state_initialized);
	kobj->ktype = ktype;
	kobj->refs = 1;
	kobj->state_initialized = true;
}

static int add(struct kobject *kobj, struct kobject *parent,
	       const char *format, va_list args)
{
	assert_true(kobj->state_initialized);
	assert_false(kobj->state_in_sysfs);
	vsnprintf(kobj->name, sizeof(kobj->name), format, args);
	kobj->dir = kzalloc(1, GFP_KERNEL);
	if (!kobj->dir)
		return -ENOMEM;
	kobj->parent = parent;
	parent->refs++;
	kobj->next = shown;
	shown = kobj;
	kobj->state_in_sysfs = true;
	return 0;
}

int kobject_add(struct kobject *kobj, struct kobject *parent,
		const char *format, ...)
{
	va_list args;
	int err;

	va_start(args, format);
	err = add(kobj, parent, format, args);
	va_end(args);
	return err;
}

int kobject_init_and_add(struct kobject *kobj, const struct kobj_type *ktype,
			 struct kobject *parent, const char *format, ...)
{
	va_list args;
	int err;

	kobject_init(kobj, ktype);
	va_start(args, format);
	err = add(kobj, parent, format, args);
	va_end(args);
	return err;
}

static void dynamic_release(struct kobject *kobj)
{
	kfree(kobj);
}

struct kobject *kobject_create_and_add(const char *name,
				       struct kobject *parent)
{
	static const struct kobj_type dynamic = { .release = dynamic_release };
	struct kobject *kobj = kzalloc_obj(*kobj);

	if (!kobj)
		return NULL;
	if (kobject_init_and_add(kobj, &dynamic, parent, "%s", name)) {
		kobject_put(kobj);
		return NULL;
	}
	return kobj;
}

void kobject_del(struct kobject *kobj)
{
	struct kobject **link = &shown;

	if (!kobj->state_in_sysfs)
		return;
	while (*link != kobj)
		link = &(*link)->next;
	*link = kobj->next;
	kobj->state_in_sysfs = false;
	kobj->more = NULL;
	kfree(kobj->dir);
	kobject_put(kobj->parent);
	kobj->parent = NULL;
}

void kobject_put(struct kobject *kobj)
{
	if (!kobj || --kobj->refs)
		return;
	kobject_del(kobj);
	kobj->ktype->release(kobj);
}

int sysfs_create_groups(struct kobject *kobj,
			const struct attribute_group **groups)
{
	if (harness_no_memory())
		return -ENOMEM;
	kobj->more = groups;
	return 0;
}

static struct kobject *dir_of(const char *name)
{
	struct kobject *kobj = shown;

	while (kobj && strcmp(kobj->name, name))
		kobj = kobj->next;
	return kobj;
}

bool machine_has_dir(const char *name)
{
	return dir_of(name);
}

static struct kobj_attribute *file_in(const struct attribute_group **groups,
				      const char *name)
{
	struct attribute **attr;

	for (; groups && *groups; groups++)
		for (attr = (*groups)->attrs; *attr; attr++)
			if (!strcmp((*attr)->name, name))
				return container_of(*attr, struct kobj_attribute, attr);
	return NULL;
}

static struct kobj_attribute *file_of(struct kobject *kobj, const char *name)
{
	struct kobj_attribute *file;

	assert_non_null(kobj);
	file = file_in(kobj->ktype->default_groups, name);
	if (!file)
		file = file_in(kobj->more, name);
	assert_non_null(file);
	return file;
}

int machine_write(const char *dir, const char *file, const char *text)
{
	struct kobject *kobj = dir_of(dir);
	struct kobj_attribute *attr = file_of(kobj, file);
	ssize_t done = attr->store(kobj, attr, text, strlen(text));

	if (done < 0)
		return done;
	assert_int_equal(done, strlen(text));
	return 0;
}

bool machine_shows(const char *dir, const char *file, const char *text)
{
	struct kobject *kobj = dir_of(dir);
	struct kobj_attribute *attr = file_of(kobj, file);
	char shown[64];

	assert_in_range(attr->show(kobj, attr, shown), 1, sizeof(shown) - 1);
	return sysfs_streq(shown, text);
}

long machine_read(const char *dir, const char *file)
{
	struct kobject *kobj = dir_of(dir);
	struct kobj_attribute *attr = file_of(kobj, file);
	char text[64];

	assert_in_range(attr->show(kobj, attr, text), 1, sizeof(text) - 1);
	return strtol(text, NULL, 10);
}
