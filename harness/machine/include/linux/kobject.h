/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_KOBJECT_H
#define _MACHINE_LINUX_KOBJECT_H

struct kobject {
	char unused;
};

#endif
