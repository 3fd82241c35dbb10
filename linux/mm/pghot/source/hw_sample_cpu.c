// SPDX-License-Identifier: GPL-2.0
/*
 * The counters of all CPUs: what a sample does, and what is done with all of them. Whoever
 * calls has hw_sample.c's lock, under which counters come and go; the CPUs write what
 * they count.
 */
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/pfn.h>
#include <linux/pghot.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include <linux/topology.h>

#include "../internal.h"
#include "hw_sample.h"
#include "sample_pace.h"

/*
 * What a sample costs before and after its handler: to enter the NMI and leave it,
 * and for the driver to read the registers. That cannot be seen from within.
 */
#define HW_SAMPLE_ENTRY_NS	2000U

/**
 * struct hw_sample_cpu - a CPU's counter
 * @event: the counter; NULL: it has none
 * @kind: which counter that is
 * @source: who reports its samples; NULL: it never had one
 * @off: its handler has switched it off until the next look
 * @samples: taken, since boot
 * @memory: those of them that were of accesses to memory
 * @tracked: those of these that were of pages of lower tiers
 * @spent_ns: what all of them cost, until they were reported
 * @bound_ns: what they cost as of the last look, from which on its handler bounds it
 * @round: @memory, @tracked and what they cost as of the end of the last round
 */
struct hw_sample_cpu {
	struct perf_event *event;
	const struct hw_sample_kind *kind;
	const struct pghot_source *source;
	bool off;
	unsigned long samples;
	unsigned long memory;
	unsigned long tracked;
	u64 spent_ns;
	u64 bound_ns;
	struct {
		unsigned long memory;
		unsigned long tracked;
		u64 spent_ns;
	} round;
};

static DEFINE_PER_CPU(struct hw_sample_cpu, hw_sample_cpus);

struct hw_sample_rules hw_sample_rules;

/* What samples of a CPU have cost, with what it took to record them. */
static u64 hw_sample_cpu_spent_ns(int cpu)
{
	const struct hw_sample_cpu *c = per_cpu_ptr(&hw_sample_cpus, cpu);

	if (!c->source)
		return 0;
	return READ_ONCE(c->spent_ns) + pghot_ring_spent_ns(c->source, cpu);
}

static bool hw_sample_cpu_tracked(unsigned long pfn)
{
	bool tracked;

	rcu_read_lock();
	tracked = pghot_map_owner(&pghot_map, pfn);
	rcu_read_unlock();
	return tracked;
}

/**
 * hw_sample_is_use - does it count what a task accesses
 * @task: the task, which is sampled
 *
 * What the kernel copies to bring pages elsewhere, or reads to free them, nobody has used:
 * else who is demoted would be hot by that. What it accesses for a program, or as a
 * server of files, is used.
 *
 * Context: any, NMI included.
 *
 * Return: true if so.
 */
bool hw_sample_is_use(struct task_struct *task)
{
	return !(task->flags & (PF_MEMALLOC | PF_KCOMPACTD)) && !pghot_is_kmigrated(task);
}

static void hw_sample_cpu_report(struct hw_sample_cpu *c, struct pghot_source *source,
				 const struct perf_sample_data *data)
{
	struct pghot_access access = {
		.pfn = PHYS_PFN(data->phys_addr),
		.nid = numa_node_id(),
	};

	if (!hw_sample_from_memory(c->kind, data))
		return;
	WRITE_ONCE(c->memory, c->memory + 1);
	if (!hw_sample_cpu_tracked(access.pfn))
		return;
	WRITE_ONCE(c->tracked, c->tracked + 1);
	access.weight = pghot_sample_weight(READ_ONCE(hw_sample_rules.period),
					    READ_ONCE(pghot_tunables.freq_threshold),
					    node_isset(access.nid, hw_sample_rules.room.plenty));
	pghot_record_nmi(&access, 1, source);
	if (!perf_guest_state())
		hw_sample_near_add(data->addr, access.nid);
}

/* From NMI. */
static void hw_sample_cpu_overflow(struct perf_event *event, struct perf_sample_data *data,
				   struct pt_regs *regs)
{
	struct hw_sample_cpu *c = this_cpu_ptr(&hw_sample_cpus);
	u64 began = local_clock();

	/*
	 * Where the counter never says a physical address, by the page tables, which
	 * know nothing of a guest's addresses.
	 */
	if (hw_sample_is_use(current) &&
	    (data->sample_flags & PERF_SAMPLE_PHYS_ADDR ||
	     !(c->kind->phys_addr || perf_guest_state()))) {
		perf_prepare_sample(data, event, regs);
		hw_sample_cpu_report(c, event->overflow_handler_context, data);
	}
	WRITE_ONCE(c->samples, c->samples + 1);
	WRITE_ONCE(c->spent_ns, c->spent_ns + local_clock() - began + HW_SAMPLE_ENTRY_NS);
	if (hw_sample_cpu_spent_ns(smp_processor_id()) - READ_ONCE(c->bound_ns) <=
	    READ_ONCE(hw_sample_rules.burst_ns) || READ_ONCE(c->off))
		return;
	WRITE_ONCE(c->off, true);
	perf_event_disable_inatomic(event);
}

