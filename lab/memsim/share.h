/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who gets how much of a bandwidth that is not enough for all.
 *
 * CPUs run in turns, so that whoever comes first in each finds all of it free, and those
 * after it what is left. Memory controllers serve requests by their age: who waits gets
 * as much as anybody else who does. So each requester is held to the level at which all
 * get what they want or the same (max-min fairness), by what they took and whether they
 * waited a moment ago, when all CPUs have passed it.
 */
#ifndef MEMSIM_SHARE_H
#define MEMSIM_SHARE_H

#include <stdint.h>

#include "config.h"

#define SHARE_SHIFT	17	/* 131 us: more than clocks are apart, and less than a tick */
#define SHARES		4
#define REQUESTERS	(MAX_CPUS + 1)	/* each CPU, and copy engines as one */
#define ENGINES		MAX_CPUS

/**
 * struct share - what requesters took of late
 * @number: which stretch of time each slot of the ring stands for
 * @level: most that one may take in it, 0 for no limit
 * @total: what all took in it
 * @by: what each took in it, and for how long it waited
 */
struct share {
	struct {
		uint64_t number, level, total;
		struct {
			uint64_t taken, waited_ns;
		} by[REQUESTERS];
	} slot[SHARES];
};

/*
 * @who takes @amount at @now_ns, of what has room for @capacity in each stretch of time.
 * Return for how many ns it is not its turn yet.
 */
uint32_t share_take(struct share *s, unsigned int who, uint64_t now_ns, uint64_t amount,
		    uint64_t capacity);

/* What all took in the last stretch of time that all CPUs have passed. */
uint64_t share_taken(const struct share *s, uint64_t now_ns);

/* @who had to wait. */
void share_waited(struct share *s, unsigned int who, uint64_t now_ns, uint32_t ns);

#endif
