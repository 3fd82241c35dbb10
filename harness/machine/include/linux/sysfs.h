/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_SYSFS_H
#define _MACHINE_LINUX_SYSFS_H

#include <stdio.h>
#include <string.h>

#include <linux/compiler.h>
#include <linux/kobject.h>

struct attribute {
	const char *name;
	unsigned short mode;
};

struct attribute_group {
	struct attribute **attrs;
};

struct kobj_attribute {
	struct attribute attr;
	ssize_t (*show)(struct kobject *kobj, struct kobj_attribute *attr,
			char *buf);
	ssize_t (*store)(struct kobject *kobj, struct kobj_attribute *attr,
			 const char *buf, size_t count);
};

struct sysfs_ops {
	char unused;
};

extern const struct sysfs_ops kobj_sysfs_ops;

#define __ATTR(_name, _mode, _show, _store) {				\
	.attr = { .name = #_name, .mode = _mode },			\
	.show = _show, .store = _store,					\
}
#define __ATTR_RO(_name)	__ATTR(_name, 0444, _name##_show, NULL)
#define __ATTR_RW(_name)	__ATTR(_name, 0644, _name##_show, _name##_store)
#define ATTRIBUTE_GROUPS(_name)						\
static const struct attribute_group _name##_group = {			\
	.attrs = _name##_attrs,						\
};									\
static const struct attribute_group *_name##_groups[] = {		\
	&_name##_group, NULL,						\
}

/* With or without the newline that a shell adds. */
static inline bool sysfs_streq(const char *a, const char *b)
{
	size_t n = strlen(b);

	return !strncmp(a, b, n) && (!a[n] || !strcmp(a + n, "\n"));
}

#define sysfs_emit(buf, ...)	sprintf(buf, __VA_ARGS__)

int sysfs_create_groups(struct kobject *kobj,
			const struct attribute_group **groups);

#endif
