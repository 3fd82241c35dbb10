/* SPDX-License-Identifier: GPL-2.0 */
/* What reclaim takes from a target and does not demote, for what is promoted to it. */
#ifndef _MM_PGHOT_EVICTED_H
#define _MM_PGHOT_EVICTED_H

#include <linux/types.h>

/* What that is worth: 0 would be that nothing is known. */
#define PGHOT_EVICTED_PERCENT	1U

/**
 * struct pghot_evicted - counts of pages, since boot
 * @by_gen: of the multi-gen LRU
 * @taken: taken from the target by reclaim, evicted or demoted
 * @demoted: those that were demoted
 * @kswapd: evicted from the target by kswapd
 * @all: evicted, as far as it is known whether they come back
 * @back: those that came back
 */
struct pghot_evicted {
	bool by_gen;
	unsigned long taken;
	unsigned long demoted;
	unsigned long kswapd;
	unsigned long all;
	unsigned long back;
};

void pghot_evicted_begin(struct pghot_evicted *e, int nid);
bool pghot_evicted_wanted(const struct pghot_evicted *e, int nid, unsigned long promoted,
			  unsigned int least);

#endif /* _MM_PGHOT_EVICTED_H */
