// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of the hardware as a source: a counter of each CPU, by perf, that says now and
 * then which physical address an instruction accessed. It sees what misses all caches,
 * of kernel and programs, and knows who accesses it; programs are not slowed down by
 * faults. Each sample is an interrupt.
 *
 * All CPUs have one or none. What it costs is looked at 40 times in a window, and
 * the period set by it: see sample_pace.c. Between two looks a CPU that spends far too
 * much is switched off by its own handler.
 *
 * The counter is perf's, and there is one on each CPU: whoever else asks for it is
 * given way to. Ours are switched off for a while, each time for longer.
 *
 * Locks nest switch_lock -> CPU hotplug -> hw_sample_lock; the work takes the last one
 * alone.
 */
#include <linux/cleanup.h>
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/math64.h>
#include <linux/mmzone.h>
#include <linux/mutex.h>
#include <linux/nodemask.h>
#include <linux/numa_promotion.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/pfn.h>
#include <linux/pghot.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/sched/isolation.h>
#include <linux/sysfs.h>
#include <linux/time64.h>
#include <linux/topology.h>
#include <linux/workqueue.h>

#include "../internal.h"
#include "../knob.h"
#include "hw_sample.h"
#include "sample_pace.h"

/* So many looks in a window. */
#define HW_SAMPLE_LOOKS		40U
/* For so many it gives way at first, and at most. */
#define HW_SAMPLE_AWAY		10U
#define HW_SAMPLE_AWAY_MAX	320U
/* It was alone for so many: the next time it gives way is the first again. */
#define HW_SAMPLE_ALONE		10U
/* At first. Far too long for most, which is mended in some looks. */
#define HW_SAMPLE_PERIOD	65536U

/*
 * What a sample costs before and after its handler: to enter the NMI and leave it,
 * and for the driver to read the registers. That cannot be seen from within.
 */
#define HW_SAMPLE_ENTRY_NS	2000U

/**
 * struct hw_sample_cpu - a CPU's counter
 * @event: the counter; NULL: it is offline
 * @off: its handler has switched it off until the next look
 * @samples: taken, since boot
 * @memory: those of them that were of accesses to memory
 * @tracked: those of these that were of pages of lower tiers
 * @spent_ns: what all of them cost
 * @looked: @memory, @tracked and @spent_ns as of the last look
 *
 * @event changes under hw_sample_lock. The CPU writes what it counts.
 */
struct hw_sample_cpu {
	struct perf_event *event;
	bool off;
	unsigned long samples;
	unsigned long memory;
	unsigned long tracked;
	u64 spent_ns;
	struct {
		unsigned long memory;
		unsigned long tracked;
		u64 spent_ns;
	} looked;
};

static DEFINE_PER_CPU(struct hw_sample_cpu, hw_sample_cpus);

static u32 hw_sample_permille = PGHOT_SAMPLE_PERMILLE;
/* Nodes of the top tier with plenty of free memory at the last look. */
static nodemask_t hw_sample_plenty;
/* What a CPU may spend between two looks. */
static u64 hw_sample_burst_ns;

/* Protects what follows. */
static DEFINE_MUTEX(hw_sample_lock);
static const struct hw_sample_kind *hw_sample_kind;
static struct pghot_sample_pace hw_sample_pace;
static enum cpuhp_state hw_sample_state;
/* All CPUs that are online have a counter: one that comes later may fail to have it. */
static bool hw_sample_complete;
static bool hw_sample_starting;
/* Given way to others for so many looks; 0: it is not. */
static u32 hw_sample_away;
/* For how many it does the next time. */
static u32 hw_sample_next_away;
static u32 hw_sample_alone;
static u64 hw_sample_looked_ns;

static void hw_sample_look(struct work_struct *work);
static DECLARE_DELAYED_WORK(hw_sample_work, hw_sample_look);

static struct pghot_source hw_sample;

/* --- a sample ----------------------------------------------------------------- */

static bool hw_sample_tracked(unsigned long pfn)
{
	bool tracked;

	rcu_read_lock();
	tracked = pghot_map_owner(&pghot_map, pfn);
	rcu_read_unlock();
	return tracked;
}

