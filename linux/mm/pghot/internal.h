/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of pghot share. */
#ifndef _MM_PGHOT_INTERNAL_H
#define _MM_PGHOT_INTERNAL_H

#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kobject.h>
#include <linux/mutex.h>
#include <linux/minmax.h>
#include <linux/nodemask.h>
#include <linux/sched/sysctl.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "gain.h"
#include "hotmap.h"
#include "policy.h"
#include "stat.h"

struct folio;
struct mem_cgroup;
struct mempolicy;
struct mm_struct;
struct pghot_exchange;
struct pghot_pass;
struct pghot_source;
struct seq_file;
struct task_struct;
struct vm_area_struct;

/**
 * struct pghot_node - a lower-tier node
 * @map: its part of the hot map
 * @active: it has memory now, and a thread
 * @kmigrated: its thread
 * @pass: the thread's working memory
 * @wait: where the thread sleeps
 * @kick: there may be something ready that the thread has not seen
 * @crowded: when the thread was last seen to work, others waited for its CPU
 * @wake_work: wakes the thread from contexts that cannot
 * @closed: accessing nodes whose pages no target takes from here for now: the
 *	    thread looks again by itself, and is not woken for them
 * @strays_closed: the same for pages of which nobody knows who accesses them
 * @all_closed: there are targets, and each is closed
 * @expired_ms: when the thread last had the map forget what is too old
 * @promoted: pages promoted from here
 * @kobj: its directory in sysfs
 * @unseen: records that the thread is to look at and that became ready since it
 *	    last began to look; in a cache line of its own, for each of those who
 *	    report writes it, and they all read @kick and @closed
 *
 * Made when the node first gets memory and kept from then on, so that whoever
 * found it may use it without a lock. @active, @kmigrated and @pass change under
 * pghot_lock. @kick, @unseen and @promoted are written by whoever reports or moves
 * pages; the others by the thread alone, and read by those who report.
 */
struct pghot_node {
	struct pghot_map_node map;
	bool active;
	struct task_struct *kmigrated;
	struct pghot_pass *pass;
	wait_queue_head_t wait;
	bool kick;
	bool crowded;
	struct irq_work wake_work;
	nodemask_t closed;
	bool strays_closed;
	bool all_closed;
	u32 expired_ms;
	atomic_long_t promoted;
	struct kobject kobj;
	atomic_long_t unseen ____cacheline_aligned_in_smp;
};

/**
 * struct pghot_from - what a target knows of a lower-tier node
 * @had: pages let through from it, in comparison to the others that wait
 * @claims: how many promoters of it were refused and wait for more
 */
struct pghot_from {
	long had;
	unsigned int claims;
};

/* What migrates has no more. */
#define PGHOT_KEEP_ORDERS	(MAX_PAGE_ORDER + 1)

/**
 * struct pghot_keep - room that a target keeps for a large folio
 * @order: its order, or 0
 * @on: smaller ones are to leave it that much
 * @others: pages of smaller ones that came while they did not
 * @asked: orders of folios that wait, by bit; if it is on, not the one that it is for
 *	   unless that was met since
 * @since_ms: since when it is on
 * @vain: so often since one came it was kept in vain, by order
 */
struct pghot_keep {
	unsigned int order;
	bool on;
	unsigned long others;
	unsigned long asked;
	u32 since_ms;
	u8 vain[PGHOT_KEEP_ORDERS];
};

/**
 * struct pghot_target - a top-tier node
 * @nid: the node
 * @active: it has memory now
 * @kobj: its directory in sysfs
 * @exchange: pages that came and went, which are watched
 * @cache_exchange: the same for page cache that came
 * @speed: how fast it takes pages, for what that gains; exchange.c writes it
 * @cache_held: by which power of two less page cache is to come; so does this
 * @gain_percent: what that was when it was last known, or 0
 * @cache_gain_percent: the same for page cache
 * @room_awaited: nodes wait for room
 * @room_for: they
 * @room_left: some of the pages that left since somebody looked whether there is room
 * @room_most: the largest folio that they wait for room for
 * @room_made: how often there was, for those who waited
 * @lock: protects what follows
 * @bucket: what the rate limit lets through
 * @keep: what is kept for a large folio; whether any is may be asked without
 * @promoted: pages promoted to here; needs no lock
 * @in_fault: pages that hint faults were to bring within its rate limit
 * @from: of each node
 *
 * Kept once made, as struct pghot_node is.
 */
struct pghot_target {
	int nid;
	bool active;
	struct kobject kobj;
	struct pghot_exchange *exchange;
	struct pghot_exchange *cache_exchange;
	struct pghot_speed speed;
	u32 cache_held;
	u32 gain_percent;
	u32 cache_gain_percent;
	bool room_awaited;
	nodemask_t room_for;
	unsigned long room_left;
	unsigned long room_most;
	atomic_long_t room_made;
	spinlock_t lock ____cacheline_aligned_in_smp;
	struct pghot_bucket bucket;
	struct pghot_keep keep;
	atomic_long_t promoted;
	atomic_long_t in_fault;
	struct pghot_from from[];
};

