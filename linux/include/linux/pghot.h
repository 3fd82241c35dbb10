/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hot page tracking and promotion: what other kernel code calls.
 *
 * See Documentation/mm/pghot.rst.
 */
#ifndef _LINUX_PGHOT_H
#define _LINUX_PGHOT_H

#include <linux/jump_label.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/numa.h>
#include <linux/page_idle.h>
#include <linux/sched/sysctl.h>
#include <linux/types.h>

struct attribute_group;
struct folio;
struct kobject;
struct mem_cgroup;
struct pghot_ring;
struct pghot_source_dir;
struct seq_buf;
struct seq_file;
struct vm_fault;

/* What recording an access did. */
enum pghot_recorded {
	PGHOT_UNTRACKED,	/* no map for this page: not in a lower tier */
	PGHOT_COUNTED,
	PGHOT_BECAME_READY,
};

/**
 * struct pghot_access - accesses to one page
 * @pfn: the page; for a large folio its first page
 * @nid: node that it is accessed from, or NUMA_NO_NODE; a number that no node has
 *	 says as much
 * @weight: how many accesses
 * @interval_ms: time up to now in which these were counted; 0 if they happen
 *		 now. What other sources saw in that time is not counted again.
 * @anew: nobody accessed the page for a window before: what was counted up to
 *	  then is forgotten, unless the page is ready
 */
struct pghot_access {
	unsigned long pfn;
	int nid;
	u32 weight;
	u32 interval_ms;
	bool anew;
};

/**
 * enum pghot_evidence - what the reports of a source are worth
 * @PGHOT_ACCESSES: accesses, each of which counts; some may be over an interval
 * @PGHOT_PROOF: pages that something else has found hot: ready at once
 * @PGHOT_COUNTS: accesses counted over an interval
 */
enum pghot_evidence {
	PGHOT_ACCESSES,
	PGHOT_PROOF,
	PGHOT_COUNTS,
};

/**
 * struct pghot_source - who reports accesses
 * @name: its directory in /sys/kernel/mm/pghot/sources/, and part of a counter
 * @counter: one more name of that counter, or NULL
 * @evidence: what its reports are worth
 * @on: its switch; what it is set to at first, then it changes under the lock
 *	that start() and stop() are called with
 * @alone: works without NUMA balancing: kswapd keeps memory free for promotion.
 *	   All others run only while NUMA balancing has memory tiering on.
 * @tiering: it works without, but runs only while NUMA balancing has memory tiering
 *	     on; until somebody switches it on or off
 * @nmi: reports by pghot_record_nmi()
 * @files: more files for its directory, ended by NULL, or NULL
 * @start: begin to report; may sleep; may be NULL
 * @stop: report no more; may sleep; may be NULL
 *
 * For pghot alone:
 * @running: between start() and stop()
 * @accesses: recorded accesses, of each CPU
 * @ring: what it has reported from NMIs, of each CPU
 * @dir: its directory, NULL when it is being removed
 * @list: links all sources
 */
struct pghot_source {
	const char *name;
	const char *counter;
	enum pghot_evidence evidence;
	bool on;
	bool alone;
	bool tiering;
	bool nmi;
	const struct attribute_group **files;
	int (*start)(struct pghot_source *source);
	void (*stop)(struct pghot_source *source);

	bool running;
	unsigned long __percpu *accesses;
	struct pghot_ring __percpu *ring;
	struct pghot_source_dir *dir;
	struct list_head list;
};

