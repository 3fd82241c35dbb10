/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_PREFETCH_H
#define _HARNESS_LINUX_PREFETCH_H

#define prefetch(x)		__builtin_prefetch(x)
#define prefetchw(x)		__builtin_prefetch(x, 1)

#endif
