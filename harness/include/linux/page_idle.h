/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_PAGE_IDLE_H
#define _LINUX_PAGE_IDLE_H

#define folio_test_idle(folio)	(false)

#endif
