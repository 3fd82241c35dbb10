/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_CLEANUP_H
#define _MACHINE_LINUX_CLEANUP_H

#include <linux/mutex.h>

#endif
