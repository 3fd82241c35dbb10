/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_VMALLOC_H
#define _HARNESS_LINUX_VMALLOC_H

#include <stdbool.h>
#include <stddef.h>

void *__vmalloc_node(size_t size, size_t align, unsigned int gfp, int node,
		     const void *caller);
void vfree(const void *p);
bool is_vmalloc_addr(const void *p);

#endif
