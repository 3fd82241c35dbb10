/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters, each described once: /proc/vmstat, the trace events and the
 * documentation go by this list.
 */
#ifndef _MM_PGHOT_STAT_H
#define _MM_PGHOT_STAT_H

#include <linux/percpu.h>

/*
 * A record that becomes ready is moved, or skipped for one of the skip_
 * reasons, or still waits: ready = moved + all skip_ + waiting. The delay_
 * reasons count how often a waiting one could not go yet, and the refused_
 * reasons what was not recorded, as what is in_fault was not.
 */
#define PGHOT_STATS(X)							\
	X(recorded,		"accesses recorded")			\
	X(dropped,		"accesses lost: reported faster than recorded") \
	X(ready,		"records that became ready")		\
	X(moved,		"ready records whose folio was promoted") \
	X(promoted_pages,	"pages promoted")			\
	X(batches,		"batches handed to migration")		\
	X(wakeups,		"times kmigrated was woken by readiness") \
	X(refreshed,		"ready records whose page was still in use") \
	X(in_fault,		"not recorded, but left to the fault to move") \
	X(hint_spared,		"pages not unmapped, as hint faults tell nothing there") \
	X(exchange_gain,	"times that it gained something to exchange pages") \
	X(exchange_loss,	"times that it gained nothing")		\
	X(skip_stale,		"went cold before its turn")		\
	X(skip_gone,		"page was freed")			\
	X(skip_toptier,		"page is in the top tier already")	\
	X(skip_dirty,		"dirty file page")			\
	X(skip_pinned,		"page is pinned for DMA")		\
	X(skip_unmovable,	"the kernel's own page, or of hugetlb")	\
	X(skip_policy,		"its owners allow no node of the top tier") \
	X(skip_asked,		"a hint fault is to say who accesses it") \
	X(skip_migrate,		"migration was tried and failed")	\
	X(skip_offline,		"memory went offline with the record")	\
	X(skip_disabled,	"pghot was switched off with the record") \
	X(delay_rate_limit,	"rate limit of the target used up")	\
	X(delay_no_gain,	"it gains nothing, and so few are promoted") \
	X(delay_target_full,	"target has no room")			\
	X(delay_no_target,	"there is no top-tier node")		\
	X(delay_busy,		"page is in use by the kernel, or being read") \
	X(refused_exec,		"executable file page shared by processes") \
	X(refused_policy,	"cpuset or memory policy forbids the target") \
	X(refused_no_gain,	"page cache, and it gains nothing to promote that")

enum pghot_stat {
#define PGHOT_STAT_ENUM(name, ...)	PGHOT_STAT_##name,
	PGHOT_STATS(PGHOT_STAT_ENUM)
#undef PGHOT_STAT_ENUM
	NR_PGHOT_STATS
};

struct pghot_stat_counts {
	unsigned long count[NR_PGHOT_STATS];
};

DECLARE_PER_CPU(struct pghot_stat_counts, pghot_stat_counts);

extern const char *const pghot_stat_names[NR_PGHOT_STATS];

static inline void pghot_stat_add(enum pghot_stat stat, unsigned long n)
{
	this_cpu_add(pghot_stat_counts.count[stat], n);
}

unsigned long pghot_stat_read(enum pghot_stat stat);

#endif /* _MM_PGHOT_STAT_H */
