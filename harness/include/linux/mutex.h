/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_MUTEX_H
#define _HARNESS_LINUX_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

#include <linux/lockdep.h>

struct mutex {
	pthread_mutex_t lock;
	bool held;		/* for who holds it */
};

static inline void mutex_init(struct mutex *m)
{
	pthread_mutex_init(&m->lock, NULL);
	m->held = false;
}

#define DEFINE_MUTEX(name)	struct mutex name = { PTHREAD_MUTEX_INITIALIZER, false }

static inline struct mutex *mutex_guard_lock(struct mutex *m)
{
	pthread_mutex_lock(&m->lock);
	m->held = true;
	return m;
}

static inline void mutex_guard_unlock(struct mutex **m)
{
	(*m)->held = false;
	pthread_mutex_unlock(&(*m)->lock);
}

static inline bool mutex_trylock(struct mutex *m)
{
	if (pthread_mutex_trylock(&m->lock))
		return false;
	m->held = true;
	return true;
}

static inline void mutex_unlock(struct mutex *m)
{
	mutex_guard_unlock(&m);
}

/* Of locks there are mutexes here, and one in a function. */
#define guard(kind)	kind##_guard
#define mutex_guard(m)							\
	struct mutex *guarded						\
	__attribute__((__cleanup__(mutex_guard_unlock), __unused__)) =	\
		mutex_guard_lock(m)
#define scoped_guard(kind, m)						\
	for (struct mutex *scope					\
	     __attribute__((__cleanup__(mutex_guard_unlock))) =		\
		kind##_guard_lock(m), *once = scope; once; once = NULL)

#endif