/**
 * struct pghot_room - where one access is enough, as with hint faults
 * @plenty: nodes of the top tier that have plenty of free memory
 * @everywhere: all of them that pages are promoted to
 * @gains: all others of those were known to gain by what comes, when that was last looked at
 */
struct pghot_room {
	nodemask_t plenty;
	bool everywhere;
	bool gains;
};

/**
 * struct pghot_share - what a target takes from one node just now
 * @pages: how much; ULONG_MAX for no limit
 * @others: other nodes wait for it too: what is more than @pages is theirs
 * @full: it is room that bounds it, not tokens
 */
struct pghot_share {
	unsigned long pages;
	bool others;
	bool full;
};

/* Of so many memory cgroups a batch has pages, as long as it is of default size. */
#define PGHOT_BILL_SHARES	PGHOT_BATCH_PAGES

/**
 * struct pghot_bill - whose pages a batch moves
 * @nr: memory cgroups that have a share
 * @pages: pages of all, of those without a share too
 * @share: memory cgroup, with a reference, and its pages
 */
struct pghot_bill {
	unsigned int nr;
	unsigned long pages;
	struct {
		struct mem_cgroup *memcg;
		unsigned long pages;
	} share[PGHOT_BILL_SHARES];
};

/* core.c */
extern bool pghot_booted;
extern struct pghot_map pghot_map;
extern struct pghot_tunables pghot_tunables;
extern u32 pghot_batch_pages;
extern u32 pghot_period_ms;

/* source.c */
int pghot_set_enabled(bool on);
bool pghot_is_enabled(void);
int pghot_source_switch(struct pghot_source *source, bool on, bool tiering);
void pghot_sources_show(struct seq_file *m);
void pghot_sources_init(struct kobject *parent);

/* ring.c */
int pghot_ring_alloc(struct pghot_source *source);
void pghot_ring_sync(struct pghot_source *source);
u64 pghot_ring_spent_ns(const struct pghot_source *source, int cpu);
void pghot_ring_free(struct pghot_source *source);

/* nodes.c */
extern struct mutex pghot_lock;
/* By ID; changed under pghot_lock. */
extern struct pghot_node *pghot_nodes[MAX_NUMNODES];
int pghot_nodes_enable(bool enable);
void pghot_nodes_forget(void);
bool pghot_all_waiting(void);
bool pghot_few_ready(void);
int pghot_nodes_init(struct kobject *parent);

/**
 * pghot_node - a lower-tier node
 * @nid: its ID
 *
 * Return: the node, or NULL if it never had memory in a lower tier.
 */
static inline struct pghot_node *pghot_node(int nid)
{
	/* Pairs with the release in nodes_start(). */
	return smp_load_acquire(&pghot_nodes[nid]);
}

/* sysfs.c */
int pghot_sysfs_init(struct kobject **pghot, struct kobject **sources);
void pghot_sysfs_exit(void);

/* sysfs_node.c */
void pghot_node_add_dir(struct pghot_node *node, struct kobject *parent);
void pghot_target_add_dir(struct pghot_target *target, struct kobject *parent);
void pghot_del_dir(struct kobject *kobj);

/* report.c */
struct folio *pghot_tracked_folio(unsigned long pfn,
				  const struct pghot_map_node *node,
				  enum pghot_verdict *verdict);
bool pghot_record_pfn(unsigned long *pfn, unsigned long *nr);

/* wake.c */
void pghot_wake_init(struct pghot_node *node);
void pghot_wake_kmigrated(struct pghot_node *node, int nid);
void pghot_wake_seen(struct pghot_node *node);
void pghot_wake_for_room(int nid);
bool pghot_is_waiting(int nid, int from);
bool pghot_is_behind(int nid);

/* target.c */
struct pghot_target *pghot_target(int nid);
int pghot_target_sync(int nid, struct kobject *parent);
bool pghot_target_active(int nid);
bool pghot_may_promote_to(int nid);
void pghot_look_for_room(struct pghot_room *room);
int pghot_next_target(int nid, int src, const nodemask_t *allowed, int last);
bool pghot_target_slowed(int nid);
bool pghot_take_tokens(int nid, int src, unsigned long nr_pages,
		       unsigned long *paid, u32 *wait_ms);
void pghot_return_tokens(int nid, int src, unsigned long nr_pages);
void pghot_target_claim(int nid, int src, bool claims);
void pghot_target_share(int nid, int src, struct pghot_share *share);

/* room.c */
bool pghot_has_room(int nid, unsigned long nr_pages);
bool pghot_has_block(int nid, unsigned int order);
void pghot_make_room(int nid, unsigned int order);
unsigned long pghot_room_pages(int nid);
unsigned long pghot_room_await(struct pghot_target *target, int src,
			       unsigned long nr_pages);
bool pghot_room_made(const struct pghot_target *target, unsigned long since);
void pghot_room_left(struct pghot_target *target, unsigned long nr_pages);

