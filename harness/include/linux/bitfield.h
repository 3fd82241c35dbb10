/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_BITFIELD_H
#define _HARNESS_LINUX_BITFIELD_H

#define FIELD_GET(mask, value)	(((value) & (mask)) / ((mask) & -(mask)))
#define FIELD_PREP(mask, value)	((value) * ((mask) & -(mask)) & (mask))
#define FIELD_FIT(mask, value)	(!(((value) * ((mask) & -(mask))) & ~(mask)))
#define FIELD_MAX(mask)		((mask) / ((mask) & -(mask)))

#endif
