// SPDX-License-Identifier: GPL-2.0
/*
 * NUMA balancing's memory tiering mode: which accessed pages of a lower tier
 * are worth promoting, and how many. A hint fault says how soon after its scan
 * a page was accessed; what is sooner than the threshold is hot, the threshold
 * follows the number of hot pages, and that number is limited.
 *
 * What is learnt is kept for each node that is promoted to, in the fields nbp_*
 * of struct pglist_data. They change without a lock: start times by cmpxchg(),
 * so that one task begins a period, the others by whoever began it.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/numa_promotion.h>
#include <linux/sched/sysctl.h>
#include <linux/sysctl.h>
#include <linux/vmstat.h>

/* The page with hint page fault latency < threshold in ms is considered hot */
unsigned int sysctl_numa_balancing_hot_threshold = MSEC_PER_SEC;

/* Restrict the NUMA promotion throughput (MB/s) for each target node. */
unsigned int sysctl_numa_balancing_promote_rate_limit = 65536;

#ifdef CONFIG_SYSCTL
static const struct ctl_table numa_promotion_sysctls[] = {
	{
		.procname	= "numa_balancing_promote_rate_limit_MBps",
		.data		= &sysctl_numa_balancing_promote_rate_limit,
		.maxlen		= sizeof(unsigned int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
	},
};

static int __init numa_promotion_sysctl_init(void)
{
	register_sysctl_init("kernel", numa_promotion_sysctls);
	return 0;
}
late_initcall(numa_promotion_sysctl_init);
#endif /* CONFIG_SYSCTL */

/**
 * pgdat_free_space_enough - may all accessed pages come to a node, hot or not
 * @pgdat: node to promote to
 *
 * For memory tiering mode, if there are enough free pages (more than
 * enough watermark defined here) in fast memory node, to take full
 * advantage of fast memory capacity, all recently accessed slow
 * memory pages will be migrated to fast memory node without
 * considering hot threshold.
 *
 * Return: true if it has that much free memory.
 */
bool pgdat_free_space_enough(struct pglist_data *pgdat)
{
	int z;
	unsigned long enough_wmark;

	enough_wmark = max(1UL * 1024 * 1024 * 1024 >> PAGE_SHIFT,
			   pgdat->node_present_pages >> 4);
	for (z = pgdat->nr_zones - 1; z >= 0; z--) {
		struct zone *zone = pgdat->node_zones + z;

		if (!populated_zone(zone))
			continue;

		if (zone_watermark_ok(zone, 0,
				      promo_wmark_pages(zone) + enough_wmark,
				      ZONE_MOVABLE, 0))
			return true;
	}
	return false;
}

/**
 * numa_promotion_unlimited - count an accessed folio where all may come
 * @pgdat: node to promote to
 * @nr: pages of the folio
 *
 * Where not all may come, nothing is counted.
 *
 * Return: true if it may come, hot or not.
 */
bool numa_promotion_unlimited(struct pglist_data *pgdat, long nr)
{
	if (!pgdat_free_space_enough(pgdat))
		return false;

	/* workload changed, reset hot threshold */
	if (READ_ONCE(pgdat->nbp_threshold))
		WRITE_ONCE(pgdat->nbp_threshold, 0);
	mod_node_page_state(pgdat, PGPROMOTE_CANDIDATE_NRL, nr);
	return true;
}

/**
 * numa_hint_fault_latency - how soon after its scan a folio was accessed
 * @folio: a folio that a hint fault found; see folio_use_access_time()
 *
 * For memory tiering mode, when page tables are scanned, the scan
 * time will be recorded in struct page in addition to make page
 * PROT_NONE for slow memory page.  So when the page is accessed, in
 * hint page fault handler, the hint page fault latency is calculated
 * via,
 *
 *	hint page fault latency = hint page fault time - scan time
 *
 * The smaller the hint page fault latency, the higher the possibility
 * for the page to be hot.
 *
 * The time of the fault replaces that of the scan, so that this can be asked
 * once for each fault.
 *
 * Return: the latency in milliseconds.
 */
int numa_hint_fault_latency(struct folio *folio)
{
	int last_time, time;

	time = jiffies_to_msecs(jiffies);
	last_time = folio_xchg_access_time(folio, time);

	return (time - last_time) & PAGE_ACCESS_TIME_MASK;
}

/*
 * Begin a new period if the present one is over. Of tasks that find it over at
 * once, one begins the new one.
 */
static bool begin_period(unsigned int *period_start, unsigned int period)
{
	unsigned int start, now;

	/*
	 * Pairs with the cmpxchg() below: another task may begin a period
	 * meanwhile, and its start must not lie ahead of the clock read here.
	 */
	start = smp_load_acquire(period_start);
	now = jiffies_to_msecs(jiffies);

	return now - start > period &&
	       cmpxchg(period_start, start, now) == start;
}

/*
 * For memory tiering mode, too high promotion/demotion throughput may
 * hurt application latency.  So we provide a mechanism to rate limit
 * the number of pages that are tried to be promoted.
 */
static bool numa_promotion_rate_limit(struct pglist_data *pgdat,
				      unsigned long rate_limit, int nr)
{
	unsigned long nr_cand;

	mod_node_page_state(pgdat, PGPROMOTE_CANDIDATE, nr);
	nr_cand = node_page_state(pgdat, PGPROMOTE_CANDIDATE);
	if (begin_period(&pgdat->nbp_rl_start, MSEC_PER_SEC))
		pgdat->nbp_rl_nr_cand = nr_cand;
	return nr_cand - pgdat->nbp_rl_nr_cand >= rate_limit;
}

/**
 * numa_promotion_threshold - hot threshold in force
 * @pgdat: node to promote to
 * @ref_th: its reference, in milliseconds
 *
 * Return: hint fault latency below which a page is hot, in milliseconds.
 */
unsigned int numa_promotion_threshold(struct pglist_data *pgdat,
				      unsigned int ref_th)
{
	return READ_ONCE(pgdat->nbp_threshold) ? : ref_th;
}

#define NUMA_MIGRATION_ADJUST_STEPS	16

/**
 * numa_promotion_adjust_threshold - let the threshold follow the candidates
 * @pgdat: node to promote to
 * @rate_limit: pages that may be promoted to it in a second
 * @ref_th: reference of the threshold, in milliseconds
 *
 * Once in scan_period_max_ms, more than 110% of the candidates that the rate
 * limit lets through lower the threshold by a step, fewer than 90% raise it.
 * Between, this is two reads.
 *
 * Return: threshold in force, in milliseconds.
 */
unsigned int numa_promotion_adjust_threshold(struct pglist_data *pgdat,
					     unsigned long rate_limit,
					     unsigned int ref_th)
{
	unsigned int th_period = sysctl_numa_balancing_scan_period_max;
	unsigned long nr_cand, ref_cand, diff_cand;
	unsigned int unit_th, th;

	if (begin_period(&pgdat->nbp_th_start, th_period)) {
		ref_cand = rate_limit * th_period / MSEC_PER_SEC;
		nr_cand = node_page_state(pgdat, PGPROMOTE_CANDIDATE);
		diff_cand = nr_cand - pgdat->nbp_th_nr_cand;
		unit_th = ref_th * 2 / NUMA_MIGRATION_ADJUST_STEPS;
		th = numa_promotion_threshold(pgdat, ref_th);
		if (diff_cand > ref_cand * 11 / 10)
			th = max(th - unit_th, unit_th);
		else if (diff_cand < ref_cand * 9 / 10)
			th = min(th + unit_th, ref_th * 2);
		pgdat->nbp_th_nr_cand = nr_cand;
		WRITE_ONCE(pgdat->nbp_threshold, th);
	}
	return numa_promotion_threshold(pgdat, ref_th);
}

/**
 * numa_promotion_reset - let hot thresholds start from their reference
 *
 * For when memory tiering is switched on: what was learnt before is of another
 * time.
 */
void numa_promotion_reset(void)
{
	struct pglist_data *pgdat;

	for_each_online_pgdat(pgdat) {
		WRITE_ONCE(pgdat->nbp_threshold, 0);
		pgdat->nbp_th_nr_cand = node_page_state(pgdat, PGPROMOTE_CANDIDATE);
		pgdat->nbp_th_start = jiffies_to_msecs(jiffies);
	}
}

/**
 * numa_should_promote - is a folio to be promoted by the hint fault that found it
 * @folio: the folio; see folio_use_access_time()
 * @nid: node to promote it to, which has memory
 *
 * Return: true if it is.
 */
bool numa_should_promote(struct folio *folio, int nid)
{
	struct pglist_data *pgdat = NODE_DATA(nid);
	long nr = folio_nr_pages(folio);
	unsigned long rate_limit;
	unsigned int latency, th;

	if (numa_promotion_unlimited(pgdat, nr))
		return true;

	rate_limit = MB_TO_PAGES(sysctl_numa_balancing_promote_rate_limit);
	th = numa_promotion_adjust_threshold(pgdat, rate_limit,
					     sysctl_numa_balancing_hot_threshold);
	latency = numa_hint_fault_latency(folio);
	if (latency >= th)
		return false;

	return !numa_promotion_rate_limit(pgdat, rate_limit, nr);
}
