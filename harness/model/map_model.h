/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the hot map must do, in the plainest way: every page an unpacked record,
 * times and counts that do not wrap or saturate, every question answered by
 * looking at all pages. It knows a few sections with a few pages each, at the
 * places where an index could go wrong.
 */
#ifndef _MODEL_MAP_MODEL_H
#define _MODEL_MAP_MODEL_H

#include "hotmap.h"

#define MODEL_SECTIONS	6
#define MODEL_PAGES	11
#define MODEL_NODES	2
#define MODEL_NOBODY	(-1)
#define MODEL_NO_ERA	(~0ULL)

extern const unsigned long model_section_nr[MODEL_SECTIONS];
extern const unsigned long model_page_nr[MODEL_PAGES];

struct model_page {
	u64 count;		/* 0: no record */
	u64 bucket;		/* of the last access */
	int nid;		/* precise: where it came from */
	int place;		/* default: which of its group's two nodes */
	bool ready;
};

struct model_block {
	bool pending;		/* a walk must find it */
};

struct model_group {
	int nid[2];		/* NUMA_NO_NODE: place is free */
	u64 era;		/* of the last report, MODEL_NO_ERA: none counts */
};

struct model_section {
	int owner;		/* node, or MODEL_NOBODY: not tracked */
	struct model_page page[MODEL_PAGES];
	/* By page: pages of one block, or group, share the first one's. */
	struct model_block block[MODEL_PAGES];
	struct model_group group[MODEL_PAGES];
};

/* Next block to look at. */
struct model_cursor {
	unsigned long section;
	unsigned long block;
};

struct model {
	bool precise;
	u64 window_ms;
	u64 threshold;
	bool ask;		/* it matters whether somebody said the node */
	struct model_section section[MODEL_SECTIONS];
	struct model_cursor cursor[MODEL_NODES];
};

void model_init(struct model *m, bool precise);
u64 model_freq_max(const struct model *m);
unsigned long model_pfn(int section, int page);
int model_owner(const struct model *m, int section);
enum pghot_recorded model_record(struct model *m, int section, int page,
				 const struct pghot_access *a, u64 now_ms);
bool model_renew(struct model *m, int section, int page, u64 since_ms,
		 u64 now_ms);
bool model_take(struct model *m, int section, int page);
bool model_add(struct model *m, int section, int node);
unsigned long model_remove(struct model *m, int section);
void model_expire(struct model *m, int node, u64 now_ms, bool all);
unsigned long model_ready(const struct model *m, int node,
			  unsigned long hist[PGHOT_CLASSES]);
unsigned long model_sections(const struct model *m, int node);
void model_mark(struct model *m, int section, int page);
bool model_next_block(struct model *m, int node, int *section, int *page);
unsigned int model_collect(const struct model *m, int section, int page,
			   u32 min_class, u64 now_ms,
			   struct pghot_entry *entries, bool *more);

#endif
