/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a pass over a node's hot blocks knows; for pass.c, sweep.c, seek.c and
 * ready.c alone.
 */
#ifndef _MM_PGHOT_PASS_H
#define _MM_PGHOT_PASS_H

#include <linux/bitmap.h>
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "hotmap.h"
#include "internal.h"
#include "promoter.h"
#include "stat.h"

#include <trace/events/pghot.h>

/**
 * struct pghot_place - where a pass stands with a target
 * @open: it was, when it was last looked at
 * @late: it was opened when the pass was on
 * @from: page to go on with when its turn comes: that was refused first when it came
 *	  last, or its pass ended there; 0 for none
 * @most_class: it takes pages of that heat, if not of less
 */
struct pghot_place {
	bool open;
	bool late;
	unsigned long from;
	u32 most_class;
};

/*
 * A page whose bits could not be cleared takes others with it that share one of
 * these. There are some six for each page that is looked at in a window of 4 s, fewer
 * while much is moved; two such maps are 32 KiB for each lower-tier node.
 */
#define PGHOT_MISSED_BITS	131072U

/**
 * struct pghot_cleared - ready records whose pages' accessed bits a sweep cleared
 * @since_ms: when it began
 * @ended_ms: when it came to the end
 * @limit: pages with a higher hash it did not look at
 * @end: page from which on it looked at none
 * @missed: those of the others that it could not clear, and some more
 */
struct pghot_cleared {
	u32 since_ms;
	u32 ended_ms;
	u32 limit;
	unsigned long end;
	DECLARE_BITMAP(missed, PGHOT_MISSED_BITS);
};

/**
 * struct pghot_sweep - where the sweeps of a node stand
 * @on: one has begun, and has not come to the end
 * @all: it drops stale records everywhere
 * @all_ms: when that was last begun
 * @most: how many page table entries it may look at
 * @left: how many of these are left
 * @nr_moved: folios that have moved since it began
 * @part_moved: those of a quarter of half a window, which is not over
 * @part_most: the most that moved in any such part since it began
 * @part_ms: when this part began
 * @calm_ms: when a pass began before which nothing waited, see @waiting
 * @next: page to go on with
 * @slice_ms: when it began, or a part of it was done last
 * @pages: how many were looked at of late; never 0
 * @looks: page table entries that these had
 * @last: which of @cleared is of the last sweep that came to the end; the other
 *	  one is of the one that has begun
 * @cleared: what was cleared
 */
struct pghot_sweep {
	bool on;
	bool all;
	u32 all_ms;
	unsigned int most;
	unsigned int left;
	unsigned long nr_moved;
	unsigned long part_moved;
	unsigned long part_most;
	u32 part_ms;
	u32 calm_ms;
	unsigned long next;
	u32 slice_ms;
	unsigned long pages;
	unsigned long looks;
	bool last;
	struct pghot_cleared cleared[2];
};

/**
 * struct pghot_pass - working memory of a node's thread
 * @node: the node
 * @promoter: what moves its pages
 * @changes: the promoter's @changes that this pass knows of
 * @turn: the target from whose @from on the pass goes, or NUMA_NO_NODE
 * @no_target: a record was met, and there is no node to promote it to
 * @again: this block has records that must be looked at again
 * @waits: closed targets that other records of this block wait for
 * @left: the pass knowingly left records that must be looked at again
 * @left_out: records were left out in this round because of their class
 * @seek: page from which on to look for those whom others keep waiting
 * @seek_on: somebody was found there who has more
 * @seek_ms: when that last began with the node's first page
 * @seeks: how many blocks were looked at for that
 * @nr_held: records of the last round that wait for who holds their folios
 * @waiting: the last pass left something that may go stale, or this one takes long
 * @began_ms: when this pass began
 * @drained_ms: when folios on their way to LRU lists were last put there
 * @flushed_ms: when what was gathered was moved last, or the pass began
 * @presses: a target was opened meanwhile that has a place to go on from
 * @cut: it ended for another one to follow at once
 * @sweep: of what waits
 * @entries: the ready records of one block
 * @place: by target node
 */
struct pghot_pass {
	struct pghot_node *node;
	struct pghot_promoter *promoter;
	unsigned int changes;
	int turn;
	bool no_target;
	bool again;
	u8 waits;
	bool left;
	bool left_out;
	unsigned long seek;
	bool seek_on;
	u32 seek_ms;
	unsigned int seeks;
	unsigned int nr_held;
	bool waiting;
	u32 began_ms;
	u32 drained_ms;
	u32 flushed_ms;
	bool presses;
	bool cut;
	struct pghot_sweep sweep;
	struct pghot_entry entries[PGHOT_BLOCK_PAGES];
	struct pghot_place place[];
};

/* Is the pass to end before it is through? */
static inline bool pghot_pass_called_off(void)
{
	return kthread_should_stop() || kthread_should_park() ||
	       freezing(current);
}

/* The record was taken, and its page does not move. */
static inline void pghot_count_skip(const struct pghot_entry *e,
				    enum pghot_stat why)
{
	pghot_stat_add(why, 1);
	trace_pghot_skip(e->pfn, e->nid, why);
}

/* sweep.c */
void pghot_sweep(struct pghot_pass *p);
void pghot_sweep_moved(struct pghot_sweep *s, unsigned long nr);
bool pghot_sweep_ask(struct pghot_pass *p, struct pghot_entry *e);
u32 pghot_sweep_due_ms(const struct pghot_pass *p);
bool pghot_sweep_presses(const struct pghot_pass *p);
u32 pghot_sweep_half_ms(void);

/* ready.c */
enum pghot_verdict pghot_ready_consider(struct pghot_pass *p,
					struct pghot_entry *e);
void pghot_ready_settle(struct pghot_pass *p);
void pghot_ready_see(struct pghot_pass *p, unsigned long pfn);

/* seek.c */
void pghot_seek(struct pghot_pass *p);

#endif /* _MM_PGHOT_PASS_H */
