/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a pass over a node's hot blocks knows; for pass.c, sweep.c, seek.c and
 * ready.c alone.
 */
#ifndef _MM_PGHOT_PASS_H
#define _MM_PGHOT_PASS_H

#include <linux/bitmap.h>

#include "hotmap.h"
#include "internal.h"
#include "promoter.h"

/**
 * struct pghot_place - where a pass stands with a target
 * @open: it was, when it was last looked at
 * @from: page that was refused first when its turn last came; 0 for none
 */
struct pghot_place {
	bool open;
	unsigned long from;
};

/* Pages that share one of these bits are taken for each other: few are missed. */
#define PGHOT_MISSED_BITS	512U

/**
 * struct pghot_cleared - ready records whose pages' accessed bits a sweep cleared
 * @since_ms: when it began
 * @end: page from which on it looked at none
 * @missed: those before that it could not clear, and some others
 */
struct pghot_cleared {
	u32 since_ms;
	unsigned long end;
	DECLARE_BITMAP(missed, PGHOT_MISSED_BITS);
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
 * @waiting: the last pass left something that waits
 * @swept_ms: when stale records were last dropped everywhere
 * @cleared: by the last sweep
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
	bool waiting;
	u32 swept_ms;
	struct pghot_cleared cleared;
	struct pghot_entry entries[PGHOT_BLOCK_PAGES];
	struct pghot_place place[];
};

/* pass.c */
bool pghot_pass_called_off(void);

/* sweep.c */
void pghot_sweep(struct pghot_pass *p);
void pghot_sweep_ask(struct pghot_pass *p, struct pghot_entry *e);
u32 pghot_sweep_due_ms(const struct pghot_pass *p);

/* ready.c */
bool pghot_ready_drop_stale(struct pghot_entry *e);
enum pghot_verdict pghot_ready_consider(struct pghot_pass *p,
					struct pghot_entry *e);
void pghot_ready_settle(struct pghot_pass *p);
void pghot_ready_see(struct pghot_pass *p, unsigned long pfn);

/* seek.c */
void pghot_seek(struct pghot_pass *p);

#endif /* _MM_PGHOT_PASS_H */
