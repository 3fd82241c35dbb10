/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_IRQ_WORK_H
#define _MACHINE_LINUX_IRQ_WORK_H

#include <stdbool.h>

struct irq_work {
	void (*func)(struct irq_work *work);
	bool lazy;
	bool pending;
};

#define IRQ_WORK_INIT_LAZY(_func)	((struct irq_work) { .func = (_func), .lazy = true })

/*
 * The interrupt comes at once, or not before it is allowed to; that of the timer comes
 * when somebody waits for it. With PREEMPT_RT a thread does the work, whatever it was
 * that was interrupted.
 */
extern bool machine_irqs_off, machine_preempt_off;

static inline void init_irq_work(struct irq_work *work,
				 void (*func)(struct irq_work *))
{
	*work = (struct irq_work) { .func = func };
}

static inline void irq_work_sync(struct irq_work *work)
{
	bool off = machine_preempt_off;

	machine_preempt_off = false;
	if (work->pending)
		work->func(work);
	work->pending = false;
	machine_preempt_off = off;
}

static inline void irq_work_queue(struct irq_work *work)
{
	work->pending = true;
	if (!work->lazy && !machine_irqs_off)
		irq_work_sync(work);
}

#endif