static void hw_sample_report(struct hw_sample_cpu *c,
			     const struct perf_sample_data *data)
{
	struct pghot_access access = {
		.pfn = PHYS_PFN(data->phys_addr),
		.nid = numa_node_id(),
	};

	if (!hw_sample_from_memory(data))
		return;
	WRITE_ONCE(c->memory, c->memory + 1);
	if (!hw_sample_tracked(access.pfn))
		return;
	WRITE_ONCE(c->tracked, c->tracked + 1);
	access.weight = pghot_sample_weight(READ_ONCE(hw_sample_pace.period),
					    READ_ONCE(pghot_tunables.freq_threshold),
					    node_isset(access.nid, hw_sample_plenty));
	pghot_record_nmi(&access, 1, &hw_sample);
}

/* From NMI. */
static void hw_sample_overflow(struct perf_event *event, struct perf_sample_data *data,
			       struct pt_regs *regs)
{
	struct hw_sample_cpu *c = this_cpu_ptr(&hw_sample_cpus);
	u64 began = local_clock();

	/*
	 * Where the counter says no physical address, by the page tables, which know
	 * nothing of a guest's addresses.
	 */
	if (data->sample_flags & PERF_SAMPLE_PHYS_ADDR || !perf_guest_state()) {
		perf_prepare_sample(data, event, regs);
		hw_sample_report(c, data);
	}
	WRITE_ONCE(c->samples, c->samples + 1);
	WRITE_ONCE(c->spent_ns, c->spent_ns + local_clock() - began + HW_SAMPLE_ENTRY_NS);
	if (c->spent_ns - READ_ONCE(c->looked.spent_ns) <= READ_ONCE(hw_sample_burst_ns) ||
	    READ_ONCE(c->off))
		return;
	WRITE_ONCE(c->off, true);
	perf_event_disable_inatomic(event);
}

/* --- counters come and go ----------------------------------------------------- */

static int hw_sample_online(unsigned int cpu)
{
	struct hw_sample_cpu *c = per_cpu_ptr(&hw_sample_cpus, cpu);
	struct perf_event *event;

	/* Who has a CPU to himself is not to be interrupted. */
	if (cpu_is_isolated(cpu))
		return 0;
	guard(mutex)(&hw_sample_lock);
	if (!hw_sample_complete && !hw_sample_starting)
		return 0;
	event = hw_sample_open(hw_sample_kind, cpu, hw_sample_pace.period,
			       hw_sample_overflow);
	if (IS_ERR(event)) {
		/* A CPU is not kept offline for this: then none has one, see the work. */
		if (hw_sample_starting)
			return PTR_ERR(event);
		hw_sample_complete = false;
		return 0;
	}
	c->event = event;
	WRITE_ONCE(c->off, false);
	if (!hw_sample_away)
		perf_event_enable(event);
	return 0;
}

static int hw_sample_offline(unsigned int cpu)
{
	struct hw_sample_cpu *c = per_cpu_ptr(&hw_sample_cpus, cpu);

	guard(mutex)(&hw_sample_lock);
	if (c->event)
		perf_event_release_kernel(c->event);
	c->event = NULL;
	return 0;
}

static void hw_sample_forget(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hw_sample_cpu *c = per_cpu_ptr(&hw_sample_cpus, cpu);

		c->looked.memory = READ_ONCE(c->memory);
		c->looked.tracked = READ_ONCE(c->tracked);
		WRITE_ONCE(c->looked.spent_ns, READ_ONCE(c->spent_ns));
	}
	hw_sample_looked_ns = local_clock();
}

static void hw_sample_look_for_room(void)
{
	int nid;

	for_each_node_state(nid, N_MEMORY) {
		if (pghot_target_active(nid) && pgdat_free_space_enough(NODE_DATA(nid)))
			node_set(nid, hw_sample_plenty);
		else
			node_clear(nid, hw_sample_plenty);
	}
}

/* From one look to the next. */
static u32 hw_sample_look_ms(void)
{
	return max(READ_ONCE(pghot_tunables.window_ms) / HW_SAMPLE_LOOKS, 1U);
}

static void hw_sample_look_later(void)
{
	queue_delayed_work(system_dfl_wq, &hw_sample_work,
			   msecs_to_jiffies(hw_sample_look_ms()));
}

static void hw_sample_bound(void)
{
	u64 allowed = pghot_sample_allowed_ns(&hw_sample_pace,
					      hw_sample_look_ms() * (u64)NSEC_PER_MSEC,
					      READ_ONCE(hw_sample_permille));

	WRITE_ONCE(hw_sample_burst_ns, allowed * PGHOT_SAMPLE_BURST);
}

