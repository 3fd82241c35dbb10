/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A made-up machine: nodes, free pages, folios and a clock as plain data, on
 * which promotion itself runs, from target.c to kmigrated.c, and report.c. Tests
 * of coming and going boot all of pghot on it: see whole.h.
 *
 * Nodes 0 and 1 are the top tier and have CPUs, nodes 2 and 3 are the lower
 * tier. Threads take turns, one at a time, at each tick of a millisecond; what
 * a test sees depends on nothing else.
 */
#ifndef _MACHINE_H
#define _MACHINE_H

#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched/sysctl.h>

#include "../../linux/mm/pghot/internal.h"

#define NODES			4
#define LOWER			2
/* Folios each lower node begins with: 512 MiB of small pages. */
#define NODE_SECTIONS		4
#define NODE_PAGES		(NODE_SECTIONS * PAGES_PER_SECTION)
/* A top-tier node that is not said to have more: 4 GiB, without plenty. */
#define TOP_PAGES		(1UL << 20)
/* Where a node's sections begin, and how many there may be in all. */
#define MACHINE_SECTION(nid)	((unsigned long)(nid) << 3)
#define MACHINE_SECTIONS	MACHINE_SECTION(NODES)

/* SLIT: from each node to each node; a test may point it elsewhere. */
extern const int (*machine_distance)[NODES];
/* The other socket is further away than a socket's own lower node. */
extern const int machine_apart[NODES][NODES];
extern struct pghot_node machine_lower[NODES];
/* Who reports what follows. */
extern struct pghot_source machine_source;
/* All that a range reports counts. */
u32 machine_all(const struct pghot_access *access, void *data);

extern bool machine_enabled;
/*
 * Memory hotplug is held off so often, or is at work; folios that are isolated. Who waits for memory
 * hotplug with some would have it wait for them.
 */
#define MACHINE_HOTPLUG		(-1)
extern int machine_hotplug_off;
extern unsigned long machine_isolated;
/*
 * How often a folio's owners were asked, a process was, a page was looked at, and its
 * accessed bits were.
 */
extern unsigned long machine_asked, machine_process_asked;
extern unsigned long machine_looked, machine_bits_looked;
/* Pages of which it was asked who accesses them. */
extern unsigned long machine_questions;
/* How often all CPUs were asked to put folios on LRU lists. */
extern unsigned long machine_drained;
/* For how long at most a page was not accessed that was promoted. */
extern u32 machine_cold_ms;
/* What is promoted leaves its frame to another page, that nobody accesses. */
extern bool machine_reuses;

/* Nothing that was put off is done any more. */
void machine_forget_work(void);

/* Called at each tick, before the threads; NULL for nothing. */
extern void (*machine_work)(void);

/* A machine of each layout, one after the other. */
#define for_each_layout(precise)					\
	for (int precise = 0; precise < 2; precise++)

/*
 * For a page of a socket's own lower node the other socket's top tier is nearer
 * than where it is, or, apart, it is not.
 */
void machine_start(bool precise);
void machine_start_apart(bool precise);
void machine_stop(void);

/* What these are made of: nothing at first; nodes, and sections of theirs. */
void machine_power_on(void);
void machine_power_off(void);
void machine_node_up(int nid);
void machine_plug(int nid, unsigned long section, unsigned long nr);
void machine_unplug(int nid, unsigned long section, unsigned long nr);

/* Start the thread of a lower node; let threads run for some time. */
void machine_thread(int nid);
/* The same, on a CPU that others want, and with more ready than it keeps up with. */
void machine_behind(int nid);
void machine_run(unsigned int ms);
/* Threads that are there and not parked. */
unsigned int machine_awake(void);

/* So many nodes are in the top tier, for what looks at it from now on. */
extern int machine_top;
/* How much a node can take before it is full, or that it has plenty. */
void machine_room(int nid, unsigned long pages);
void machine_plenty(int nid);
/* All a node's memory, so that it cannot be a target. */
void machine_take_away(int nid);

/* The @i-th page of a lower node, and its folio. */
unsigned long machine_pfn(int nid, unsigned long i);
struct folio *machine_folio(int nid, unsigned long i);
/* Make one folio of 2^order pages from the @i-th page on. */
struct folio *machine_large(int nid, unsigned long i, unsigned int order);
/*
 * Of a lower node make the first pages such as do not move: one that is free, in
 * the top tier, dirty, bound to lower nodes, pinned, pinned for DMA.
 */
void machine_immovable(int nid);

/* Report as many accesses as make the page ready for @target, or a number. */
void machine_ready(int nid, unsigned long i, int target);
void machine_access(int nid, unsigned long i, int target, unsigned int n);
/* The same for the first @nr pages. */
void machine_ready_first(int nid, unsigned long nr, int target);

/* Access the page where no source sees it. */
void machine_touch(int nid, unsigned long i);

/* So many pages move in a tick; 0: moving takes no time. */
extern unsigned int machine_moves_a_tick;

/* Bring the @i-th page back from where it was promoted to. */
void machine_demote(int nid, unsigned long i);
/* Of pages @from to @to of a lower node, how many are on @target. */
unsigned long machine_moved(int nid, unsigned long from, unsigned long to,
			    int target);
/* Value of a counter of /proc/vmstat, by name. */
unsigned long machine_stat(const char *name);
/* Each record that became ready is accounted for. */
void machine_check(void);

#endif
