/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_WAIT_H
#define _MACHINE_LINUX_WAIT_H

#include <assert.h>
#include <stdbool.h>

#include <linux/irq_work.h>
#include <linux/jiffies.h>

/* Who waits looks again at each tick. */
typedef struct {
	char unused;
} wait_queue_head_t;

void machine_tick(void);

#define init_waitqueue_head(wq)	((void)(wq))
#define wq_has_sleeper(wq)	((void)(wq), true)
/* Takes a lock, which with PREEMPT_RT is one that sleeps. */
#define wake_up(wq)		((void)(wq), assert(!machine_irqs_off),	\
				 assert(!machine_preempt_rt || !machine_preempt_off))

#define wait_event_freezable_timeout(wq, condition, timeout) ({		\
	unsigned long end = jiffies + (timeout);			\
	(void)(wq);							\
	while (!(condition) && (long)(end - jiffies) > 0)		\
		machine_tick();						\
	(long)(end - jiffies);						\
})

#define wait_event_freezable(wq, condition) ({				\
	(void)(wq);							\
	while (!(condition))						\
		machine_tick();						\
	0;								\
})

#endif
