// SPDX-License-Identifier: GPL-2.0
/*
 * Tenants: memory cgroups that share what a target takes. Pages go by their
 * place in memory and by their heat, and not by whose they are. Where a target
 * is short, a memory cgroup with millions of ready pages would so keep another's
 * few waiting until they are stale. So the pass looks for pages of those that
 * had less than their part (seek.c), and here is kept who had what.
 */
#include <linux/jiffies.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>

#include "promoter.h"

/*
 * For so many periods a tenant gets a part while one round is made for all. Where
 * there is room again and again some passes fit into a period.
 */
#define TENANT_STAYS	16U

static u64 tenant_id_of(struct folio *folio)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_folio(folio);
	u64 id = memcg ? mem_cgroup_id(memcg) : 0;

	mem_cgroup_put(memcg);
	return id;
}

/* Where there is no more place it takes that of who was not met for longest. */
static struct pghot_tenant *tenant_of(struct pghot_tenants *t,
				      struct folio *folio)
{
	struct pghot_tenant *oldest = t->tenant;
	u32 now = pghot_now_ms();
	u64 id = tenant_id_of(folio);
	unsigned int i;

	for (i = 0; i < t->nr; i++) {
		struct pghot_tenant *one = &t->tenant[i];

		if (one->id == id) {
			one->seen_ms = now;
			return one;
		}
		if ((s32)(one->seen_ms - oldest->seen_ms) < 0)
			oldest = one;
	}
	if (t->nr < PGHOT_TENANTS)
		oldest = &t->tenant[t->nr++];
	*oldest = (struct pghot_tenant) { .id = id, .seen_ms = now };
	return oldest;
}

/**
 * pghot_tenants_begin - begin a pass
 * @t: a target's tenants
 * @window_ms: who was not met for so long is none any more
 *
 * Who had its part of what the last pass moved by place and heat needs not be
 * looked for.
 */
void pghot_tenants_begin(struct pghot_tenants *t, u32 window_ms)
{
	unsigned long sum = 0;
	u32 now = pghot_now_ms();
	unsigned int i;

	for (i = t->nr; i-- > 0; )
		if (now - t->tenant[i].seen_ms > window_ms)
			t->tenant[i] = t->tenant[--t->nr];
	for (i = 0; i < t->nr; i++)
		sum += t->tenant[i].taken;
	for (i = 0; i < t->nr && sum; i++) {
		struct pghot_tenant *one = &t->tenant[i];

		one->had_part = one->taken * t->nr >= sum;
		one->taken = 0;
	}
	for (i = 0; i < t->nr; i++) {
		struct pghot_tenant *one = &t->tenant[i];

		if (one->sought && now - one->stayed_ms >= PGHOT_PERIOD_MS) {
			one->stays++;
			one->stayed_ms = now;
		}
		one->sought = 0;
	}
	t->sought = 0;
	t->more = false;
}

/**
 * pghot_tenants_anew - begin to look for tenants from the node's first page on
 * @t: a target's tenants
 */
void pghot_tenants_anew(struct pghot_tenants *t)
{
	unsigned int i;

	for (i = 0; i < t->nr; i++)
		t->tenant[i].stays = 0;
}

/**
 * pghot_tenant_due - may a page go before its turn
 * @t: the target's tenants
 * @folio: its folio
 * @budget: pages that the target takes in this pass
 *
 * Those that are looked for get a part of the budget each, and leave one to
 * those that are not. Who had a part in many passes is not waited for any more,
 * as others may come after it.
 *
 * Return: true if it may.
 */
bool pghot_tenant_due(struct pghot_tenants *t, struct folio *folio,
		      unsigned long budget)
{
	struct pghot_tenant *one = tenant_of(t, folio);
	unsigned long part = DIV_ROUND_UP(budget, t->nr);

	if (one->had_part || one->stays >= TENANT_STAYS)
		return false;
	if (one->sought < part && t->sought < budget - min(budget, part))
		return true;
	t->more = true;
	return false;
}

/**
 * pghot_tenant_took - a page was isolated for a target
 * @t: the target's tenants
 * @folio: its folio
 * @sought: it went before its turn
 */
void pghot_tenant_took(struct pghot_tenants *t, struct folio *folio, bool sought)
{
	struct pghot_tenant *one = tenant_of(t, folio);
	unsigned long nr = folio_nr_pages(folio);

	if (sought) {
		one->sought += nr;
		t->sought += nr;
	} else {
		one->taken += nr;
	}
}
