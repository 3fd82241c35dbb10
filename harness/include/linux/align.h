/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_ALIGN_H
#define _HARNESS_LINUX_ALIGN_H

#define ALIGN_DOWN(x, a)	((x) & ~((__typeof__(x))(a) - 1))
#define IS_ALIGNED(x, a)	(((x) & ((__typeof__(x))(a) - 1)) == 0)
#define ALIGN(x, a)		ALIGN_DOWN((x) + (a) - 1, a)

#endif
