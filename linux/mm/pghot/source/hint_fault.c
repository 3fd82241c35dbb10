// SPDX-License-Identifier: GPL-2.0
/*
 * NUMA hint faults as a source. NUMA balancing's scanner unmaps pages and
 * notes the time; the sooner the fault comes, the hotter the page. What the
 * stock kernel would migrate within the fault is ready at once here, and
 * kmigrated starts to move it while the task goes on.
 */
#include <linux/cpuset.h>
#include <linux/init.h>
#include <linux/mempolicy.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/numa_promotion.h>
#include <linux/pghot.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/sysctl.h>
#include <linux/string.h>
#include <linux/vmstat.h>

#include "../internal.h"
#include "../knob.h"
#include "../fault_yield.h"

DEFINE_STATIC_KEY_FALSE(pghot_hint_fault_key);

DEFINE_KNOB(hot_threshold_ms, &sysctl_numa_balancing_hot_threshold,
	    PGHOT_HOT_MS_MIN, PGHOT_HOT_MS_MAX);

static struct attribute *hint_fault_attrs[] = {
	&hot_threshold_ms_knob.attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(hint_fault);

static int hint_fault_start(struct pghot_source *source)
{
	memset(&pghot_fault_yield, 0, sizeof(pghot_fault_yield));
	static_branch_enable(&pghot_hint_fault_key);
	pghot_ask_enable(true);
	return 0;
}

static void hint_fault_stop(struct pghot_source *source)
{
	pghot_ask_enable(false);
	static_branch_disable(&pghot_hint_fault_key);
}

static struct pghot_source hint_fault = {
	.name = "hint_fault",
	.evidence = PGHOT_ACCESSES,
	.on = true,
	.files = hint_fault_groups,
	.start = hint_fault_start,
	.stop = hint_fault_stop,
};

/*
 * How many accesses the fault stands for by the rule of @nid. Where not all may come
 * there, @unlimited, it counts promotion candidates, but leaves those to the caller
 * that are candidates only if the page was accessed before: @slow.
 */
static u32 hint_fault_weight(struct folio *folio, int nid, u32 latency, u32 ref,
			     bool unlimited, bool *slow)
{
	u32 freq = READ_ONCE(pghot_tunables.freq_threshold);
	pg_data_t *pgdat = NODE_DATA(nid);
	u32 threshold, weight;

	if (unlimited)
		return pghot_fault_weight(latency, ref, ref, freq, true);

	threshold = numa_promotion_adjust_threshold(pgdat,
						    pghot_rate_bytes() >> PAGE_SHIFT,
						    ref);
	if (READ_ONCE(pghot_backoff))
		threshold = pghot_speed_threshold(&pghot_target(nid)->speed, threshold,
						  jiffies_to_msecs(1) + 1);
	weight = pghot_fault_weight(latency, threshold, ref, freq, false);
	*slow = weight < freq;
	if (!*slow)
		mod_node_page_state(pgdat, PGPROMOTE_CANDIDATE,
				    folio_nr_pages(folio));
	return weight;
}

/**
 * __pghot_decides - is it pghot that decides whether a folio is hot
 * @folio: a folio of a lower tier
 *
 * Return: true if the folio is tracked.
 */
bool __pghot_decides(struct folio *folio)
{
	return pghot_map_owner(&pghot_map, folio_pfn(folio));
}

/* What a fault says is counted, for those on pages near it. */
static void hint_fault_told(const struct folio *folio, enum pghot_fault_says says,
			    u32 ref)
{
	if (!folio_test_large(folio))
		pghot_yield_fault(&pghot_fault_yield, folio_pfn(folio), says,
				  pghot_fault_slot(local_clock(), ref));
}

/* Whose memory policy a page goes by. */
enum page_policy {
	POLICY_OF_TASK,		/* the accessing one's, for the page has none */
	POLICY_OF_PAGE,
	POLICY_PLACES,		/* either, and it names a place for the page */
};

/*
 * Which policy it is, and the nodes that the accessing task allows the page. A
 * policy that names the place for the page, rather than the accessing node, holds
 * whether the page is hot or not. One that asks for migration to the accessing node
 * and names nodes means those.
 */
static enum page_policy hint_fault_policy(struct vm_fault *vmf, nodemask_t *allowed)
{
	enum page_policy whose = POLICY_OF_PAGE;
	struct mempolicy *pol;
	pgoff_t unused;

