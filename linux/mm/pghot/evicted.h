/* SPDX-License-Identifier: GPL-2.0 */
/* What reclaim takes from a target and does not demote, for what is promoted to it. */
#ifndef _MM_PGHOT_EVICTED_H
#define _MM_PGHOT_EVICTED_H

#include <linux/types.h>

/* What that is worth: 0 would be that nothing is known. */
#define PGHOT_EVICTED_PERCENT	1U

/**
 * struct pghot_evicted - counts of pages, since boot
 * @taken: taken from the target by reclaim
 * @demoted: those of them that were demoted
 * @back: evicted from any node, and read again
 */
struct pghot_evicted {
	unsigned long taken;
	unsigned long demoted;
	unsigned long back;
};

void pghot_evicted_begin(struct pghot_evicted *e, int nid);
bool pghot_evicted_wanted(const struct pghot_evicted *e, int nid, unsigned long promoted,
			  unsigned int least);

#endif /* _MM_PGHOT_EVICTED_H */
