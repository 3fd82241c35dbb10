// SPDX-License-Identifier: GPL-2.0
/*
 * Reads of files as a source. What is used through file descriptors and not mapped
 * has no page table entry that could tell. folio_mark_accessed() does: it is called
 * for each folio that a file is read from, and by some file systems, such as tmpfs,
 * for one that is written to. What is dirty does not move anyway.
 *
 * One access is no proof of heat: who reads a file from beginning to end uses
 * each page once, and may never come back. Nor are many marks many accesses: a
 * large folio, or one that goes through a pipe, is marked with each piece. So
 * what counts is in how many parts of the window a folio was used.
 *
 * Not every mark is an access, either:
 *
 * - Where a mapping goes, its accessed bit becomes a mark. Whatever that says of
 *   the past, those who look at mapped memory have seen it; the folio is mapped
 *   still. So it is where get_user_pages() and accessed.c mark it.
 * - Reclaim marks what it has taken off its list, and so does nobody else.
 *
 * A file that is read over and over and does not fit into DRAM gains nothing by being
 * promoted: each page has another one go that is wanted as soon. Where that is found,
 * see exchange.c, few of its pages are reported.
 */
#include <linux/init.h>
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/mm.h>
#include <linux/page_idle.h>
#include <linux/pghot.h>
#include <linux/sysfs.h>
#include <linux/topology.h>

#include "../internal.h"

/* Parts of the window. In each of them a folio counts once. */
#define PAGE_CACHE_PARTS	4U

DEFINE_STATIC_KEY_FALSE(pghot_page_cache_key);

static int page_cache_start(struct pghot_source *source)
{
	static_branch_enable(&pghot_page_cache_key);
	return 0;
}

static void page_cache_stop(struct pghot_source *source)
{
	static_branch_disable(&pghot_page_cache_key);
}

static struct pghot_source page_cache = {
	.name = "page_cache",
	.counter = "numa_hint_page_cache",
	.evidence = PGHOT_COUNTS,
	.on = true,
	.alone = true,
	.tiering = true,
	.start = page_cache_start,
	.stop = page_cache_stop,
};

/* Is it the use of a file that marks @folio, and of one that is not mapped? */
static bool page_cache_used(struct folio *folio)
{
	return !folio_test_anon(folio) && READ_ONCE(folio->mapping) &&
	       folio_test_lru(folio) && !folio_mapped(folio);
}

/*
 * The first mark is made by who reads what was just written or read ahead: it never
 * makes a folio ready by itself, whatever the threshold. It is remembered by these
 * flags, whichever LRU is in use; none is set of what is never reclaimed.
 */
static bool page_cache_counts(struct folio *folio)
{
	return READ_ONCE(pghot_tunables.freq_threshold) > 1 ||
	       folio_test_referenced(folio) || folio_test_active(folio) ||
	       folio_test_workingset(folio) || folio_test_unevictable(folio);
}

/**
 * __pghot_page_cache - a folio of a lower tier, or that is idle, is marked accessed
 * @folio: the folio, as it was before the mark
 *
 * An idle one may be watched, see watch.c, and the multi-gen LRU leaves it idle.
 *
 * Context: as folio_mark_accessed(): any but NMI, with any lock held.
 */
void __pghot_page_cache(struct folio *folio)
{
	struct pghot_access access = { .nid = numa_node_id(), .weight = 1 };

	if (!page_cache_used(folio))
		return;
	if (folio_test_idle(folio))
		folio_clear_idle(folio);
	if (!node_isset(folio_nid(folio), pghot_lower_nodes) || !page_cache_counts(folio))
		return;
	if (!pghot_cache_wanted(access.nid, folio)) {
		pghot_stat_add(PGHOT_STAT_refused_no_gain, 1);
		return;
	}
	access.interval_ms = READ_ONCE(pghot_tunables.window_ms) / PAGE_CACHE_PARTS;
	pghot_record_folio(folio, &access, &page_cache);
}

/* The switch by its other name, which knows no more than on and off. */
static ssize_t page_cache_promotion_show(struct kobject *kobj,
					 struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(page_cache.running) ||
			  (READ_ONCE(page_cache.on) && !READ_ONCE(page_cache.tiering)));
}

static ssize_t page_cache_promotion_store(struct kobject *kobj,
					  struct kobj_attribute *attr,
					  const char *buf, size_t count)
{
	bool on;
	int err = kstrtobool(buf, &on);

	if (!err)
		err = pghot_source_switch(&page_cache, on, false);
	return err ? err : count;
}

static struct kobj_attribute pagecache_promotion_attr =
	__ATTR(pagecache_promotion_enabled, 0644, page_cache_promotion_show,
	       page_cache_promotion_store);

static struct attribute *numa_attrs[] = {
	&pagecache_promotion_attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(numa);

static struct kobject *numa_dir __initdata;

/**
 * pghot_numa_dir - there is /sys/kernel/mm/numa
 * @dir: the directory, which stays
 *
 * Called before there are sources; a file is made when they come.
 */
void __init pghot_numa_dir(struct kobject *dir)
{
	numa_dir = dir;
}

/* After pghot_init(). */
static int __init page_cache_init(void)
{
	int err;

	if (!pghot_booted)
		return 0;
	err = pghot_register_source(&page_cache);
	if (err || !numa_dir)
		return err;
	return sysfs_create_groups(numa_dir, numa_groups);
}
late_initcall_sync(page_cache_init);
