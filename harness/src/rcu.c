// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's RCU on top of liburcu. liburcu's calls are not inlined here:
 * ThreadSanitizer does not see into the library, so the one ordering that RCU
 * guarantees to who frees memory is told to it by hand.
 */
#include <stdio.h>
#include <stdlib.h>

#include <urcu/urcu-memb.h>

/* liburcu gives its functions the kernel's names by macros. */
#undef rcu_read_lock
#undef rcu_read_unlock
#undef synchronize_rcu

#include "harness.h"

#if defined(__SANITIZE_THREAD__)
#define HARNESS_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HARNESS_TSAN
#endif
#endif

#ifdef HARNESS_TSAN
#include <sanitizer/tsan_interface.h>
static char readers_done;
#define readers_release()	__tsan_release(&readers_done)
#define readers_acquire()	__tsan_acquire(&readers_done)
#else
#define readers_release()	do { } while (0)
#define readers_acquire()	do { } while (0)
#endif

#ifndef HARNESS_COST

/* What <linux/rcupdate.h> declares. */
void rcu_read_lock(void);
void rcu_read_unlock(void);
void synchronize_rcu(void);
void harness_rcu_assert(bool ok, const char *what);
bool harness_rcu_held(void);

static __thread int depth;

void rcu_read_lock(void)
{
	urcu_memb_read_lock();
	depth++;
}

void rcu_read_unlock(void)
{
	depth--;
	readers_release();
	urcu_memb_read_unlock();
}

void synchronize_rcu(void)
{
	harness_rcu_assert(!depth, "synchronize_rcu() outside a read section");
	urcu_memb_synchronize_rcu();
	readers_acquire();
}

bool harness_rcu_held(void)
{
	return depth > 0;
}

void harness_rcu_assert(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "RCU: not true: %s\n", what);
	abort();
}

#endif

void harness_thread_enter(void)
{
	urcu_memb_register_thread();
}

void harness_thread_leave(void)
{
	urcu_memb_unregister_thread();
}
