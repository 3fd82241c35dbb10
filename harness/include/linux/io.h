/* SPDX-License-Identifier: GPL-2.0 */
/* Registers of a device that the test has. */
#ifndef _HARNESS_LINUX_IO_H
#define _HARNESS_LINUX_IO_H

#include <linux/types.h>

u64 readq(const void *at);
u16 readw(const void *at);
void writeq(u64 value, void *at);
void writew(u16 value, void *at);

#endif
