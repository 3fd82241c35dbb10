/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_HARDIRQ_H
#define _MACHINE_LINUX_HARDIRQ_H

#include <linux/irq_work.h>
#include <linux/kthread.h>

#define in_nmi()		false
#define irqs_disabled()		machine_irqs_off
#define preemptible()		(!machine_preempt_off && !machine_irqs_off)

#endif