/* From now on until the next look. */
static void hw_sample_cpu_bound_anew(int cpu)
{
	struct hw_sample_cpu *c = per_cpu_ptr(&hw_sample_cpus, cpu);

	WRITE_ONCE(c->bound_ns, hw_sample_cpu_spent_ns(cpu));
	WRITE_ONCE(c->off, false);
}

/**
 * hw_sample_cpu_open - give a CPU a counter
 * @cpu: the CPU; one that has a counter keeps it
 * @kind: which counter
 * @source: who reports its samples
 * @on: it is to count
 *
 * Context: process context; sleeps.
 *
 * Return: 0 or a negative error.
 */
int hw_sample_cpu_open(int cpu, const struct hw_sample_kind *kind,
		       struct pghot_source *source, bool on)
{
	struct hw_sample_cpu *c = per_cpu_ptr(&hw_sample_cpus, cpu);
	struct perf_event *event;

	if (c->event)
		return 0;
	c->kind = kind;
	c->source = source;
	event = hw_sample_open(kind, cpu, hw_sample_rules.period, hw_sample_cpu_overflow,
			       source);
	if (IS_ERR(event))
		return PTR_ERR(event);
	c->event = event;
	hw_sample_cpu_bound_anew(cpu);
	if (on)
		perf_event_enable(event);
	return 0;
}

/**
 * hw_sample_cpu_close - take a CPU's counter away
 * @cpu: the CPU, which may have none
 *
 * Context: process context; sleeps.
 */
void hw_sample_cpu_close(int cpu)
{
	struct hw_sample_cpu *c = per_cpu_ptr(&hw_sample_cpus, cpu);

	if (c->event)
		perf_event_release_kernel(c->event);
	c->event = NULL;
}

/**
 * hw_sample_switch - switch all counters on or off
 * @on: which
 *
 * One that is on already costs nothing. One that its handler has switched off is, and so is
 * one that was on until that came through.
 */
void hw_sample_switch(bool on)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hw_sample_cpu *c = per_cpu_ptr(&hw_sample_cpus, cpu);

		if (!c->event)
			continue;
		hw_sample_cpu_bound_anew(cpu);
		if (on)
			perf_event_enable(c->event);
		else
			perf_event_disable(c->event);
	}
}

/*
 * Does somebody else want the counter? Whoever of several is refused, ours or others,
 * perf tries again with a timer, as long as any is. That ours is not on its CPU says less:
 * it is taken off where a task comes that has pinned events, and put back at once, and
 * while a guest has the PMU.
 */
static bool hw_sample_cpu_wanted(const struct hw_sample_cpu *c, int cpu)
{
	const struct perf_cpu_pmu_context *cpc =
		*per_cpu_ptr(c->event->pmu->cpu_pmu_context, cpu);

	return READ_ONCE(cpc->hrtimer_active);
}

/**
 * hw_sample_is_shared - does somebody else want a counter
 *
 * Return: true if so, on any CPU.
 */
bool hw_sample_is_shared(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hw_sample_cpu *c = per_cpu_ptr(&hw_sample_cpus, cpu);

		if (c->event && !READ_ONCE(c->off) && hw_sample_cpu_wanted(c, cpu))
			return true;
	}
	return false;
}

/**
 * hw_sample_set_period - sample more or less often
 * @period: of what the counters count
 */
void hw_sample_set_period(u32 period)
{
	int cpu;

	/* The counters leave out the lowest bits. */
	WRITE_ONCE(hw_sample_rules.period, period & ~0xfU);
	for_each_possible_cpu(cpu) {
		struct hw_sample_cpu *c = per_cpu_ptr(&hw_sample_cpus, cpu);

		if (c->event)
			perf_event_period(c->event, hw_sample_rules.period);
	}
}

/**
 * hw_sample_sum_up - what there was since the last round ended
 * @r: set to that, but for time and who waits
 */
void hw_sample_sum_up(struct pghot_sample_round *r)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hw_sample_cpu *c = per_cpu_ptr(&hw_sample_cpus, cpu);

		r->samples += READ_ONCE(c->memory) - c->round.memory;
		r->tracked += READ_ONCE(c->tracked) - c->round.tracked;
		r->spent_ns = max(r->spent_ns,
				  hw_sample_cpu_spent_ns(cpu) - c->round.spent_ns);
	}
}

/**
 * hw_sample_forget - the next round begins
 */
void hw_sample_forget(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hw_sample_cpu *c = per_cpu_ptr(&hw_sample_cpus, cpu);

		c->round.memory = READ_ONCE(c->memory);
		c->round.tracked = READ_ONCE(c->tracked);
		c->round.spent_ns = hw_sample_cpu_spent_ns(cpu);
	}
}

/**
 * hw_sample_totals - samples since boot, and what they cost
 * @spent_ns: set to the latter
 *
 * Return: the former.
 */
unsigned long hw_sample_totals(u64 *spent_ns)
{
	unsigned long samples = 0;
	int cpu;

	*spent_ns = 0;
	for_each_possible_cpu(cpu) {
		const struct hw_sample_cpu *c = per_cpu_ptr(&hw_sample_cpus, cpu);

		samples += READ_ONCE(c->samples);
		*spent_ns += hw_sample_cpu_spent_ns(cpu);
	}
	return samples;
}
