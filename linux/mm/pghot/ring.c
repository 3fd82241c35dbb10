// SPDX-License-Identifier: GPL-2.0
/*
 * Reports from NMIs: kept in a ring of the CPU and recorded from an interrupt
 * soon after, where looking at a page may take its time.
 *
 * That is the timer's, which comes anyway: an interrupt for each report would cost as
 * much as the report. Where the timer is stopped, or the ring becomes half full before
 * it comes, the CPU interrupts itself.
 */
#include <linux/export.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/pghot.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>

#include "internal.h"

/*
 * What an interrupt can deal with in some tens of microseconds; where each is the
 * first access of an era to its group, in up to half a millisecond, as it goes
 * through the records of all those groups: see group_enter_era(). So many only wait
 * where interrupts were off for long. A power of two.
 */
#define RING_ACCESSES		128U
/* With so many the timer is not waited for. */
#define RING_MANY		(RING_ACCESSES / 2)

/**
 * struct pghot_ring - what one CPU has reported and not yet recorded
 * @tick: records it when the timer interrupts
 * @now: records it at once
 * @source: who reported it
 * @head: how many were ever added; the reporter's
 * @tail: how many were ever recorded; the drainer's
 * @spent_ns: what that took; the drainer's
 * @access: the accesses
 *
 * Both work on the CPU whose ring it is, and the reporter may interrupt the
 * drainer, not the other way round. @tick and @now do not interrupt each other either.
 * With PREEMPT_RT a thread of the CPU does both, and there is @now alone: nothing wakes
 * that thread for @tick before the timer does, and a CPU that goes offline parks it.
 */
struct pghot_ring {
	struct irq_work tick;
	struct irq_work now;
	struct pghot_source *source;
	u32 head;
	u32 tail;
	u64 spent_ns;
	struct pghot_access access[RING_ACCESSES];
};

static void ring_drain(struct pghot_ring *ring)
{
	u32 tail = ring->tail, head;
	u64 began_ns = local_clock();

	/* Pairs with the release in pghot_record_nmi(): the accesses are there. */
	while (tail != (head = smp_load_acquire(&ring->head))) {
		for (; tail != head; tail++) {
			struct pghot_access a = ring->access[tail % RING_ACCESSES];
			unsigned long nr;

			if (pghot_record_pfn(&a.pfn, &nr))
				pghot_record(&a, ring->source);
		}
		/* Only now may the reporter use these again. */
		smp_store_release(&ring->tail, tail);
	}
	WRITE_ONCE(ring->spent_ns, ring->spent_ns + local_clock() - began_ns);
}

static void ring_tick(struct irq_work *work)
{
	ring_drain(container_of(work, struct pghot_ring, tick));
}

static void ring_now(struct irq_work *work)
{
	ring_drain(container_of(work, struct pghot_ring, now));
}

/**
 * pghot_ring_alloc - make the rings of a source
 * @source: the source
 *
 * Return: 0 or -ENOMEM.
 */
int pghot_ring_alloc(struct pghot_source *source)
{
	int cpu;

	source->ring = alloc_percpu(struct pghot_ring);
	if (!source->ring)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct pghot_ring *ring = per_cpu_ptr(source->ring, cpu);

		ring->tick = IRQ_WORK_INIT_LAZY(ring_tick);
		init_irq_work(&ring->now, ring_now);
		ring->source = source;
	}
	return 0;
}

/**
 * pghot_ring_sync - wait until what a source has reported is recorded
 * @source: the source, which reports no more; it may have no rings
 *
 * The rings of a CPU that goes offline are emptied as it goes.
 *
 * Context: process context; sleeps.
 */
void pghot_ring_sync(struct pghot_source *source)
{
	int cpu;

	if (!source->ring)
		return;
	/* One that was about to stop its timer when the report came has none to wait for. */
	wake_up_all_idle_cpus();
	for_each_possible_cpu(cpu) {
		struct pghot_ring *ring = per_cpu_ptr(source->ring, cpu);

		irq_work_sync(&ring->tick);
		irq_work_sync(&ring->now);
	}
}

/**
 * pghot_ring_spent_ns - what it took to record what a source has reported
 * @source: the source, which has rings
 * @cpu: on which CPU
 *
 * Context: any, NMI included.
 *
 * Return: nanoseconds of that CPU since the rings were made.
 */
u64 pghot_ring_spent_ns(const struct pghot_source *source, int cpu)
{
	return READ_ONCE(per_cpu_ptr(source->ring, cpu)->spent_ns);
}

/**
 * pghot_ring_free - free the rings of a source that reports no more
 * @source: the source; it may have none
 */
void pghot_ring_free(struct pghot_source *source)
{
	pghot_ring_sync(source);
	free_percpu(source->ring);
	source->ring = NULL;
}

/**
 * pghot_record_nmi - report accesses where nothing may be waited for
 * @accesses: pages, and what is known of the accesses; tail pages may be named
 * @nr: their number: those of one sample, which are recorded all or not at all
 * @source: who reports, with @nmi set
 *
 * What the ring has no room for is lost, and counted.
 *
 * Context: NMI, or interrupts disabled; a report must not interrupt one of the
 * same source on the same CPU.
 *
 * Return: false if there was no room.
 */
bool pghot_record_nmi(const struct pghot_access *accesses, unsigned int nr,
		      struct pghot_source *source)
{
	struct pghot_ring *ring = this_cpu_ptr(source->ring);
	u32 head = ring->head, used;
	unsigned int i;

	/* Pairs with the release in ring_drain(): what was there is read. */
	used = head - smp_load_acquire(&ring->tail);
	if (nr > RING_ACCESSES - used) {
		pghot_stat_add(PGHOT_STAT_dropped, nr);
		return false;
	}
	for (i = 0; i < nr; i++)
		ring->access[(head + i) % RING_ACCESSES] = accesses[i];
	/* Pairs with the acquire in ring_drain(): they are there. */
	smp_store_release(&ring->head, head + nr);
	irq_work_queue(!IS_ENABLED(CONFIG_PREEMPT_RT) && used + nr < RING_MANY ?
		       &ring->tick : &ring->now);
	return true;
}
EXPORT_SYMBOL_GPL(pghot_record_nmi);
