/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_KOBJECT_H
#define _MACHINE_LINUX_KOBJECT_H

#include <stdbool.h>
#include <sys/types.h>

struct attribute_group;
struct sysfs_ops;
struct kobject;

struct kobj_type {
	void (*release)(struct kobject *kobj);
	const struct sysfs_ops *sysfs_ops;
	const struct attribute_group **default_groups;
};

/* Two groups of files: those of its type, and more. */
struct kobject {
	struct kobject *parent, *next;
	const struct kobj_type *ktype;
	const struct attribute_group **more;
	void *dir;
	char name[24];
	int refs;
	bool state_initialized, state_in_sysfs;
};

extern struct kobject *mm_kobj;

void kobject_init(struct kobject *kobj, const struct kobj_type *ktype);
int kobject_add(struct kobject *kobj, struct kobject *parent,
		const char *format, ...);
int kobject_init_and_add(struct kobject *kobj, const struct kobj_type *ktype,
			 struct kobject *parent, const char *format, ...);
struct kobject *kobject_create_and_add(const char *name,
				       struct kobject *parent);
void kobject_del(struct kobject *kobj);
void kobject_put(struct kobject *kobj);

#endif