/* What becomes of a page that is offered for promotion. */
enum pghot_verdict {
	PGHOT_PROMOTED,
	/* It stays, as things are: */
	PGHOT_GONE,		/* free, offline, or not on the promoter's node */
	PGHOT_TOPTIER,		/* it is there already */
	PGHOT_DIRTY,		/* of a file */
	PGHOT_PINNED,		/* for DMA: it cannot move */
	PGHOT_UNMOVABLE,	/* the kernel's own, or of hugetlb */
	PGHOT_POLICY,		/* its owners allow no node of the top tier */
	PGHOT_FARTHER,		/* none is nearer to who accesses it */
	PGHOT_FAILED,		/* migration was tried and failed */
	PGHOT_ASKED,		/* its next access will say who accesses it */
	/* It stays for now: */
	PGHOT_BUSY,		/* in use by the kernel, or page cache that is being read */
	PGHOT_NO_TARGET,	/* there is no node in the top tier */
	PGHOT_WAITS_ROOM,	/* no target has room */
	PGHOT_WAITS_RATE,	/* the target's rate limit is used up */
	PGHOT_WAITS_TURN,	/* others go first */
	NR_PGHOT_VERDICTS
};

/**
 * typedef pghot_weigh_fn - say how much counts of what a range reports of a folio
 * @access: the report; its page is the first of the folio, also where the range has others
 * @data: the source's
 *
 * It says so of this report alone, before the interval and the evidence are reckoned in.
 *
 * Context: that of pghot_record_range().
 *
 * Return: the weight of the report; 0 if there is nothing to report.
 */
typedef u32 (*pghot_weigh_fn)(const struct pghot_access *access, void *data);

/**
 * struct pghot_scan_pfns - pages that a scan for hint faults may find something in
 * @first: the first one
 * @nr: how many from there on
 *
 * All of lower tiers are among them. Only what comes online, or changes its tier, is not for a
 * moment, and is then left out by a scan or two. So it may be with others while the two fields
 * change one after the other.
 */
struct pghot_scan_pfns {
	unsigned long first;
	unsigned long nr;
};

/**
 * struct pghot_range - pages that are hot
 * @pfn: the first page
 * @nr: number of pages
 * @nid: node that they are accessed from, or NUMA_NO_NODE
 * @heat: how hot, in a unit of the caller's choice; more is hotter
 */
struct pghot_range {
	unsigned long pfn;
	unsigned long nr;
	int nid;
	unsigned int heat;
};

struct pghot_promoter;

#ifdef CONFIG_PGHOT

DECLARE_STATIC_KEY_FALSE(pghot_hint_fault_key);
DECLARE_STATIC_KEY_FALSE(pghot_headroom_key);
DECLARE_STATIC_KEY_FALSE(pghot_exchange_key);
DECLARE_STATIC_KEY_FALSE(pghot_page_cache_key);
extern nodemask_t pghot_lower_nodes;
DECLARE_STATIC_KEY_FALSE(pghot_young_key);

int pghot_register_source(struct pghot_source *source);
void pghot_unregister_source(struct pghot_source *source);

enum pghot_recorded pghot_record(const struct pghot_access *access,
				 struct pghot_source *source);
enum pghot_recorded pghot_record_folio(struct folio *folio,
				       const struct pghot_access *access,
				       struct pghot_source *source);
bool pghot_record_range(const struct pghot_access *access, unsigned long nr,
			struct pghot_source *source, pghot_weigh_fn weigh, void *data);
bool pghot_record_nmi(const struct pghot_access *accesses, unsigned int nr,
		      struct pghot_source *source);

struct pghot_promoter *pghot_promoter_create(int nid);
void pghot_promoter_free(struct pghot_promoter *p);
int pghot_promote_ranges(struct pghot_promoter *p, struct pghot_range *ranges,
			 unsigned int nr, unsigned long max_pages,
			 unsigned long pages[NR_PGHOT_VERDICTS]);

bool __pghot_decides(struct folio *folio);
int __pghot_hint_fault(struct folio *folio, struct vm_fault *vmf, int nid,
		       int *fault_nid);
bool __pghot_hint_wanted(const struct folio *folio);
extern struct pghot_scan_pfns pghot_scan_pfns;
unsigned long __pghot_scan(struct vm_area_struct *vma, unsigned long start, unsigned long end);
void __pghot_moved(const struct folio *dst, const struct folio *src);
void __pghot_page_cache(struct folio *folio);
bool __pghot_marks_young(int nid);
bool __pghot_take_young(struct folio *folio);
bool __pghot_zap_young(struct folio *folio, int nr);
void pghot_balancing_changes(int mode);
void pghot_balancing_changed(void);
void pghot_tiers_changed(void);
void pghot_numa_dir(struct kobject *dir);
void pghot_vmstat_show(struct seq_file *m);
void pghot_memcg_show(struct seq_buf *s, struct mem_cgroup *memcg);