static int hw_sample_start(struct pghot_source *source)
{
	const struct hw_sample_kind *kind = hw_sample_find();
	int state;

	if (!kind)
		return -EOPNOTSUPP;
	scoped_guard(mutex, &hw_sample_lock) {
		hw_sample_kind = kind;
		hw_sample_pace = (struct pghot_sample_pace) {
			.period = clamp(HW_SAMPLE_PERIOD, kind->min, kind->max),
			.min = kind->min,
			.max = kind->max,
		};
		hw_sample_starting = true;
		hw_sample_away = 0;
		hw_sample_next_away = HW_SAMPLE_AWAY;
		hw_sample_alone = 0;
		hw_sample_forget();
		hw_sample_bound();
		hw_sample_look_for_room();
	}
	/* If one fails those that have been made are taken away again. */
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "mm/pghot:hw_sample",
				  hw_sample_online, hw_sample_offline);
	scoped_guard(mutex, &hw_sample_lock) {
		hw_sample_starting = false;
		hw_sample_complete = state >= 0;
		if (state < 0)
			hw_sample_kind = NULL;
	}
	if (state < 0)
		return state;
	hw_sample_state = state;
	hw_sample_look_later();
	return 0;
}

static void hw_sample_stop(struct pghot_source *source)
{
	cancel_delayed_work_sync(&hw_sample_work);
	cpuhp_remove_state(hw_sample_state);
	scoped_guard(mutex, &hw_sample_lock) {
		hw_sample_kind = NULL;
		hw_sample_complete = false;
	}
}

/* --- looks -------------------------------------------------------------------- */

static void hw_sample_switch(bool on)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hw_sample_cpu *c = per_cpu_ptr(&hw_sample_cpus, cpu);

		if (!c->event)
			continue;
		WRITE_ONCE(c->off, false);
		if (on)
			perf_event_enable(c->event);
		else
			perf_event_disable(c->event);
	}
}

/*
 * Does somebody else want the counter? Others of the CPU have it in turns with ours,
 * which is not on the CPU then. Those of a task come after ours and are refused: what
 * perf does is to try again with a timer.
 */
static bool hw_sample_wanted(const struct hw_sample_cpu *c, int cpu)
{
	const struct perf_cpu_pmu_context *cpc =
		*per_cpu_ptr(c->event->pmu->cpu_pmu_context, cpu);

	return READ_ONCE(c->event->state) == PERF_EVENT_STATE_INACTIVE ||
	       READ_ONCE(cpc->hrtimer_active);
}

static bool hw_sample_is_shared(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hw_sample_cpu *c = per_cpu_ptr(&hw_sample_cpus, cpu);

		if (c->event && !READ_ONCE(c->off) && hw_sample_wanted(c, cpu))
			return true;
	}
	return false;
}

static void hw_sample_give_way(void)
{
	hw_sample_switch(false);
	hw_sample_away = hw_sample_next_away;
	hw_sample_next_away = min(2 * hw_sample_next_away, HW_SAMPLE_AWAY_MAX);
	hw_sample_alone = 0;
}

/* What there was since the last look; those that were switched off go on. */
static struct pghot_sample_round hw_sample_sum_up(u64 now)
{
	struct pghot_sample_round r = { .elapsed_ns = now - hw_sample_looked_ns };
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hw_sample_cpu *c = per_cpu_ptr(&hw_sample_cpus, cpu);

		r.samples += READ_ONCE(c->memory) - c->looked.memory;
		r.tracked += READ_ONCE(c->tracked) - c->looked.tracked;
		r.spent_ns = max(r.spent_ns, READ_ONCE(c->spent_ns) - c->looked.spent_ns);
	}
	r.held = pghot_all_waiting();
	return r;
}

static void hw_sample_set_period(u32 period)
{
	int cpu;

	/* The counters leave out the lowest bits. */
	WRITE_ONCE(hw_sample_pace.period, period & ~0xfU);
	for_each_possible_cpu(cpu) {
		struct hw_sample_cpu *c = per_cpu_ptr(&hw_sample_cpus, cpu);

		if (c->event)
			perf_event_period(c->event, hw_sample_pace.period);
	}
}