	pol = __get_vma_policy(vmf->vma, vmf->address, &unused);
	if (!pol) {
		pol = get_task_policy(current);
		whose = POLICY_OF_TASK;
	}
	if (!(pol->flags & MPOL_F_MORON))
		whose = POLICY_PLACES;
	*allowed = cpuset_current_mems_allowed;
	if (pol->mode == MPOL_BIND || pol->mode == MPOL_PREFERRED_MANY)
		nodes_and(*allowed, *allowed, pol->nodes);
	mpol_cond_put(pol);
	return whose;
}

/* Is it the accessing thread that others ask for the process? */
static bool hint_fault_speaks_for_process(const struct mm_struct *mm)
{
	return rcu_access_pointer(mm->owner) == current;
}

/*
 * Does the accessing thread allow less than others will say when the page's turn
 * comes? owners.c asks for the page's own policy, or a process's first thread.
 * What another thread has chosen for itself alone is known here and nowhere later:
 * its cpuset, and its policy if that counts. One that allows all nodes adds nothing
 * to what the others will say.
 */
static bool hint_fault_speaks_for_itself(struct folio *folio, struct mm_struct *mm,
					 const nodemask_t *allowed, bool own)
{
	nodemask_t later = node_states[N_MEMORY];

	if (own)
		allowed = &cpuset_current_mems_allowed;
	if (likely(nodes_subset(later, *allowed)) || hint_fault_speaks_for_process(mm))
		return false;
	pghot_process_allows(mm, own, folio_nid(folio), &later);
	return !nodes_subset(later, *allowed);
}

/*
 * Is the fault to promote the folio by itself: by stock's rule, which counts those
 * that faults find, and by the limit that holds for all that is promoted. Without
 * room the folio stays, but stock then has room made. Whatever else may keep it is
 * rare, and costs no more than its tokens.
 */
static bool hint_fault_promotes(struct folio *folio, int nid)
{
	unsigned long nr = folio_nr_pages(folio), paid;
	u32 wait_ms;

	if (!numa_should_promote(folio, nid))
		return false;
	if (!pghot_has_room(nid, nr))
		return true;
	if (!pghot_take_tokens(nid, folio_nid(folio), nr, &paid, &wait_ms))
		return false;
	if (paid)
		atomic_long_add(paid, &pghot_target(nid)->in_fault);
	return true;
}

/**
 * __pghot_hint_fault - a hint fault on a folio of a lower tier
 * @folio: the folio
 * @vmf: the fault
 * @nid: node that memory policy wants it on
 * @fault_nid: see pghot_hint_fault()
 *
 * A fault that migrates is booked on the node the folio came to. By that the
 * scheduler knows where the task's memory is, and how much is left to be found:
 * it stretches the task's scan period. Here the folio goes a moment later, and
 * one fault is why: the one that made its record ready. Others are booked where
 * the folio is, a lower tier, and so do not count. Nor does that one if no target
 * takes the folio just now, as a fault that fails to migrate does not.
 *
 * Context: page table lock held; does not sleep.
 *
 * Return: node to migrate the folio to within the fault, or NUMA_NO_NODE.
 */
int __pghot_hint_fault(struct folio *folio, struct vm_fault *vmf, int nid,
		       int *fault_nid)
{
	u32 ref = READ_ONCE(sysctl_numa_balancing_hot_threshold);
	struct pghot_access access = { .nid = nid };
	bool own_policy, unlimited, ready, slow = false;
	struct mm_struct *mm = vmf->vma->vm_mm;
	enum pghot_fault_says says;
	enum page_policy whose;
	nodemask_t allowed;
	int target = nid;
	u32 latency;

	whose = hint_fault_policy(vmf, &allowed);
	if (whose == POLICY_PLACES)
		return nid;
	own_policy = whose == POLICY_OF_PAGE;

	/* Most likely a shared library: it has no one right place. */
	if (folio_is_file_lru(folio) && (vmf->vma->vm_flags & VM_EXEC) &&
	    folio_maybe_mapped_shared(folio)) {
		pghot_stat_add(PGHOT_STAT_refused_exec, 1);
		return NUMA_NO_NODE;
	}

	/*
	 * Nobody can ask later, so the fault itself promotes, but only to where the
	 * others whom it can ask allow the folio to be.
	 */
	if (unlikely(hint_fault_speaks_for_itself(folio, mm, &allowed, own_policy))) {
		if (pghot_fault_allowed(folio, mm, own_policy, nid))
			return hint_fault_promotes(folio, nid) ? nid : NUMA_NO_NODE;
		pghot_stat_add(PGHOT_STAT_refused_policy, 1);
		return NUMA_NO_NODE;
	}

	/*
	 * By whose rule it is hot: that of the accessing node, if it could go
	 * there, or else of the nearest one. Whether there is room is asked when
	 * its turn comes: that another node has plenty makes no page hot.
	 */
	if (!pghot_may_promote_to(nid) || !node_isset(nid, allowed))
		target = pghot_next_target(nid, folio_nid(folio), &allowed,
					   NUMA_NO_NODE);
	if (target == NUMA_NO_NODE) {
		pghot_stat_add(PGHOT_STAT_refused_policy, 1);
		return NUMA_NO_NODE;
	}
	if (!pghot_target(target))
		return NUMA_NO_NODE;
	unlimited = numa_promotion_unlimited(NODE_DATA(target),
					     folio_nr_pages(folio));
	if (unlimited && pghot_fault_moves(folio, mm, own_policy, nid, target)) {
		hint_fault_told(folio, PGHOT_FAULT_OFTEN, ref);
		pghot_stat_add(PGHOT_STAT_in_fault, 1);
		return nid;
	}

	latency = numa_hint_fault_latency(folio);
	access.weight = hint_fault_weight(folio, target, latency, ref, unlimited,
					  &slow);
	says = unlimited ? PGHOT_FAULT_OFTEN : pghot_fault_says(latency, ref);
	if (!access.weight) {
		hint_fault_told(folio, says, ref);
		return NUMA_NO_NODE;
	}
	/* Others who have it mapped may have come by without a fault. */
	access.anew = !folio_maybe_mapped_shared(folio) &&
		      pghot_fault_anew(latency,
				       READ_ONCE(pghot_tunables.window_ms));
	ready = pghot_record_folio(folio, &access, &hint_fault) == PGHOT_BECAME_READY;
	hint_fault_told(folio, slow && ready ? PGHOT_FAULT_OFTEN : says, ref);
	if (!ready) {
		/* Its next access may make it so: who looks there sees that sooner. */
		if (slow)
			pghot_near_fault(mm, vmf->address, nid);
		return NUMA_NO_NODE;
	}
	if (!pghot_is_waiting(folio_nid(folio), nid))
		*fault_nid = target;
	if (slow)
		mod_node_page_state(NODE_DATA(target), PGPROMOTE_CANDIDATE,
				    folio_nr_pages(folio));
	return NUMA_NO_NODE;
}

/* After pghot_init(). */
static int __init hint_fault_init(void)
{
	if (!pghot_booted)
		return 0;
	hot_threshold_ms_knob.changed = numa_promotion_reset;
	hot_threshold_ms_knob.resets = true;
	return pghot_register_source(&hint_fault);
}
late_initcall_sync(hint_fault_init);
