/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_MUTEX_H
#define _MACHINE_LINUX_MUTEX_H

struct mutex {
	char unused;
};

#endif
