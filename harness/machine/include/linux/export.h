/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_EXPORT_H
#define _MACHINE_LINUX_EXPORT_H

#define EXPORT_SYMBOL_GPL(name)	extern int machine_exports

#endif
