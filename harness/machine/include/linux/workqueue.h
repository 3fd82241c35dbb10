/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_WORKQUEUE_H
#define _MACHINE_LINUX_WORKQUEUE_H

#include <stdbool.h>

struct work_struct {
	void (*func)(struct work_struct *work);
};

#define DECLARE_WORK(name, fn)	struct work_struct name = { .func = fn }

bool schedule_work(struct work_struct *work);

#endif
