/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_MINMAX_H
#define _HARNESS_LINUX_MINMAX_H

/* The pointer comparison makes the compiler reject operands of two types. */
#define __cmp(op, x, y) ({			\
	__typeof__(x) __x = (x);		\
	__typeof__(y) __y = (y);		\
	(void)(&__x == &__y);			\
	__x op __y ? __x : __y; })

#define min(x, y)		__cmp(<, x, y)
#define max(x, y)		__cmp(>, x, y)
#define min_t(type, x, y)	min((type)(x), (type)(y))
#define max_t(type, x, y)	max((type)(x), (type)(y))
#define min_not_zero(x, y) ({			\
	__typeof__(x) __a = (x);		\
	__typeof__(y) __b = (y);		\
	!__a ? __b : !__b ? __a : min(__a, __b); })
#define clamp(x, low, high)	min(max(x, low), high)

#endif