/**
 * pghot_decides - is it pghot that decides whether a folio is hot
 * @folio: a folio that a hint fault found
 *
 * Only asks: it is pghot_hint_fault() that takes the decision over. The answer
 * may have changed by then: see "What stays as it was" in
 * Documentation/mm/pghot.rst.
 *
 * Return: true if it is, false if NUMA balancing does.
 */
static inline bool pghot_decides(struct folio *folio)
{
	return static_branch_unlikely(&pghot_hint_fault_key) &&
	       folio_use_access_time(folio) && __pghot_decides(folio);
}

/**
 * pghot_hint_fault - let pghot decide about a folio that a hint fault found
 * @folio: the folio
 * @vmf: the fault
 * @nid: node that memory policy wants it on, or NUMA_NO_NODE if it is not
 *	 misplaced
 * @fault_nid: node that the fault is to be booked on; set to where the folio
 *	       goes if this fault is why it goes, and it need not wait
 *
 * Context: page table lock held; does not sleep.
 *
 * Return: node to migrate the folio to within the fault, or NUMA_NO_NODE.
 */
static inline int pghot_hint_fault(struct folio *folio, struct vm_fault *vmf,
				   int nid, int *fault_nid)
{
	if (nid == NUMA_NO_NODE || !pghot_decides(folio))
		return nid;
	return __pghot_hint_fault(folio, vmf, nid, fault_nid);
}

/**
 * pghot_hint_wanted - is a page of a lower tier to be unmapped for a hint fault
 * @folio: its folio
 *
 * Context: page table lock held; does not sleep.
 *
 * Return: false if nobody would promote it.
 */
static inline bool pghot_hint_wanted(const struct folio *folio)
{
	return !static_branch_unlikely(&pghot_hint_fault_key) ||
	       __pghot_hint_wanted(folio);
}

/**
 * pghot_scan - unmap pages of a mapping for hint faults, as change_prot_numa() does
 * @vma: the mapping
 * @start: first address
 * @end: address behind it
 *
 * Where few pages are wanted most page tables are left out.
 *
 * Return: how many pages were unmapped, or 1 if all page tables were left out.
 */
static inline unsigned long pghot_scan(struct vm_area_struct *vma, unsigned long start,
				       unsigned long end)
{
	return static_branch_unlikely(&pghot_hint_fault_key) ?
	       __pghot_scan(vma, start, end) : change_prot_numa(vma, start, end);
}

/**
 * pghot_scan_passes - is there no use in a hint fault on a page, by its number alone
 * @pfn: the page
 *
 * Memory tiering has no use for faults in the top tier. To know by its folio that a page is there
 * costs the scanner a line of memory, and in the long run most pages that it goes through are.
 *
 * Return: true if so, which the folio's node would say, too; false if the folio decides.
 */
static inline bool pghot_scan_passes(unsigned long pfn)
{
	return static_branch_unlikely(&pghot_hint_fault_key) &&
	       pfn - READ_ONCE(pghot_scan_pfns.first) >= READ_ONCE(pghot_scan_pfns.nr) &&
	       !(READ_ONCE(sysctl_numa_balancing_mode) & NUMA_BALANCING_NORMAL);
}

/**
 * pghot_needs_headroom - do pages come to the top tier without NUMA balancing
 *
 * NUMA balancing's memory tiering mode makes kswapd keep free memory for
 * promotion. So must any other source of promotion.
 *
 * Return: true if a source is on that works without it.
 */
static inline bool pghot_needs_headroom(void)
{
	return static_branch_unlikely(&pghot_headroom_key);
}

