/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers and switches in sysfs. */
#ifndef _MM_PGHOT_KNOB_H
#define _MM_PGHOT_KNOB_H

#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/sysfs.h>

/**
 * struct pghot_knob - a number with bounds
 * @attr: its file
 * @value: where it is kept
 * @min: lowest value accepted
 * @max: highest value accepted
 * @changed: called after it was set to another number; may be NULL
 * @resets: called after it was set to the same, too
 */
struct pghot_knob {
	struct kobj_attribute attr;
	u32 *value;
	u32 min;
	u32 max;
	void (*changed)(void);
	bool resets;
};

/* sysfs.c */
ssize_t pghot_knob_show(struct kobject *kobj, struct kobj_attribute *attr,
			char *buf);
ssize_t pghot_knob_store(struct kobject *kobj, struct kobj_attribute *attr,
			 const char *buf, size_t count);

#define DEFINE_KNOB(_name, _value, _min, _max)				\
	static struct pghot_knob _name##_knob = {			\
		.attr = __ATTR(_name, 0644, pghot_knob_show,		\
			       pghot_knob_store),			\
		.value = _value, .min = _min, .max = _max,		\
	}

/* 0 or 1, and nothing else. */
static inline int pghot_parse_switch(const char *buf, bool *on)
{
	u32 value;

	if (kstrtou32(buf, 0, &value) || value > 1)
		return -EINVAL;
	*on = value;
	return 0;
}

#endif /* _MM_PGHOT_KNOB_H */
