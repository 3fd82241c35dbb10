/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_RCUPDATE_H
#define _HARNESS_LINUX_RCUPDATE_H

#include <linux/compiler.h>

#ifdef HARNESS_COST
/*
 * As in a kernel without preemptible RCU. For benchmarks: nothing may be
 * removed while another thread reads.
 */
static inline void rcu_read_lock(void)
{
	barrier();
}

static inline void rcu_read_unlock(void)
{
	barrier();
}

static inline void synchronize_rcu(void)
{
	barrier();
}

#define rcu_assert(cond)	do { } while (0)
#else
/* liburcu's; every thread that reads registers itself (see harness.h). */
void rcu_read_lock(void);
void rcu_read_unlock(void);
void synchronize_rcu(void);
void harness_rcu_assert(bool ok, const char *what);
bool harness_rcu_held(void);

#define rcu_assert(cond) \
	harness_rcu_assert((cond) || harness_rcu_held(), #cond)
#endif

#define rcu_access_pointer(p)	__atomic_load_n(&(p), __ATOMIC_RELAXED)
#define rcu_dereference_check(p, cond) \
	({ rcu_assert(cond); __atomic_load_n(&(p), __ATOMIC_ACQUIRE); })
#define rcu_dereference(p)	rcu_dereference_check(p, false)
#define rcu_dereference_protected(p, cond) \
	({ rcu_assert(cond); rcu_access_pointer(p); })
#define rcu_assign_pointer(p, v) \
	__atomic_store_n(&(p), (v), __ATOMIC_RELEASE)
#define RCU_INIT_POINTER(p, v) \
	__atomic_store_n(&(p), (v), __ATOMIC_RELAXED)
#define rcu_replace_pointer(p, v, cond) \
	({ rcu_assert(cond); __atomic_exchange_n(&(p), (v), __ATOMIC_ACQ_REL); })

#endif
