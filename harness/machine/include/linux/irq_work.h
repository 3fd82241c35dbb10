/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_IRQ_WORK_H
#define _MACHINE_LINUX_IRQ_WORK_H

struct irq_work {
	void (*func)(struct irq_work *work);
};

static inline void init_irq_work(struct irq_work *work,
				 void (*func)(struct irq_work *))
{
	work->func = func;
}

static inline void irq_work_queue(struct irq_work *work)
{
	work->func(work);
}

#endif
