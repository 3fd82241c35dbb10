/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_JUMP_LABEL_H
#define _MACHINE_LINUX_JUMP_LABEL_H

#include <stdbool.h>

#define DECLARE_STATIC_KEY_FALSE(name)	extern bool name
#define DEFINE_STATIC_KEY_FALSE(name)	bool name
#define static_branch_unlikely(key)	(*(key))

#endif
