// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of the hardware as a source: a counter of each CPU, by perf, that says now and
 * then which physical address an instruction accessed. It sees what misses all caches,
 * of kernel and programs, and knows who accesses it; programs are not slowed down by
 * faults. Each sample is an interrupt.
 *
 * All CPUs have one or none, but for those that are isolated. What it costs is looked at 40
 * times in a window, and the period set by it, once that says something: see
 * sample_pace.c. Between two looks a CPU that spends far too much is switched off by its
 * own handler.
 *
 * The counter is perf's, and there is one on each CPU: whoever else asks for it is
 * given way to. Ours are switched off for a while, each time for longer.
 *
 * Locks nest switch_lock -> CPU hotplug -> hw_sample_lock; the work takes the last two.
 */
#include <linux/cleanup.h>
#include <linux/cpuhotplug.h>
#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/pghot.h>
#include <linux/sysfs.h>
#include <linux/time64.h>
#include <linux/workqueue.h>

#include "../internal.h"
#include "../knob.h"
#include "hw_sample.h"
#include "isolated.h"
#include "page_table.h"
#include "sample_pace.h"

/* So many looks in a window. */
#define HW_SAMPLE_LOOKS		40U
/* For so many it gives way at first, and at most. */
#define HW_SAMPLE_AWAY		10U
#define HW_SAMPLE_AWAY_MAX	320U
/* It was alone for so many: the next time it gives way is the first again. */
#define HW_SAMPLE_ALONE		10U
/* At first, about what most come to. Too short is bounded by the handler. */
#define HW_SAMPLE_PERIOD	4096U

static u32 hw_sample_permille = PGHOT_SAMPLE_PERMILLE;

/* Protects what follows. */
static DEFINE_MUTEX(hw_sample_lock);
static const struct hw_sample_kind *hw_sample_kind;
static struct pghot_sample_pace hw_sample_pace;
static enum cpuhp_state hw_sample_state;
/* All that are to have a counter do: a CPU that comes later may fail to have it. */
static bool hw_sample_complete;
static bool hw_sample_starting;
/* Given way to others for so many looks; 0: it is not. */
static u32 hw_sample_away;
/* For how many it does the next time. */
static u32 hw_sample_next_away;
static u32 hw_sample_alone;
static u64 hw_sample_began_ns;
/* For pghot_nothing_moves(). */
static unsigned long hw_sample_moved;

static void hw_sample_look(struct work_struct *work);
static DECLARE_DELAYED_WORK(hw_sample_work, hw_sample_look);

static struct pghot_source hw_sample;

/* --- counters come and go ----------------------------------------------------- */

static int hw_sample_online(unsigned int cpu)
{
	int err;

	if (pghot_cpu_is_isolated(cpu))
		return 0;
	guard(mutex)(&hw_sample_lock);
	if (!hw_sample_complete && !hw_sample_starting)
		return 0;
	err = hw_sample_cpu_open(cpu, hw_sample_kind, &hw_sample, !hw_sample_away);
	if (!err || hw_sample_starting)
		return err;
	/* A CPU is not kept offline for this: then none counts, see the work. */
	hw_sample_complete = false;
	return 0;
}

/*
 * Have counters on those CPUs that are to have one: some may have been refused it, and
 * cpusets isolate CPUs, or do so no more. CPUs neither come nor go.
 */
static bool hw_sample_fit(bool on)
{
	unsigned int cpu;

	hw_sample_complete = false;
	for_each_online_cpu(cpu) {
		if (pghot_cpu_is_isolated(cpu))
			hw_sample_cpu_close(cpu);
		else if (hw_sample_cpu_open(cpu, hw_sample_kind, &hw_sample, on))
			return false;
	}
	hw_sample_complete = true;
	return true;
}

static int hw_sample_offline(unsigned int cpu)
{
	guard(mutex)(&hw_sample_lock);
	hw_sample_cpu_close(cpu);
	return 0;
}

static void hw_sample_next_round(void)
{
	hw_sample_forget();
	hw_sample_began_ns = ktime_get_ns();
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

	WRITE_ONCE(hw_sample_rules.burst_ns, allowed * PGHOT_SAMPLE_BURST);
}

/* Counters of all CPUs: if one fails those that have been made are taken away again. */
static int hw_sample_open_all(void)
{
	int state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "mm/pghot:hw_sample",
				      hw_sample_online, hw_sample_offline);

	guard(mutex)(&hw_sample_lock);
	hw_sample_starting = false;
	hw_sample_complete = state >= 0;
	if (state < 0)
		hw_sample_kind = NULL;
	return state;
}

