// SPDX-License-Identifier: GPL-2.0
/*
 * Looking for those whom others keep waiting. Before a pass goes on where it was
 * refused, it looks some way ahead for pages of memory cgroups that had less
 * than their part of what a target takes, and lets them go first.
 *
 * It looks at a few pages of each block that has ready records, other ones each
 * time, and at all where it finds somebody. So much per pass is what it costs:
 * SEEK_BLOCKS blocks and SEEK_LOOKS folios, some 0.3 ms; and only where a target
 * was short, and once round the node in a quarter of a window.
 */
#include <linux/memcontrol.h>
#include <linux/mm.h>

#include "pass.h"

#define SEEK_BLOCKS	256U
#define SEEK_LOOKS	2048U
/* Of each block, as long as nobody is found. */
#define SEEK_SAMPLES	8U

/* Is there a target that takes something, and refused some before? */
static bool seek_any_short(struct pghot_pass *p)
{
	unsigned int nid;

	for (nid = 0; nid < nr_node_ids; nid++)
		if (p->place[nid].open && p->place[nid].from &&
		    p->promoter->dest[nid].share.pages)
			return true;
	return false;
}

/* Is there somebody who is to be found here again, by the next pass? */
static bool seek_any_more(struct pghot_pass *p)
{
	unsigned int nid;

	for (nid = 0; nid < nr_node_ids; nid++)
		if (p->promoter->dest[nid].tenants.more)
			return true;
	return false;
}

static bool seek_begin(struct pghot_pass *p)
{
	u32 now = pghot_now_ms();
	unsigned int nid;

	if (now - p->seek_ms < READ_ONCE(pghot_tunables.window_ms) / 4)
		return false;
	p->seek_ms = now;
	for (nid = 0; nid < nr_node_ids; nid++)
		pghot_tenants_anew(&p->promoter->dest[nid].tenants);
	return true;
}

/* Return how many looks it took. */
static unsigned int seek_block(struct pghot_pass *p, unsigned long pfn)
{
	unsigned int i, n, step, first, found, looks = 0;
	bool more;

	/* Whose turn it is, is no matter of how hot the pages of others are. */
	n = pghot_map_collect(&pghot_map, pfn, 0, pghot_now_ms(),
			      &pghot_tunables, p->entries, &more);
	step = p->seek_on ? 1 : max(n / SEEK_SAMPLES, 1U);
	first = p->seeks++ % step;
	for (found = first; found < n; found += step) {
		looks++;
		if (pghot_ready_consider(p, &p->entries[found]) ==
		    PGHOT_PROMOTED && step > 1)
			break;
	}
	if (found >= n)
		return looks;
	/*
	 * Then all others. Those that were looked at have no record any more, or are
	 * on their way.
	 */
	for (i = 0; i < n; i++) {
		if (i <= found && i % step == first)
			continue;
		looks++;
		pghot_ready_consider(p, &p->entries[i]);
	}
	return looks;
}

/**
 * pghot_seek - let those go first whom others keep waiting
 * @p: the pass, with its targets opened
 */
void pghot_seek(struct pghot_pass *p)
{
	struct pghot_cursor c = {
		.section = pfn_to_section_nr(p->seek),
		.block = p->seek % PAGES_PER_SECTION >> PGHOT_BLOCK_ORDER,
	};
	unsigned int blocks, looks = 0;
	unsigned long pfn;

	if (mem_cgroup_disabled() || !seek_any_short(p))
		return;
	if (!p->seek && !seek_begin(p))
		return;
	p->promoter->seeking = true;
	for (blocks = 0; blocks < SEEK_BLOCKS && looks < SEEK_LOOKS; blocks++) {
		if (p->promoter->all_closed || seek_any_more(p))
			break;
		if (!pghot_map_peek_block(&pghot_map, &p->node->map, &c, &pfn)) {
			p->seek = 0;
			break;
		}
		looks += seek_block(p, pfn);
		p->seek_on = seek_any_more(p);
		p->seek = p->seek_on ? pfn : pfn + PGHOT_BLOCK_PAGES;
		cond_resched();
	}
	p->promoter->seeking = false;
	pghot_ready_settle(p);
}
