/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_LOG2_H
#define _HARNESS_LINUX_LOG2_H

#define ilog2(n)		(31 - __builtin_clz((unsigned int)(n)))

#endif
