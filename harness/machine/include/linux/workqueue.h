/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_WORKQUEUE_H
#define _MACHINE_LINUX_WORKQUEUE_H

#include <stdbool.h>

struct work_struct {
	void (*func)(struct work_struct *work);
};

#define DECLARE_WORK(name, fn)	struct work_struct name = { .func = fn }

/* Done at the first tick from @due on. */
struct delayed_work {
	struct work_struct work;
	unsigned long due;
	bool pending;
	struct delayed_work *next;
};

#define INIT_DELAYED_WORK(w, fn)	((w)->work.func = (fn))
#define to_delayed_work(w)		((struct delayed_work *)(w))
#define queue_delayed_work(wq, w, ticks) machine_delay_work(w, ticks)
#define mod_delayed_work(wq, w, ticks)	\
	((w)->due = jiffies + (ticks), machine_delay_work(w, ticks))

/* Return false if it is on its way already. */
bool machine_delay_work(struct delayed_work *work, unsigned long ticks);
bool schedule_work(struct work_struct *work);

#define system_dfl_wq	NULL

/* At once: who queues it does not wait for what it does. */
static inline bool queue_work(void *wq, struct work_struct *work)
{
	work->func(work);
	return true;
}

#define INIT_WORK_ONSTACK(w, fn)	((w)->func = (fn))
#define flush_work(w)			((void)(w))
#define destroy_work_on_stack(w)	((void)(w))

#endif
