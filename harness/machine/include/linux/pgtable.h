/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_PGTABLE_H
#define _MACHINE_LINUX_PGTABLE_H

/* A page table maps 2 MiB. */
#define PMD_SHIFT	21

#endif
