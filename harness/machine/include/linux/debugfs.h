/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_DEBUGFS_H
#define _MACHINE_LINUX_DEBUGFS_H

#include <linux/types.h>

struct dentry;

struct file_operations {
	int (*get)(void *data, u64 *value);
	int (*set)(void *data, u64 value);
};

#define DEFINE_DEBUGFS_ATTRIBUTE(_fops, _get, _set, _format)		\
static const struct file_operations _fops = { .get = _get, .set = _set }

/* There is none, as where the kernel was built without it. */
#define debugfs_create_dir(name, parent)	((struct dentry *)NULL)
#define debugfs_create_file(name, mode, parent, data, fops) \
	((void)(parent), (void)(fops))
#define debugfs_lookup_and_remove(name, parent) do { } while (0)

#endif