static int hw_sample_start(struct pghot_source *source)
{
	const struct hw_sample_kind *kind = hw_sample_find();
	int state;

	if (!kind)
		return -EOPNOTSUPP;
	state = hw_sample_near_start(source);
	if (state)
		return state;
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
		WRITE_ONCE(hw_sample_rules.period, hw_sample_pace.period);
		hw_sample_next_round();
		hw_sample_bound();
		pghot_look_for_room(&hw_sample_rules.room);
	}
	state = hw_sample_open_all();
	if (state < 0) {
		hw_sample_near_stop();
		return state;
	}
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
	hw_sample_near_stop();
}

/* --- looks -------------------------------------------------------------------- */

static void hw_sample_give_way(void)
{
	hw_sample_switch(false);
	hw_sample_away = hw_sample_next_away;
	hw_sample_next_away = min(2 * hw_sample_next_away, HW_SAMPLE_AWAY_MAX);
	hw_sample_alone = 0;
}

/* A change that is small is not worth interrupting all CPUs. */
static bool hw_sample_differs(u32 a, u32 b)
{
	return a > b + b / 8 || b > a + a / 8;
}

static void hw_sample_follow(void)
{
	struct pghot_sample_round r = {
		.elapsed_ns = ktime_get_ns() - hw_sample_began_ns,
		.held = pghot_nothing_moves(&hw_sample_moved),
	};

	hw_sample_sum_up(&r);
	if (pghot_sample_follow(&hw_sample_pace, &r, READ_ONCE(hw_sample_permille)))
		hw_sample_next_round();
	if (hw_sample_differs(hw_sample_pace.period, hw_sample_rules.period))
		hw_sample_set_period(hw_sample_pace.period);
	/* One that differs too little would grow apart. */
	hw_sample_pace.period = hw_sample_rules.period;
	hw_sample_bound();
	pghot_look_for_room(&hw_sample_rules.room);
	hw_sample_switch(true);
}

static void hw_sample_look(struct work_struct *work)
{
	guard(cpus_read_lock)();
	guard(mutex)(&hw_sample_lock);
	if (hw_sample_away) {
		if (!--hw_sample_away && hw_sample_fit(false)) {
			hw_sample_next_round();
			hw_sample_switch(true);
		}
	} else if (!hw_sample_complete || !hw_sample_fit(true) || hw_sample_is_shared()) {
		hw_sample_give_way();
	} else {
		hw_sample_follow();
		if (++hw_sample_alone == HW_SAMPLE_ALONE)
			hw_sample_next_away = HW_SAMPLE_AWAY;
	}
	hw_sample_near_wake();
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
	return sysfs_emit(buf, "%u\n", hw_sample_kind ? hw_sample_rules.period : 0);
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
	u64 spent_ns;

	return sysfs_emit(buf, "%lu\n", hw_sample_totals(&spent_ns));
}

static struct kobj_attribute samples_attr = __ATTR_RO_MODE(samples, 0400);

static ssize_t cpu_usec_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	u64 spent_ns;

	hw_sample_totals(&spent_ns);
	return sysfs_emit(buf, "%llu\n", div_u64(spent_ns, NSEC_PER_USEC));
}

static struct kobj_attribute cpu_usec_attr = __ATTR_RO_MODE(cpu_usec, 0400);

static ssize_t looked_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	unsigned long cpu_usec;

	return sysfs_emit(buf, "%lu\n", hw_sample_near_totals(&cpu_usec));
}

static struct kobj_attribute looked_attr = __ATTR_RO_MODE(looked, 0400);

static ssize_t look_usec_show(struct kobject *kobj, struct kobj_attribute *attr,
			      char *buf)
{
	unsigned long cpu_usec;

	hw_sample_near_totals(&cpu_usec);
	return sysfs_emit(buf, "%lu\n", cpu_usec);
}

static struct kobj_attribute look_usec_attr = __ATTR_RO_MODE(look_usec, 0400);

DEFINE_KNOB(cpu_permille, &hw_sample_permille, PGHOT_SAMPLE_PERMILLE_MIN,
	    PGHOT_SAMPLE_PERMILLE_MAX);
DEFINE_KNOB(look_permille, &hw_sample_look_permille, PGHOT_SAMPLE_PERMILLE_MIN,
	    PGHOT_SAMPLE_PERMILLE_MAX);

static struct attribute *hw_sample_attrs[] = {
	&cpu_permille_knob.attr.attr,
	&look_permille_knob.attr.attr,
	&event_attr.attr,
	&period_attr.attr,
	&away_attr.attr,
	&samples_attr.attr,
	&cpu_usec_attr.attr,
	&looked_attr.attr,
	&look_usec_attr.attr,
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
	if (!pghot_booted)
		return 0;
	look_permille_knob.changed = hw_sample_near_changed;
	return pghot_register_source(&hw_sample);
}
late_initcall_sync(hw_sample_init);
