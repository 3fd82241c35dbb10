/* SPDX-License-Identifier: GPL-2.0 */
/* What a pass over a node's hot blocks knows; for pass.c and promote.c alone. */
#ifndef _MM_PGHOT_PASS_H
#define _MM_PGHOT_PASS_H

#include <linux/list.h>
#include <linux/nodemask.h>

#include "hotmap.h"
#include "internal.h"
#include "stat.h"

/* enum pghot_stat that is no reason for anything. */
#define PGHOT_NOT_CLOSED	NR_PGHOT_STATS

/**
 * struct pghot_batch - a target, and the folios isolated for it
 * @folios: linked by folio->lru, in PFN order
 * @nr_folios: their number
 * @nr_records: records that were taken for them
 * @nr_pages: their size
 * @nr_paid: pages of these that tokens were taken for
 * @order: of each: a target without free large folios fails a whole batch
 * @bill: whose they are
 * @closed: why the target takes nothing more for now, or PGHOT_NOT_CLOSED
 * @until_ms: till when, if it is closed
 * @from: page that was refused first when its turn last came; 0 for none
 * @min_class: frequency class below which records wait for a later round
 * @share: what the target takes from this node
 * @taken: pages that it took of that
 */
struct pghot_batch {
	struct list_head folios;
	unsigned long nr_folios;
	unsigned long nr_records;
	unsigned long nr_pages;
	unsigned long nr_paid;
	unsigned int order;
	struct pghot_bill bill;
	enum pghot_stat closed;
	u32 until_ms;
	unsigned long from;
	u32 min_class;
	struct pghot_share share;
	unsigned long taken;
};

/**
 * struct pghot_pass - working memory of a node's thread
 * @node: the node
 * @turn: the target from whose @from on the pass goes, or NUMA_NO_NODE
 * @all_closed: there are targets, and each is closed
 * @wanted: held blocks are wanted for these; PGHOT_WAIT_BIT() of each node but
 *	    those that are closed
 * @min_class: the lowest class that any target takes in this round
 * @no_target: a record was met, and there is no node to promote it to
 * @again: this block has records that must be looked at again
 * @waits: closed targets that other records of this block wait for
 * @left: the pass knowingly left records that must be looked at again
 * @left_out: records were left out in this round because of their class
 * @swept_ms: when stale records were last dropped everywhere
 * @folio_pages: mean size of the folios in the last batch
 * @allowed: nodes that a folio's owners allow
 * @entries: the ready records of one block
 * @batch: by target node
 */
struct pghot_pass {
	struct pghot_node *node;
	int turn;
	bool all_closed;
	u8 wanted;
	u32 min_class;
	bool no_target;
	bool again;
	u8 waits;
	bool left;
	bool left_out;
	u32 swept_ms;
	unsigned long folio_pages;
	nodemask_t allowed;
	struct pghot_entry entries[PGHOT_BLOCK_PAGES];
	struct pghot_batch batch[];
};

/* promote.c */
void pghot_pass_sum_up(struct pghot_pass *p);
bool pghot_pass_drop_stale(struct pghot_entry *e);
void pghot_pass_consider(struct pghot_pass *p, struct pghot_entry *e);
void pghot_pass_flush(struct pghot_pass *p, int nid);

#endif /* _MM_PGHOT_PASS_H */
