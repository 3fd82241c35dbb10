/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_SPINLOCK_H
#define _MACHINE_LINUX_SPINLOCK_H

#include <assert.h>
#include <stdbool.h>

/* One thread runs at a time: only that locks are let go can be seen. */
typedef struct {
	bool held;
} spinlock_t;

static inline void spin_lock_init(spinlock_t *lock)
{
	lock->held = false;
}

static inline void spin_lock(spinlock_t *lock)
{
	assert(!lock->held);
	lock->held = true;
}

static inline bool spin_trylock(spinlock_t *lock)
{
	return !lock->held && (lock->held = true);
}

static inline void spin_unlock(spinlock_t *lock)
{
	assert(lock->held);
	lock->held = false;
}

#endif
