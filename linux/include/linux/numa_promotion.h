/* SPDX-License-Identifier: GPL-2.0 */
/*
 * NUMA balancing's memory tiering mode: which accessed pages of a lower tier
 * are worth promoting, and how many.
 */
#ifndef _LINUX_NUMA_PROMOTION_H
#define _LINUX_NUMA_PROMOTION_H

#include <linux/types.h>

struct folio;
struct pglist_data;

bool numa_should_promote(struct folio *folio, int nid);

/* The rules that it consists of, for others who promote. */
bool pgdat_free_space_enough(struct pglist_data *pgdat);
bool numa_promotion_unlimited(struct pglist_data *pgdat, long nr);
unsigned int numa_promotion_adjust_threshold(struct pglist_data *pgdat,
					     unsigned long rate_limit,
					     unsigned int ref_th);
unsigned int numa_promotion_threshold(struct pglist_data *pgdat,
				      unsigned int ref_th);
int numa_hint_fault_latency(struct folio *folio);
void numa_promotion_reset(void);

#endif /* _LINUX_NUMA_PROMOTION_H */
