/* SPDX-License-Identifier: GPL-2.0 */
/* The measured part, for workloads and for those who mark it from outside. */
#ifndef WORKLOAD_MEASURED_H
#define WORKLOAD_MEASURED_H

#define RUN_DIRECTORY	"/run/lab"
#define SETTINGS	RUN_DIRECTORY "/settings"
#define VMSTAT_BEGIN	RUN_DIRECTORY "/vmstat.begin"
#define VMSTAT_END	RUN_DIRECTORY "/vmstat.end"

/* Copy /proc/vmstat, all counters up to date, to @to if there is its directory. */
void keep_vmstat(const char *to);

/*
 * Write the settings that the run's description left for the measured part, so that
 * nothing has moved before, and begin it.
 */
void measured_begin(void);

void place_best(void);

#endif
