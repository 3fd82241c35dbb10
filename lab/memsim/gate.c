// SPDX-License-Identifier: GPL-2.0
/*
 * QEMU has a thread for all CPUs, and a main thread that moves the clock on while
 * all of them are halted, and runs timers. The main thread looks at the CPUs when the
 * host lets it, also while they execute. So it can find the last one just halted
 * and its instructions not yet counted, and move the clock on by that much too far;
 * or run a timer in the middle of a CPU's turn. Here the two take turns, and what
 * each finds depends on nothing of the host.
 *
 * The main thread is held where it comes out of ppoll(), which is where it waits for
 * something to do. The CPUs' thread does nothing while it waits on a condition that
 * nobody has signalled.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "die.h"
#include "gate.h"

#define EXPORT	__attribute__((visibility("default")))

/* The version that QEMU is linked with. Older ones have another structure. */
#define CONDITION	"GLIBC_2.3.2"

/* Between two looks at whether QEMU is to end, in nanoseconds of the host. */
#define LOOK_NS		50000000
#define NS_PER_S	1000000000

static struct {
	int (*ppoll)(struct pollfd *fds, nfds_t n, const struct timespec *limit,
		     const sigset_t *signals);
	int (*wait)(pthread_cond_t *c, pthread_mutex_t *m);
	int (*signal)(pthread_cond_t *c);
	int (*broadcast)(pthread_cond_t *c);
} real;

/* QEMU's own. */
static bool (*bql_locked)(void);
static int (*shutdown_requested)(void);
static int (*reset_requested)(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* Under the lock. */
static _Atomic bool closed;	/* read without it too */
static bool main_is_out;	/* it does nothing, or is held */
static const pthread_cond_t *awaited;	/* by the CPUs' thread; NULL: it runs */

static __thread bool runs_cpus;

static void *find(void *f, const char *name)
{
	if (!f)
		die("QEMU 10.0 and the GNU C library are needed: there is no ", name);
	return f;
}

static void find_all(void)
{
	real.ppoll = find(dlsym(RTLD_NEXT, "ppoll"), "ppoll");
	real.wait = find(dlvsym(RTLD_NEXT, "pthread_cond_wait", CONDITION),
			 "pthread_cond_wait");
	real.signal = find(dlvsym(RTLD_NEXT, "pthread_cond_signal", CONDITION),
			   "pthread_cond_signal");
	real.broadcast = find(dlvsym(RTLD_NEXT, "pthread_cond_broadcast", CONDITION),
			      "pthread_cond_broadcast");
}

/* Not when this is loaded: others that are may come first. */
static void ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_all);
}

EXPORT void gate_close(void)
{
	bql_locked = find(dlsym(RTLD_DEFAULT, "bql_locked"), "bql_locked");
	shutdown_requested = find(dlsym(RTLD_DEFAULT, "qemu_shutdown_requested_get"),
				  "qemu_shutdown_requested_get");
	reset_requested = find(dlsym(RTLD_DEFAULT, "qemu_reset_requested_get"),
			       "qemu_reset_requested_get");
	ready();
	pthread_mutex_lock(&lock);
	runs_cpus = true;
	closed = true;
	while (!main_is_out)
		real.wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

/* Whether QEMU is to end: what the guest does from now on counts for nothing. */
static bool ends(void)
{
	return shutdown_requested() || reset_requested();
}

static void leave(void)
{
	pthread_mutex_lock(&lock);
	main_is_out = true;
	real.broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void come_in(void)
{
	struct timespec until;

	pthread_mutex_lock(&lock);
	while (closed && !awaited && !ends()) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += LOOK_NS;
		until.tv_sec += until.tv_nsec / NS_PER_S;
		until.tv_nsec %= NS_PER_S;
		pthread_cond_timedwait(&changed, &lock, &until);
	}
	main_is_out = false;
	pthread_mutex_unlock(&lock);
}

EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *limit,
		 const sigset_t *signals)
{
	int result, error;

	ready();
	/* With QEMU's lock held it waits in the middle of something. */
	if (getpid() != gettid() || (closed && bql_locked()))
		return real.ppoll(fds, n, limit, signals);
	leave();
	result = real.ppoll(fds, n, limit, signals);
	error = errno;
	come_in();
	errno = error;
	return result;
}

/* The CPUs' thread waits on @c, or no longer. */
static void set_awaited(const pthread_cond_t *c)
{
	pthread_mutex_lock(&lock);
	awaited = c;
	real.broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	int result;

	ready();
	if (!runs_cpus)
		return real.wait(c, m);
	set_awaited(c);
	result = real.wait(c, m);
	set_awaited(NULL);
	return result;
}

/* Who waits on @c runs again, whenever the host lets it. */
static void wake(const pthread_cond_t *c)
{
	ready();
	pthread_mutex_lock(&lock);
	if (awaited == c)
		awaited = NULL;
	pthread_mutex_unlock(&lock);
}

EXPORT int pthread_cond_signal(pthread_cond_t *c)
{
	wake(c);
	return real.signal(c);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *c)
{
	wake(c);
	return real.broadcast(c);
}