/* keep.c */
void pghot_keep_ask(int nid, unsigned int order);
unsigned long pghot_keep_pages(int nid, unsigned int order);
void pghot_keep_took(int nid, unsigned int order);

/*
 * owners.c: a folio that more VMAs than this may map stays where it is. Looking
 * is no longer cheap then, and moving it would interrupt them all.
 */
#define PGHOT_OWNERS_MAX	4096U
void pghot_policy_filter(const struct mempolicy *pol, int src,
			 nodemask_t *nodes);
void pghot_process_allows(struct mm_struct *mm, bool has_policy, int src,
			  nodemask_t *nodes);
bool pghot_owners_allow(struct folio *folio, nodemask_t *nodes);

/* source/page_table_near.c */
void pghot_near_fault(const struct mm_struct *mm, unsigned long addr, int nid);

/* in_fault.c */
bool pghot_fault_allowed(struct folio *folio, struct mm_struct *mm,
			 bool has_policy, int nid);
bool pghot_fault_moves(struct folio *folio, struct mm_struct *mm,
		       bool has_policy, int nid, int target);

/**
 * enum pghot_accessed - what was found in the page tables
 * @PGHOT_NOT_ACCESSED: no accessed bit was set
 * @PGHOT_ACCESSED: some were, and none is now
 * @PGHOT_ACCESS_UNKNOWN: not all could be looked at; some may be set still
 */
enum pghot_accessed {
	PGHOT_NOT_ACCESSED,
	PGHOT_ACCESSED,
	PGHOT_ACCESS_UNKNOWN,
};

/* ask.c */
void pghot_ask_sync(void);
void pghot_ask_enable(bool enable);
bool pghot_ask_vma(struct vm_area_struct *vma, unsigned long addr);
bool pghot_ask_folio(struct folio *folio, struct vm_area_struct *vma);

/* accessed.c */
enum pghot_accessed pghot_clear_accessed(struct folio *folio,
					 unsigned int *left);
enum pghot_accessed pghot_flush_accessed(struct folio *folio);

/* exchange.c */
extern u32 pghot_backoff, pghot_held_back;
void pghot_exchange_sum_up(void);
int pghot_exchange_sync(int nid);
bool pghot_cache_wanted(int nid, const struct folio *folio);
void pghot_tell_accessed(struct folio *folio, bool recency);

/* memcg.c */
void pghot_bill_add(struct pghot_bill *bill, struct folio *folio);
void pghot_bill_settle(struct pghot_bill *bill, u64 ns);

/* pass.c */
struct pghot_pass *pghot_pass_alloc(struct pghot_node *node);
void pghot_pass_free(struct pghot_pass *p);
u32 pghot_pass_run(struct pghot_pass *p);
void pghot_pass_park(struct pghot_pass *p);

/* kmigrated.c */
int pghot_kmigrated_start(struct pghot_node *node);
void pghot_kmigrated_stop(struct pghot_node *node);
bool pghot_is_kmigrated(struct task_struct *task);

/**
 * pghot_rate_bytes - the rate limit in bytes a second
 *
 * One variable serves kernel.numa_balancing_promote_rate_limit_MBps and the
 * file in sysfs; the sysctl allows more than makes sense.
 *
 * Return: bytes a second.
 */
static inline u64 pghot_rate_bytes(void)
{
	u64 mbps = READ_ONCE(sysctl_numa_balancing_promote_rate_limit);

	return min_t(u64, mbps, PGHOT_RATE_MBPS_MAX) * SZ_1M;
}

/**
 * pghot_target_rate - how fast a target takes pages just now
 * @target: the target
 *
 * Return: bytes a second: the rate limit, or less where promotion gains nothing.
 */
static inline u64 pghot_target_rate(const struct pghot_target *target)
{
	u64 rate = READ_ONCE(target->speed.rate), limit = pghot_rate_bytes();

	return rate && READ_ONCE(pghot_backoff) ? min(rate, limit) : limit;
}

/*
 * The clock of all records. Milliseconds since boot, wrapping: converted from
 * jiffies because that can be read in any context, but never in ticks. Jiffies
 * begin five minutes before they wrap in 32 bits, and records would forget all
 * then: count from where they began.
 */
static inline u32 pghot_now_ms(void)
{
	return jiffies_to_msecs(jiffies - INITIAL_JIFFIES);
}

/**
 * pghot_window_turn - whose turn it is in this window
 *
 * Return: a number that is another one in the next window.
 */
static inline u32 pghot_window_turn(void)
{
	return pghot_now_ms() / READ_ONCE(pghot_tunables.window_ms);
}

/**
 * pghot_held_wants - is a page of a lower tier one of those that are looked for
 * @held: by which power of two fewer of them are
 * @pfn: the page
 *
 * A few of all pages are, and others in each window.
 *
 * Return: true if it is.
 */
static inline bool pghot_held_wants(u32 held, unsigned long pfn)
{
	/* Each has its turn, also with who looks once in so many windows. */
	return likely(!held) || hash_64(pfn, held) == hash_32(pghot_window_turn(), held);
}

#endif /* _MM_PGHOT_INTERNAL_H */
