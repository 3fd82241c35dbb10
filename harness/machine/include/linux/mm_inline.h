/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_MM_INLINE_H
#define _MACHINE_LINUX_MM_INLINE_H

#include <linux/mm.h>

#endif