/**
 * pghot_moved - a folio has moved
 * @dst: the new folio
 * @src: the old one
 *
 * What moves between tiers pghot watches a little of: does it gain anything? And who
 * waits for room there is told.
 *
 * Context: the folios are locked.
 */
static inline void pghot_moved(const struct folio *dst, const struct folio *src)
{
	if (static_branch_unlikely(&pghot_exchange_key))
		__pghot_moved(dst, src);
}

/**
 * pghot_page_cache - a folio is about to be marked accessed
 * @folio: the folio
 *
 * Reports the use of a file of which no page table entry tells. It is not idle any more.
 *
 * Context: any but NMI.
 */
static inline void pghot_page_cache(struct folio *folio)
{
	if (static_branch_unlikely(&pghot_page_cache_key) &&
	    (node_isset(folio_nid(folio), pghot_lower_nodes) || folio_test_idle(folio)))
		__pghot_page_cache(folio);
}

/**
 * pghot_marks_young - may folios have been accessed whose accessed bit is clear
 * @nid: their node
 *
 * A source that goes through page tables clears accessed bits, and leaves a mark
 * on the folio. The multi-gen LRU finds those that have one by this, and takes it
 * by pghot_was_young().
 *
 * Return: true if so.
 */
static inline bool pghot_marks_young(int nid)
{
	return static_branch_unlikely(&pghot_young_key) &&
	       __pghot_marks_young(nid);
}

/**
 * pghot_was_young - was a folio accessed since reclaim last asked
 * @folio: the folio
 * @young: what its accessed bit said
 *
 * Takes the mark, if there is one, so that nothing counts twice.
 *
 * Return: true if it was.
 */
static inline bool pghot_was_young(struct folio *folio, bool young)
{
	if (static_branch_unlikely(&pghot_young_key))
		young |= __pghot_take_young(folio);
	return young;
}

/**
 * pghot_zap_young - was a folio accessed of which mappings go
 * @folio: the folio, which is still mapped by them
 * @young: what their accessed bits said
 * @nr: page table entries that go
 *
 * With the last mapping the mark goes, if there is one: it was of any of them.
 *
 * Return: true if it was.
 */
static inline bool pghot_zap_young(struct folio *folio, bool young, int nr)
{
	if (static_branch_unlikely(&pghot_young_key))
		young |= __pghot_zap_young(folio, nr);
	return young;
}

#else /* !CONFIG_PGHOT */

static inline void pghot_moved(const struct folio *dst, const struct folio *src)
{
}

static inline bool pghot_decides(struct folio *folio)
{
	return false;
}

static inline int pghot_hint_fault(struct folio *folio, struct vm_fault *vmf,
				   int nid, int *fault_nid)
{
	return nid;
}

static inline bool pghot_hint_wanted(const struct folio *folio)
{
	return true;
}

static inline bool pghot_scan_passes(unsigned long pfn)
{
	return false;
}

#ifdef CONFIG_NUMA_BALANCING
static inline unsigned long pghot_scan(struct vm_area_struct *vma, unsigned long start,
				       unsigned long end)
{
	return change_prot_numa(vma, start, end);
}
#endif

static inline bool pghot_needs_headroom(void)
{
	return false;
}

static inline void pghot_page_cache(struct folio *folio)
{
}

static inline bool pghot_marks_young(int nid)
{
	return false;
}

static inline bool pghot_was_young(struct folio *folio, bool young)
{
	return young;
}

static inline bool pghot_zap_young(struct folio *folio, bool young, int nr)
{
	return young;
}

static inline void pghot_balancing_changes(int mode)
{
}

static inline void pghot_balancing_changed(void)
{
}

static inline void pghot_tiers_changed(void)
{
}

static inline void pghot_numa_dir(struct kobject *dir)
{
}

static inline void pghot_vmstat_show(struct seq_file *m)
{
}

static inline void pghot_memcg_show(struct seq_buf *s, struct mem_cgroup *memcg)
{
}

#endif /* CONFIG_PGHOT */

#endif /* _LINUX_PGHOT_H */
