// SPDX-License-Identifier: GPL-2.0
/*
 * What promotion costs, for each memory cgroup: the CPU time of moving its pages,
 * as pghot_usec in memory.stat. No CPU controller knows whose work kmigrated
 * does; this says it. How many pages moved is in pgpromote_success there.
 */
#include <linux/math64.h>
#include <linux/memcontrol.h>
#include <linux/pghot.h>
#include <linux/seq_buf.h>
#include <linux/time64.h>

#include "internal.h"

/**
 * pghot_bill_add - a folio is to be moved with the batch
 * @bill: the batch's
 * @folio: the folio
 *
 * Folios of more memory cgroups than there is room for are moved at nobody's
 * expense.
 */
void pghot_bill_add(struct pghot_bill *bill, struct folio *folio)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_folio(folio);
	unsigned int i;

	bill->pages += folio_nr_pages(folio);
	for (i = 0; i < bill->nr; i++) {
		if (bill->share[i].memcg == memcg) {
			bill->share[i].pages += folio_nr_pages(folio);
			mem_cgroup_put(memcg);
			return;
		}
	}
	if (!memcg || bill->nr == PGHOT_BILL_SHARES) {
		mem_cgroup_put(memcg);
		return;
	}
	bill->share[i].memcg = memcg;
	bill->share[i].pages = folio_nr_pages(folio);
	bill->nr++;
}

/**
 * pghot_bill_settle - a batch was moved: split what that took by pages
 * @bill: the batch's, which is empty afterwards
 * @ns: CPU time it took
 */
void pghot_bill_settle(struct pghot_bill *bill, u64 ns)
{
	unsigned int i;

	for (i = 0; i < bill->nr; i++) {
		u64 part = div64_ul(ns * bill->share[i].pages, bill->pages);

		mod_memcg_state(bill->share[i].memcg, MEMCG_PGHOT_USEC,
				DIV_ROUND_CLOSEST_ULL(part, NSEC_PER_USEC));
		mem_cgroup_put(bill->share[i].memcg);
	}
	bill->nr = 0;
	bill->pages = 0;
}

/**
 * pghot_memcg_show - print what memory.stat says about pghot
 * @s: where to
 * @memcg: whose
 *
 * Prints nothing when pghot was switched off at boot.
 */
void pghot_memcg_show(struct seq_buf *s, struct mem_cgroup *memcg)
{
	if (pghot_booted)
		seq_buf_printf(s, "pghot_usec %lu\n",
			       memcg_page_state_output(memcg, MEMCG_PGHOT_USEC));
}
