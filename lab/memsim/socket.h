/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The caches of one socket, kept coherent: a last-level cache, in front of it one cache
 * per CPU, and with each line of the last level a directory of who has it.
 *
 * What a CPU's own cache holds is in the last level too. A line that some CPU still has
 * does not leave the last level while another can (Jaleel et al., "Achieving
 * Non-Inclusive Cache Performance with Inclusive Caches", MICRO 2010), so that small and
 * busy data stays where it is, as in the caches of today that are not inclusive.
 */
#ifndef MEMSIM_SOCKET_H
#define MEMSIM_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "cache.h"
#include "filter.h"

/**
 * struct socket - caches of a socket
 * @llc: its last-level cache
 * @own: each CPU's own cache
 * @cpus: number of them
 */
struct socket {
	struct cache llc;
	struct filter *own;
	unsigned int cpus;
};

/**
 * struct socket_result - what became of an access that the CPU's own cache did not answer
 * @hit: the socket has the line
 * @snooped: another CPU of the socket had it and was asked, or lost it
 * @writeback: @victim goes back to memory
 */
struct socket_result {
	bool hit, snooped, writeback;
	uint64_t victim;
};

/* What a socket had of a line that another one wants. */
struct socket_copy {
	bool held, dirty, snooped;
};

bool socket_init(struct socket *s, uint64_t llc_bytes, unsigned int cpus);
void socket_exit(struct socket *s);
void socket_clear(struct socket *s);

/* CPU number @cpu of the socket has missed @line, or stores to it for the first time. */
struct socket_result socket_access(struct socket *s, unsigned int cpu, uint64_t line,
				   bool store);

/* Another socket reads @line: from here, and to memory, if it was written here. */
struct socket_copy socket_share(struct socket *s, uint64_t line);

/* Another socket or a device writes @line: what is here is worth nothing. */
struct socket_copy socket_drop(struct socket *s, uint64_t line);

#endif
