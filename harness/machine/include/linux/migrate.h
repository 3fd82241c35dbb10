/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_MIGRATE_H
#define _MACHINE_LINUX_MIGRATE_H

#include <linux/mm.h>

int migrate_misplaced_folio_prepare(struct folio *folio,
				    struct vm_area_struct *vma, int node);
unsigned int migrate_misplaced_folios(struct list_head *folios, int node,
				      bool promote, unsigned int *nr_pages);

#endif
