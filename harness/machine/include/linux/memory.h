/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_MEMORY_H
#define _MACHINE_LINUX_MEMORY_H

/* A block of memory came or went. */
#define MEM_ONLINE		1UL
#define MEM_OFFLINE		2UL

#define NOTIFY_OK		1
#define DEFAULT_CALLBACK_PRI	0

struct notifier_block {
	int (*notifier_call)(struct notifier_block *nb, unsigned long action,
			     void *arg);
	int priority;
};

struct memory_notify {
	unsigned long start_pfn;
	unsigned long nr_pages;
};

int register_memory_notifier(struct notifier_block *nb);

#endif
