/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_SWAP_H
#define _MACHINE_LINUX_SWAP_H

#include <linux/mm.h>

#endif
