/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_GFP_H
#define _HARNESS_LINUX_GFP_H

#include <stddef.h>

#define GFP_KERNEL		0x1u
#define __GFP_ZERO		0x2u
#define __GFP_NORETRY		0x4u
#define __GFP_NOWARN		0x8u
#define __GFP_RETRY_MAYFAIL	0x10u
#define __GFP_THISNODE		0x20u

typedef unsigned int gfp_t;

void *alloc_pages_exact_nid(int nid, size_t size, unsigned int gfp);
void free_pages_exact(void *virt, size_t size);

#endif
