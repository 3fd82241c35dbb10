/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_FREEZER_H
#define _MACHINE_LINUX_FREEZER_H

#include <linux/mm.h>

#endif
