// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a hotness monitoring unit: its hotlists, when it interrupts, and once in
 * an epoch where it does not.
 */
#include <linux/device.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/pghot.h>
#include <linux/rcupdate.h>
#include <linux/sched/cputime.h>
#include <linux/sched.h>
#include <linux/sort.h>

#include "../internal.h"
#include "hotness_unit.h"

/* Where it interrupts and had nothing to say, it is only looked whether it is there. */
#define IDLE_NS			(1000 * (u64)NSEC_PER_MSEC)

/* What does not count is tried again after so long. */
#define RETRY_NS		(10 * (u64)NSEC_PER_SEC)

/* Pages that are reported before others may run. */
#define REPORT_PAGES		512ULL

/* Made before the source is registered, and so before any unit runs. */
struct workqueue_struct *hotness_unit_wq;
/* How often a hotlist was found to have had no room. */
atomic_long_t hotness_unit_overflows;
u32 hotness_unit_epoch_ms = HOTNESS_UNIT_EPOCH_MS;

/* What hotness_unit_weight() goes by: the unit, and when this reading began. */
struct hotness_unit_reader {
	struct hotness_unit *unit;
	u32 now_ms;
};

/*
 * What a span says of a folio. Other spans of the same epoch tell of other pages of it, and
 * where units are smaller than a page of other parts of that. It has one record: they are
 * the same accesses, and count once. Nor does an epoch count that waited until the next one
 * was listed: see hotness_unit_most_weight().
 */
static u32 hotness_unit_weight(const struct pghot_access *access, void *data)
{
	const struct hotness_unit_reader *reader = data;

	/* An epoch is listed at its end: what comes much later is of the next one, if early. */
	return pghot_once_more(&reader->unit->once, access->pfn, access->weight,
			       reader->now_ms, DIV_ROUND_UP(access->interval_ms, 2));
}

/* Without who accessed them: the device does not know. */
static void hotness_unit_report_pages(struct hotness_unit_reader *reader,
				      const struct chmu_span *span, u32 interval_ms)
{
	struct hotness_unit *unit = reader->unit;
	struct pghot_access access = {
		.nid = NUMA_NO_NODE, .weight = span->weight,
		.interval_ms = interval_ms,
	};
	const struct pghot_map_node *owner;
	u64 page = span->page, left = span->pages, pages;

	while (left && unit->info.translate(unit->info.data, page, &access.pfn,
					    &pages) && pages) {
		pages = min3(pages, left, REPORT_PAGES);
		rcu_read_lock();
		owner = pghot_map_owner(&pghot_map, access.pfn);
		if (owner)
			unit->nid = owner->nid;
		rcu_read_unlock();
		pghot_record_range(&access, pages, unit->source, hotness_unit_weight,
				   reader);
		page += pages;
		left -= pages;
		cond_resched();
	}
}

/*
 * A unit counts what is requested of a frame, whichever page is there. Where pages are
 * exchanged, one epoch may have the last accesses of a page, the copy of it as it left and,
 * where writes count, that of another one into its place: without any access to what is
 * there now. So what one epoch says makes no page ready; the next one is of that page
 * alone. Who has one access be enough has asked for one epoch, too.
 */
static u32 hotness_unit_most_weight(void)
{
	return max(READ_ONCE(pghot_tunables.freq_threshold), 2U) - 1;
}

