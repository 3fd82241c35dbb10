/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_MMZONE_H
#define _HARNESS_LINUX_MMZONE_H

/* 128 MiB of 4 KiB pages, as on x86-64. */
#define PAGE_SHIFT		12
#define PFN_SECTION_SHIFT	15
#define PAGES_PER_SECTION	(1UL << PFN_SECTION_SHIFT)

static inline unsigned long pfn_to_section_nr(unsigned long pfn)
{
	return pfn >> PFN_SECTION_SHIFT;
}

static inline unsigned long section_nr_to_pfn(unsigned long sec)
{
	return sec << PFN_SECTION_SHIFT;
}

#endif
