/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all workloads share: options, where their memory is, the measured part,
 * threads, and the line of JSON at the end.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../../memsim/hypercall.h"
#include "../../memsim/xorshift.h"

#define PAGE		4096UL
#define LINE		64UL
#define MAX_THREADS	16
#define MAX_LIST	64

/*
 * A list of small numbers, as in "0,2"; of nodes "0,2+" where others will do too, and
 * "local" for the node of whoever uses it.
 */
struct list {
	int item[MAX_LIST];
	int n;
	bool spill, local;
};

/**
 * struct workload_options - what every workload understands
 * @place: nodes that the data lies on at first, pages dealt out in turn;
 *	   empty for wherever the kernel puts them
 * @cpus: CPU of each thread; empty for any
 * @seed: of all random numbers
 * @best: file of pages and the nodes to move them to before the measured part
 */
struct workload_options {
	struct list place, cpus;
	uint64_t seed;
	const char *best;
};

extern struct workload_options workload;

/* Say what is wrong, on stderr and as JSON, and end. */
__attribute__((format(printf, 1, 2), noreturn))
void workload_fail(const char *format, ...);

/**
 * struct workload_option - an option of one workload
 * @name, @key: its long and short form
 * @doc: for --help, which adds the default: what is there before
 * @number: where a number from @low to @high goes
 * @choices: words, NULL at the end, one of which is to be chosen; its index goes to
 *	     @number
 * @nodes: where a list of nodes goes
 * @text: where a word goes
 * @flag: set by an option without an argument
 */
struct workload_option {
	const char *name;
	int key;
	const char *doc;
	uint64_t *number, low, high;
	const char *const *choices;
	struct list *nodes;
	const char **text;
	bool *flag;
};

/*
 * Take @options, up to one with no name, and those of every workload from the
 * command line; what is wrong ends the program with a line that says so.
 */
void workload_parse(int argc, char **argv, const char *doc,
		    const struct workload_option *options);

/* Memory that is not there before it is written to. */
void *workload_map(size_t bytes);

/* From here on new pages come from these nodes; an empty list: from any. */
void workload_place(const struct list *nodes);

/* The same for what thread number @thread uses: only "local" depends on it. */
void workload_place_for(int thread, const struct list *nodes);

/*
 * Where data lies that fills @nodes for others to have no room there: on --place with
 * --best, which needs that room for what it moves.
 */
const struct list *workload_filling(const struct list *nodes);

/* The node of thread number @thread's CPU; of this one where no CPUs were given. */
int workload_node(int thread);

/* Move all pages of a range to one node. */
void workload_move(void *start, size_t bytes, int node);

#define MOVED_AT_ONCE	512

/*
 * Move @n pages, MOVED_AT_ONCE at most, of process @pid, 0 for this one, each to its
 * node, and return how many there are. One that is there and cannot be moved ends the
 * program with an error.
 */
int workload_move_pages(int pid, void **pages, const int *nodes, int n);

/* From here on time is the machine's, in which the measured part finds what it needs. */
void workload_warm(void);

/* The measured part. The end returns its guest seconds. */
void workload_begin(void);
double workload_end(void);

double workload_now(void);

/* This thread runs on the CPU of thread number @thread, if CPUs were given. */
void workload_pin(int thread);

/* Run @f in @n threads, each on its CPU; @f is called with 0 to n-1. */
void workload_threads(int n, void (*f)(int thread));

/* The same as the measured part; returns its guest seconds. */
double workload_measure(int n, void (*f)(int thread));

/* Let all @n threads come here before any goes on. */
void workload_barrier(void);

/*
 * So many parts of the data, or of a result, were compared with what they should be,
 * and are as they should be. A result is called verified where there were any.
 */
void workload_verified(uint64_t compared);

/* The result. @detail is JSON without braces, or empty. */
__attribute__((format(printf, 4, 5)))
void workload_result(double seconds, double score, const char *unit,
		     const char *detail, ...);

/* Random numbers: xorshift64*, different for each stream. */
static inline uint64_t random_start(uint64_t stream)
{
	uint64_t x = (workload.seed + 1) * 0x9e3779b97f4a7c15ULL +
		     stream * 0xbf58476d1ce4e5b9ULL;

	x ^= x >> 31;
	return x ? x : 1;
}

static inline uint64_t random_next(uint64_t *x)
{
	return xorshift_next(x);
}

/*
 * The numbers below @n in an order by chance, another one with each seed. NUMA balancing
 * scans by address: what takes its turns by address may run beside the scan.
 */
uint64_t *random_order(uint64_t n);

/*
 * A number below @n, another one with each seed. Each run begins with a scan of the lowest
 * addresses: what is hot should not lie at the same distance from them in all.
 */
uint64_t random_shift(uint64_t n);

/* Number @i of @n that begin at @shift and go on at the front. */
static inline uint64_t shifted(uint64_t i, uint64_t shift, uint64_t n)
{
	i += shift;
	return i < n ? i : i - n;
}

/* What belongs into line number @line, so that any access can check it. */
static inline uint64_t line_value(uint64_t line)
{
	return (line + 1) * 0x9e3779b97f4a7c15ULL;
}

#endif
