/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_OVERFLOW_H
#define _HARNESS_LINUX_OVERFLOW_H

#include <linux/limits.h>

#define check_add_overflow(a, b, d)	__builtin_add_overflow(a, b, d)
#define check_mul_overflow(a, b, d)	__builtin_mul_overflow(a, b, d)

#define struct_size_t(type, member, n) \
	(sizeof(type) + (size_t)(n) * sizeof(((type *)0)->member[0]))

#endif
