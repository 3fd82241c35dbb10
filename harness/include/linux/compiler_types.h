/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_COMPILER_TYPES_H
#define _HARNESS_LINUX_COMPILER_TYPES_H

#include <linux/compiler.h>

#endif
