// SPDX-License-Identifier: GPL-2.0
/*
 * What the hot map costs on this machine, as JSON on standard output.
 *
 *	cost [SECTIONS [ACCESSES [REPS [THREADS]]]]
 *
 * SECTIONS of 128 MiB each: 8192, the default, are a node of 1 TiB. Times are
 * of the median of REPS repetitions; with each bar stands whether it is met.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/minmax.h>

#include "cost.h"

static unsigned long number(int argc, char **argv, int i, unsigned long other)
{
	unsigned long n = argc > i ? strtoul(argv[i], NULL, 0) : other;

	if (!n) {
		fprintf(stderr,
			"usage: cost [SECTIONS [ACCESSES [REPS [THREADS]]]]\n");
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "default", "precise" };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct cost_options o = {
		.sections = min(number(argc, argv, 1, 8192), 131072UL / 8),
		.accesses = number(argc, argv, 2, 4 << 20),
		.reps = min(number(argc, argv, 3, 11), 101UL),
		.threads = number(argc, argv, 4, cpus),
	};
	int precise;

	printf("{\"node_bytes\": %lu, \"accesses\": %lu, \"reps\": %u, "
	       "\"cpus\": %ld, \"rcu_read_lock\": \"compiler barrier, as in a "
	       "kernel without preemptible RCU\"", o.sections << 27, o.accesses,
	       o.reps, cpus);
	for (precise = 0; precise < 2; precise++) {
		printf(",\n\"%s\": {\"record\": {", names[precise]);
		cost_records(&o, precise);
		printf("},\n\"scan\": {");
		cost_scans(&o, precise);
		printf("}}");
		fflush(stdout);
	}
	printf("}\n");
	return 0;
}
