/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_NUMA_H
#define _HARNESS_LINUX_NUMA_H

#define NUMA_NO_NODE		(-1)

#endif
