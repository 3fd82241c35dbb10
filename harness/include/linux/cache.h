/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_CACHE_H
#define _HARNESS_LINUX_CACHE_H

#define SMP_CACHE_BYTES		64

#endif
