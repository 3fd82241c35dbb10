/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MEMSIM_COMPILER_H
#define MEMSIM_COMPILER_H

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#endif
