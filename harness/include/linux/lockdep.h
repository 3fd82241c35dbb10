/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_LOCKDEP_H
#define _HARNESS_LINUX_LOCKDEP_H

#include <assert.h>

#define lockdep_is_held(lock)	((lock)->held)
#define lockdep_assert_held(lock) assert(lockdep_is_held(lock))

#endif
