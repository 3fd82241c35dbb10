/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_PAGE_IDLE_H
#define _LINUX_PAGE_IDLE_H

#include <linux/mm.h>

#define folio_test_idle(folio)	((folio)->idle)
#define folio_set_idle(folio)	((folio)->idle = true)
#define folio_clear_idle(folio)	((folio)->idle = false)

#endif
