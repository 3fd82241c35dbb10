/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_INIT_H
#define _MACHINE_LINUX_INIT_H

#endif
