/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_PREFETCH_H
#define _HARNESS_LINUX_PREFETCH_H

#define prefetch(x)		__builtin_prefetch(x)
#ifdef __x86_64__
/* As the kernel does; compilers take the other kind unless told of the CPU. */
#define prefetchw(x) \
	asm volatile("prefetchw %0" : : "m" (*(const char *)(x)))
#else
#define prefetchw(x)		__builtin_prefetch(x, 1)
#endif

#endif
