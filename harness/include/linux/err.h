/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_ERR_H
#define _HARNESS_LINUX_ERR_H

#define ERR_PTR(err)		((void *)(long)(err))
#define IS_ERR(ptr)		(!(ptr) || (unsigned long)(ptr) >= -4095UL)

#endif
