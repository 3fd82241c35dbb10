/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_SORT_H
#define _MACHINE_LINUX_SORT_H

#include <stdlib.h>

#define sort(base, num, size, cmp, swap) qsort(base, num, size, cmp)

#endif
