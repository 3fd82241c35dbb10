// SPDX-License-Identifier: GPL-2.0
#include <linux/smp.h>

#include "harness.h"

__thread unsigned long harness_resched;

unsigned int raw_smp_processor_id(void)
{
	static unsigned int threads;
	static __thread unsigned int mine;

	if (!mine)
		mine = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
	return mine - 1;
}
