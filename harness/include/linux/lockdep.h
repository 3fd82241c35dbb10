/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_LOCKDEP_H
#define _HARNESS_LINUX_LOCKDEP_H

#define lockdep_is_held(lock)	((lock)->held)

#endif
