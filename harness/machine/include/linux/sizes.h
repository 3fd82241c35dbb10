/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_SIZES_H
#define _MACHINE_LINUX_SIZES_H

#define SZ_1M			0x100000
#define SZ_1G			0x40000000

#endif
