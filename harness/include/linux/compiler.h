/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_COMPILER_H
#define _HARNESS_LINUX_COMPILER_H

#ifndef __always_inline
#define __always_inline		inline __attribute__((__always_inline__))
#endif
#define __aligned(x)		__attribute__((__aligned__(x)))
#define __rcu
#define __read_mostly
#define __ro_after_init
#define __percpu
#define __iomem
#define noinline		__attribute__((__noinline__))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)

/* As atomic accesses, so that ThreadSanitizer knows what they are. */
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), (v), __ATOMIC_RELAXED)

#define barrier()		__asm__ __volatile__("" : : : "memory")

#endif
