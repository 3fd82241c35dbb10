/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_SMP_H
#define _HARNESS_LINUX_SMP_H

/* Each thread has a CPU of its own. */
unsigned int raw_smp_processor_id(void);

#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)

#endif
