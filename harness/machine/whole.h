/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All of pghot on the made-up machine, but for hint faults: it boots, memory comes
 * and goes, sources are switched.
 */
#ifndef _MACHINE_WHOLE_H
#define _MACHINE_WHOLE_H

#include <linux/kobject.h>

#include "machine.h"

/*
 * Have @life run with 0, 1, 2 and so on until it returns false, each time in a
 * process of its own: pghot boots once in the life of a kernel. Returns how
 * often it returned true.
 */
unsigned int machine_lives(bool (*life)(unsigned int n));

/* With the memory that there is by then, or none. */
int machine_boot(void);

/* Sections of a node's memory come and go. */
void machine_online(int nid, unsigned long section, unsigned long nr);
void machine_offline(int nid, unsigned long section, unsigned long nr);

/* The first @nr nodes are the top tier from now on. */
void machine_tiers(int nr);

/* As who writes kernel.numa_balancing. */
void machine_balance(int mode);

/* Of directories in sysfs the last part of the path is enough. */
bool machine_has_dir(const char *name);
int machine_write(const char *dir, const char *file, const char *text);
long machine_read(const char *dir, const char *file);
bool machine_shows(const char *dir, const char *file, const char *text);

#endif
