/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_ATOMIC_H
#define _HARNESS_LINUX_ATOMIC_H

#include <linux/compiler.h>
#include <linux/types.h>

/* Fully ordered if it succeeds, not at all if it fails; as in the kernel. */
#define try_cmpxchg(ptr, old, new)					\
	__atomic_compare_exchange_n(ptr, old, new, false,		\
				    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)

#define cmpxchg(ptr, old, new) ({					\
	__typeof__(*(ptr)) __old = (old);				\
	try_cmpxchg(ptr, &__old, new);					\
	__old; })

/* ThreadSanitizer does not model fences; every access they order is atomic. */
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#if defined(HARNESS_COST) && defined(__x86_64__)
/* As in the kernel: every atomic read-modify-write is a full barrier. */
#define smp_mb__after_atomic()	barrier()
#else
#define smp_mb__after_atomic()	smp_mb()
#endif

/* rcu_dereference() is an acquire here. */
#define smp_acquire__after_ctrl_dep()	barrier()

static inline long atomic_long_read(const atomic_long_t *v)
{
	return READ_ONCE(v->counter);
}

static inline void atomic_long_set(atomic_long_t *v, long i)
{
	WRITE_ONCE(v->counter, i);
}

static inline void atomic_long_add(long i, atomic_long_t *v)
{
	__atomic_fetch_add(&v->counter, i, __ATOMIC_RELAXED);
}

static inline void atomic_long_inc(atomic_long_t *v)
{
	atomic_long_add(1, v);
}

static inline void atomic_long_dec(atomic_long_t *v)
{
	atomic_long_add(-1, v);
}

#endif
