/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_MM_H
#define _HARNESS_LINUX_MM_H

#include <string.h>

#include <linux/math.h>
#include <linux/overflow.h>
#include <linux/vmalloc.h>

#include "harness.h"

#define cond_resched()		((void)harness_resched++)

/* Only pointed to. */
struct folio;
struct vm_area_struct;
struct vm_fault;

#endif
