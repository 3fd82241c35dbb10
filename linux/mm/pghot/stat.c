// SPDX-License-Identifier: GPL-2.0
/* Counters, shown at the end of /proc/vmstat. */
#include <linux/pghot.h>
#include <linux/seq_file.h>

#include "internal.h"

DEFINE_PER_CPU(struct pghot_stat_counts, pghot_stat_counts);

const char *const pghot_stat_names[NR_PGHOT_STATS] = {
#define PGHOT_STAT_NAME(name, ...)	\
	[PGHOT_STAT_##name] = #name,
	PGHOT_STATS(PGHOT_STAT_NAME)
#undef PGHOT_STAT_NAME
};

/**
 * pghot_stat_read - value of a counter
 * @stat: which
 *
 * Return: the sum over all CPUs.
 */
unsigned long pghot_stat_read(enum pghot_stat stat)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(pghot_stat_counts, cpu).count[stat]);
	return sum;
}

/**
 * pghot_vmstat_show - print the counters as /proc/vmstat does
 * @m: where to
 *
 * Prints nothing when pghot was switched off at boot.
 */
void pghot_vmstat_show(struct seq_file *m)
{
	unsigned long sum[NR_PGHOT_STATS] = {};
	int stat, cpu;

	if (!pghot_booted)
		return;
	/* By CPU first: each one's counters are next to each other. */
	for_each_possible_cpu(cpu)
		for (stat = 0; stat < NR_PGHOT_STATS; stat++)
			sum[stat] += READ_ONCE(per_cpu(pghot_stat_counts, cpu).count[stat]);
	for (stat = 0; stat < NR_PGHOT_STATS; stat++)
		seq_printf(m, "pghot_%s %lu\n", pghot_stat_names[stat], sum[stat]);
	pghot_sources_show(m);
}
