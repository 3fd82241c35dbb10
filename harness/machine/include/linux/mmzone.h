/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_MMZONE_H
#define _MACHINE_LINUX_MMZONE_H

#include_next <linux/mmzone.h>

#include <linux/nodemask.h>
#include <linux/types.h>

#define ZONE_MOVABLE		3
#define MAX_NR_ZONES		4
/* All there can be of, as many bits as their numbers have. */
#define SECTIONS_SHIFT		5

enum zone_stat_item { NR_FREE_PAGES };
enum node_stat_item {
	PGPROMOTE_CANDIDATE, PGPROMOTE_CANDIDATE_NRL,
	PGDEMOTE_KSWAPD, PGDEMOTE_DIRECT, PGDEMOTE_KHUGEPAGED, PGDEMOTE_PROACTIVE,
	PGSTEAL_KSWAPD, PGSTEAL_ANON, PGSTEAL_FILE, WORKINGSET_REFAULT_ANON, WORKINGSET_REFAULT_FILE,
	NR_NODE_STATS,
};

#define MAX_PAGE_ORDER		10

struct zone {
	unsigned long present_pages;
	unsigned long free, high, promo, nr_free_highatomic;
	unsigned long lowmem_reserve[MAX_NR_ZONES];
	unsigned int kswapd_woken;
	unsigned int kcompactd_woken;
	/* Of what is free, no piece is larger. */
	unsigned int max_order;
};

typedef struct pglist_data {
	struct zone node_zones[MAX_NR_ZONES];
	int nr_zones;
	unsigned long node_start_pfn, node_spanned_pages;
	unsigned long node_present_pages;
	unsigned int nbp_rl_start;
	unsigned long nbp_rl_nr_cand;
	unsigned int nbp_threshold;
	unsigned int nbp_th_start;
	unsigned long nbp_th_nr_cand;
	unsigned long stat[NR_NODE_STATS];
} pg_data_t;

extern pg_data_t machine_node[MAX_NUMNODES];

#define for_each_present_section_nr(start, nr) \
	for ((nr) = (start); (nr) < BIT(SECTIONS_SHIFT); (nr)++)

#define NODE_DATA(nid)		(&machine_node[nid])
#define pgdat_end_pfn(pgdat) \
	((pgdat)->node_start_pfn + (pgdat)->node_spanned_pages)
#define for_each_online_pgdat(pgdat) \
	for ((pgdat) = machine_node; (pgdat) < machine_node + MAX_NUMNODES; (pgdat)++)
#define populated_zone(zone)	((zone)->present_pages != 0)
#define managed_zone(zone)	populated_zone(zone)
#define high_wmark_pages(zone)	((zone)->high)
#define promo_wmark_pages(zone)	((zone)->promo)
#define zone_page_state(zone, item) ((zone)->free)

static inline bool zone_watermark_ok(struct zone *z, unsigned int order,
				     unsigned long mark, int highest_zoneidx,
				     unsigned int alloc_flags)
{
	return z->free > mark + z->lowmem_reserve[highest_zoneidx] &&
	       order <= z->max_order;
}

static inline void wakeup_kswapd(struct zone *zone, unsigned int gfp_flags,
				 int order, int highest_zoneidx)
{
	zone->kswapd_woken++;
}

#endif