/* A change that is small is not worth interrupting all CPUs. */
static bool hw_sample_differs(u32 a, u32 b)
{
	return a > b + b / 8 || b > a + a / 8;
}

static void hw_sample_resume_cpus(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hw_sample_cpu *c = per_cpu_ptr(&hw_sample_cpus, cpu);

		if (!c->event)
			continue;
		/* One that was on until its handler's wish came through is off by now. */
		if (!READ_ONCE(c->off) &&
		    READ_ONCE(c->event->state) != PERF_EVENT_STATE_OFF)
			continue;
		WRITE_ONCE(c->off, false);
		perf_event_enable(c->event);
	}
}

static void hw_sample_follow(u64 now)
{
	u32 was = hw_sample_pace.period, permille = READ_ONCE(hw_sample_permille);
	struct pghot_sample_pace pace = hw_sample_pace;
	struct pghot_sample_round r = hw_sample_sum_up(now);

	pghot_sample_follow(&pace, &r, permille);
	hw_sample_pace.level = pace.level;
	if (hw_sample_differs(pace.period, was))
		hw_sample_set_period(pace.period);
	hw_sample_bound();
	hw_sample_look_for_room();
	hw_sample_forget();
	hw_sample_resume_cpus();
}

static void hw_sample_look(struct work_struct *work)
{
	guard(mutex)(&hw_sample_lock);
	if (!hw_sample_complete) {
		hw_sample_switch(false);
		return;
	}
	if (hw_sample_away) {
		if (!--hw_sample_away) {
			hw_sample_forget();
			hw_sample_switch(true);
		}
	} else if (hw_sample_is_shared()) {
		hw_sample_give_way();
	} else {
		hw_sample_follow(local_clock());
		if (++hw_sample_alone == HW_SAMPLE_ALONE)
			hw_sample_next_away = HW_SAMPLE_AWAY;
	}
	hw_sample_look_later();
}

/* --- sources/hw_sample/ ------------------------------------------------------- */

static ssize_t event_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	guard(mutex)(&hw_sample_lock);
	return sysfs_emit(buf, "%s\n", hw_sample_kind ? hw_sample_kind->name : "none");
}

static struct kobj_attribute event_attr = __ATTR_RO(event);

static ssize_t period_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	guard(mutex)(&hw_sample_lock);
	return sysfs_emit(buf, "%u\n", hw_sample_kind ? hw_sample_pace.period : 0);
}

/* How much memory all use is not for everybody to know. */
static struct kobj_attribute period_attr = __ATTR_RO_MODE(period, 0400);

static ssize_t away_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	guard(mutex)(&hw_sample_lock);
	return sysfs_emit(buf, "%d\n", hw_sample_kind && (hw_sample_away ||
							  !hw_sample_complete));
}

static struct kobj_attribute away_attr = __ATTR_RO(away);

static ssize_t samples_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(hw_sample_cpus, cpu).samples);
	return sysfs_emit(buf, "%lu\n", sum);
}

static struct kobj_attribute samples_attr = __ATTR_RO_MODE(samples, 0400);

static ssize_t cpu_usec_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(hw_sample_cpus, cpu).spent_ns);
	return sysfs_emit(buf, "%llu\n", div_u64(sum, NSEC_PER_USEC));
}

static struct kobj_attribute cpu_usec_attr = __ATTR_RO_MODE(cpu_usec, 0400);

DEFINE_KNOB(cpu_permille, &hw_sample_permille, PGHOT_SAMPLE_PERMILLE_MIN,
	    PGHOT_SAMPLE_PERMILLE_MAX);

static struct attribute *hw_sample_attrs[] = {
	&cpu_permille_knob.attr.attr,
	&event_attr.attr,
	&period_attr.attr,
	&away_attr.attr,
	&samples_attr.attr,
	&cpu_usec_attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(hw_sample);

static struct pghot_source hw_sample = {
	.name = "hw_sample",
	.evidence = PGHOT_ACCESSES,
	.alone = true,
	.nmi = true,
	.files = hw_sample_groups,
	.start = hw_sample_start,
	.stop = hw_sample_stop,
};

/* After pghot_init(), and after the drivers of the counters. */
static int __init hw_sample_init(void)
{
	return pghot_booted ? pghot_register_source(&hw_sample) : 0;
}
late_initcall_sync(hw_sample_init);
