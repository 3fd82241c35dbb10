/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_SLAB_H
#define _HARNESS_LINUX_SLAB_H

#include <stddef.h>

#include <linux/gfp.h>

void *kvzalloc(size_t size, unsigned int gfp);
void *kvcalloc(size_t n, size_t size, unsigned int gfp);
void kvfree(const void *p);
void *kzalloc(size_t size, unsigned int gfp);
void kfree(const void *p);

#define kvzalloc_obj(obj)	((typeof(&(obj)))kvzalloc(sizeof(obj), GFP_KERNEL))
#define kvzalloc_flex(obj, member, n) \
	((typeof(&(obj)))kvzalloc(sizeof(obj) + (n) * sizeof((obj).member[0]), GFP_KERNEL))
#define kzalloc_obj(obj)	((typeof(&(obj)))kzalloc(sizeof(obj), GFP_KERNEL))
#define kzalloc_flex(obj, member, n) \
	((typeof(&(obj)))kzalloc(sizeof(obj) + (n) * sizeof((obj).member[0]), GFP_KERNEL))

#endif