static int hotness_unit_entry_cmp(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* What waits in a hotlist, once: a device that goes on listing cannot hold us. */
static void hotness_unit_read_hotlist(struct hotness_unit *unit, struct chmu_instance *i)
{
	struct hotness_unit_reader reader = { .unit = unit, .now_ms = pghot_now_ms() };
	u32 max_weight = hotness_unit_most_weight();
	u32 interval_ms = max(i->setup.epoch_us / 1000, 1U);
	u32 waiting = chmu_instance_waiting(i), nr;
	unsigned int n, k;

	while (waiting) {
		nr = chmu_instance_read(i, unit->entries, min(waiting, HOTNESS_UNIT_CHUNK));
		if (!nr)
			return;
		waiting -= nr;
		unit->listed += nr;
		/* What is of one page has to add up. For neighbours alone it is not worth it. */
		if (i->setup.unit_shift < PAGE_SHIFT)
			sort(unit->entries, nr, sizeof(unit->entries[0]),
			     hotness_unit_entry_cmp, NULL);
		n = chmu_merge(unit->entries, nr, i->count_bits, &i->setup,
			       max_weight, unit->spans);
		for (k = 0; k < n; k++)
			hotness_unit_report_pages(&reader, &unit->spans[k], interval_ms);
	}
}

/*
 * Epochs longer than the window say little of it; some are longer than usual. But they are those
 * that the unit has: with others it would begin anew for nothing.
 */
static struct chmu_limits hotness_unit_pace_limits(const struct hotness_unit *unit)
{
	u32 window_ms = READ_ONCE(pghot_tunables.window_ms);
	u64 epoch_us = 1000ULL * min(READ_ONCE(hotness_unit_epoch_ms),
				     max(window_ms / CHMU_LONGER_EPOCHS, 1U));
	u64 epoch_max_us = 1000ULL * window_ms;
	u32 least = 0, most = CHMU_THRESHOLD_MAX;
	unsigned int n;

	for (n = 0; n < unit->nr; n++) {
		const struct chmu_instance *i = &unit->instance[n];

		least = max(least, chmu_pace_least(i->setup.unit_shift));
		if (i->first == i->end)
			continue;
		epoch_us = max(epoch_us, i->caps.epoch_min_us);
		epoch_max_us = min(epoch_max_us, i->caps.epoch_max_us);
		if (i->running)
			most = min(most, chmu_threshold_max(&i->setup, i->count_bits));
	}

	epoch_us = min(epoch_us, U32_MAX);
	return (struct chmu_limits) {
		.epoch_us = epoch_us,
		.epoch_max_us = clamp(epoch_max_us, epoch_us, U32_MAX),
		.threshold_min = least,
		.threshold_max = max(least, most),
	};
}

/* It may have none that is so short. */
static u64 hotness_unit_epoch_ns(const struct hotness_unit *unit)
{
	u32 epoch_us = unit->pace.epoch_us;
	unsigned int n;

	for (n = 0; n < unit->nr; n++)
		if (unit->instance[n].running)
			epoch_us = max(epoch_us, unit->instance[n].setup.epoch_us);
	return (u64)epoch_us * NSEC_PER_USEC;
}

/*
 * With new settings all begin anew; else those that do not count. That takes some time, and
 * the epoch begins when it is over.
 */
static void hotness_unit_start_instances(struct hotness_unit *unit, bool all)
{
	unsigned int n;
	int err = 0;

	for (n = 0; n < unit->nr; n++)
		if (all || !unit->instance[n].running)
			err = chmu_instance_start(&unit->instance[n],
						  unit->pace.epoch_us,
						  unit->pace.threshold) ?: err;
	/* Said once, however often it is tried again. */
	if (err && !unit->failed)
		dev_warn(unit->info.dev, "hotness unit does not count (%d)\n", err);
	unit->failed = err;
	unit->tried_ns = ktime_get_ns();
	if (all)
		unit->stepped_ns = unit->tried_ns;
}

static u32 hotness_unit_entries_room(const struct hotness_unit *unit)
{
	unsigned int n;
	u32 room = 0;

	for (n = 0; n < unit->nr; n++)
		if (unit->instance[n].running)
			room += unit->instance[n].caps.entries;
	return room;
}

/* Can it be left alone until it interrupts? */
static bool hotness_unit_is_quiet(const struct hotness_unit *unit,
				  const struct chmu_limits *limits)
{
	unsigned int n;

	for (n = 0; n < unit->nr; n++)
		if (unit->instance[n].running &&
		    (!unit->instance[n].caps.fill_irq || !unit->irqs[n]))
			return false;
	return !unit->listed && unit->pace.threshold == limits->threshold_min &&
	       unit->pace.epoch_us == limits->epoch_us;
}

/* Settings follow once in an epoch. Return for how long to sleep. */
static u64 hotness_unit_follow_pace(struct hotness_unit *unit)
{
	u64 now_ns = ktime_get_ns(), epoch_ns = hotness_unit_epoch_ns(unit);
	struct chmu_limits limits = hotness_unit_pace_limits(unit);
	struct chmu_yield yield = {
		.listed = unit->listed, .overflow = unit->overflow,
		.room = hotness_unit_entries_room(unit),
	};
	u64 passed_ns = now_ns - unit->stepped_ns;
	struct pghot_node *node = NULL;

	if (unit->nid != NUMA_NO_NODE)
		node = pghot_node(unit->nid);
	if (passed_ns < epoch_ns)
		return epoch_ns - passed_ns;
	if (node) {
		yield.waiting = pghot_is_waiting(unit->nid, NUMA_NO_NODE);
		yield.ready = pghot_map_ready(&node->map, NULL);
	}
	unit->stepped_ns = now_ns;
	if (chmu_pace_step(&unit->pace, &yield, &limits)) {
		hotness_unit_start_instances(unit, true);
		epoch_ns = hotness_unit_epoch_ns(unit);
	} else if (hotness_unit_is_quiet(unit, &limits)) {
		epoch_ns = IDLE_NS;
	}
	if (ktime_get_ns() - unit->tried_ns >= RETRY_NS)
		hotness_unit_start_instances(unit, false);
	unit->listed = 0;
	unit->overflow = false;
	return epoch_ns;
}

static void hotness_unit_work(struct work_struct *work)
{
	struct hotness_unit *unit = container_of(to_delayed_work(work),
						 struct hotness_unit, work);
	u64 begin_ns = task_sched_runtime(current);
	u64 now_ns, rest_ns, sleep_ns, status;
	bool lost = false;
	unsigned int n;

	WRITE_ONCE(unit->resting, true);
	for (n = 0; n < unit->nr; n++) {
		struct chmu_instance *i = &unit->instance[n];

		if (!i->running)
			continue;
		status = chmu_instance_acknowledge(i);
		if (chmu_is_gone(status)) {
			/* Its driver will say so, unless it is reset just now. */
			i->running = false;
			continue;
		}
		if (status & CHMU_STATUS_OVERFLOW) {
			unit->overflow = true;
			atomic_long_inc(&hotness_unit_overflows);
		}
		/* Of a rest: it may be cold by now, but how much it is sets the pace. */
		if (unit->stale)
			unit->listed += chmu_instance_drop(i);
		else
			hotness_unit_read_hotlist(unit, i);
		/* After a reset, say. */
		i->running = status & CHMU_STATUS_ENABLED;
		lost |= !i->running;
	}
	now_ns = ktime_get_ns();
	rest_ns = chmu_budget_spend(&unit->budget, now_ns,
				    task_sched_runtime(current) - begin_ns);
	unit->stale = rest_ns > hotness_unit_epoch_ns(unit);
	if (lost)
		hotness_unit_start_instances(unit, false);
	sleep_ns = hotness_unit_follow_pace(unit);
	/* What came meanwhile has interrupted for nothing: do not wait long. */
	if (!rest_ns) {
		WRITE_ONCE(unit->resting, false);
		/* Either the interrupt sees that, or what it was for is seen here. */
		mb();
		for (n = 0; n < unit->nr; n++)
			if (unit->instance[n].running &&
			    chmu_instance_waiting(&unit->instance[n]))
				sleep_ns = 0;
	}
	/* Rounded up: not again and again until it is time. */
	queue_delayed_work(hotness_unit_wq, &unit->work,
			   nsecs_to_jiffies(max(rest_ns, sleep_ns) + TICK_NSEC - 1));
}

/**
 * hotness_unit_wake - have a unit read soon, if it runs
 * @unit: the unit
 *
 * Context: any but NMI.
 */
void hotness_unit_wake(struct hotness_unit *unit)
{
	mod_delayed_work(hotness_unit_wq, &unit->work, 0);
}

/**
 * hotness_unit_irq - a unit has something to say
 * @irq: its interrupt
 * @data: the unit
 *
 * Return: IRQ_HANDLED.
 */
irqreturn_t hotness_unit_irq(int irq, void *data)
{
	struct hotness_unit *unit = data;

	if (!READ_ONCE(unit->resting))
		hotness_unit_wake(unit);
	return IRQ_HANDLED;
}

/**
 * hotness_unit_init - prepare a unit, which does not run yet
 * @unit: the unit
 */
void hotness_unit_init(struct hotness_unit *unit)
{
	INIT_DELAYED_WORK(&unit->work, hotness_unit_work);
	disable_delayed_work(&unit->work);
	unit->resting = true;
}

/**
 * hotness_unit_run - have a unit count, and report what it lists
 * @unit: the unit, which does not run
 *
 * Context: process context; sleeps.
 */
void hotness_unit_run(struct hotness_unit *unit)
{
	struct chmu_limits limits = hotness_unit_pace_limits(unit);
	u64 now_ns = ktime_get_ns();

	unit->pace = (struct chmu_pace) { limits.epoch_us, limits.threshold_min };
	unit->listed = 0;
	unit->overflow = false;
	unit->stale = false;
	unit->nid = NUMA_NO_NODE;
	chmu_budget_init(&unit->budget, now_ns);
	unit->failed = false;
	hotness_unit_start_instances(unit, true);
	enable_delayed_work(&unit->work);
	hotness_unit_wake(unit);
}

/**
 * hotness_unit_halt - have a unit count no more
 * @unit: the unit, which runs
 *
 * No report is made after this.
 *
 * Context: process context; sleeps.
 */
void hotness_unit_halt(struct hotness_unit *unit)
{
	unsigned int n;

	disable_delayed_work_sync(&unit->work);
	WRITE_ONCE(unit->resting, true);
	for (n = 0; n < unit->nr; n++)
		chmu_instance_stop(&unit->instance[n]);
}
