/* SPDX-License-Identifier: GPL-2.0 */
/* What pghot takes from the kernel's mm/internal.h. */
#ifndef _MACHINE_INTERNAL_H
#define _MACHINE_INTERNAL_H

#include <linux/mmzone.h>

static inline bool migrate_balanced_pgdat(struct pglist_data *pgdat,
					  unsigned long nr_migrate_pages)
{
	struct zone *zone = &pgdat->node_zones[0];

	return zone_watermark_ok(zone, 0, zone->high + nr_migrate_pages,
				 ZONE_MOVABLE, 0);
}

#endif
