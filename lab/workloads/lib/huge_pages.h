/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's settings for huge pages, where what makes them is not to disturb. */
#ifndef HUGE_PAGES_H
#define HUGE_PAGES_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "workload.h"

#define THP	"/sys/kernel/mm/transparent_hugepage/"

/* Write a setting of the kernel, or end. */
static inline void setting(const char *name, const char *value)
{
	FILE *f = fopen(name, "we");

	if (!f || fputs(value, f) < 0 || fclose(f))
		workload_fail("cannot write %s: %s", name, strerror(errno));
}

/* Have khugepaged look at one page, and sleep for an hour then. */
static inline void khugepaged_rests(void)
{
	setting(THP "khugepaged/pages_to_scan", "1");
	setting(THP "khugepaged/scan_sleep_millisecs", "3600000");
}

#endif
