/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_SYSCTL_H
#define _MACHINE_LINUX_SYSCTL_H

#endif
