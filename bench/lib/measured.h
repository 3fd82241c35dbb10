/* SPDX-License-Identifier: GPL-2.0 */
/* The measured part, for workloads and for those who mark it from outside. */
#ifndef BENCH_MEASURED_H
#define BENCH_MEASURED_H

#define RUN_DIRECTORY	"/run/lab"
#define VMSTAT_BEGIN	RUN_DIRECTORY "/vmstat.begin"
#define VMSTAT_END	RUN_DIRECTORY "/vmstat.end"

/* Copy /proc/vmstat, all counters up to date, to @to if there is its directory. */
void keep_vmstat(const char *to);

void place_best(void);

#endif
