// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "socket.h"

/* CPUs that have the same bit are asked together. */
static uint8_t bit_of(unsigned int cpu)
{
	return 1U << cpu % 8;
}

/* Is the line in the own cache of one of these CPUs? */
static bool held(const void *socket, uint8_t sharers, uint64_t line)
{
	const struct socket *s = socket;
	unsigned int cpu;

	for (cpu = 0; cpu < s->cpus; cpu++)
		if (sharers & bit_of(cpu) && filter_holds(&s->own[cpu], line))
			return true;
	return false;
}

bool socket_init(struct socket *s, uint64_t llc_bytes, unsigned int cpus)
{
	*s = (struct socket) { .cpus = cpus };
	s->own = aligned_alloc(_Alignof(struct filter), (cpus ? cpus : 1) * sizeof(*s->own));
	if (!s->own || !cache_init(&s->llc, llc_bytes)) {
		free(s->own);
		s->own = NULL;
		return false;
	}
	s->llc.held = held;
	s->llc.socket = s;
	socket_clear(s);
	return true;
}

void socket_exit(struct socket *s)
{
	cache_exit(&s->llc);
	free(s->own);
	*s = (struct socket) {};
}

void socket_clear(struct socket *s)
{
	unsigned int cpu;

	cache_clear(&s->llc);
	for (cpu = 0; cpu < s->cpus; cpu++)
		filter_clear(&s->own[cpu]);
}

/* Take @line from all these CPUs but @except; true if one had it. */
static bool drop_from(struct socket *s, uint8_t sharers, unsigned int except,
		      uint64_t line)
{
	bool had = false;
	unsigned int cpu;

	for (cpu = 0; cpu < s->cpus; cpu++)
		if (sharers & bit_of(cpu) && cpu != except)
			had |= filter_drop(&s->own[cpu], line);
	return had;
}

/* Whoever may have written @line, but for @except, does not own it any more. */
static bool clean(struct socket *s, struct directory *d, unsigned int except,
		  uint64_t line)
{
	unsigned int owner = d->owner;

	d->owner = 0;
	return owner && owner - 1 != except && filter_clean(&s->own[owner - 1], line);
}

struct socket_result socket_access(struct socket *s, unsigned int cpu, uint64_t line,
				   bool store)
{
	struct cache_result did = cache_access(&s->llc, line, store);
	struct directory *d = cache_directory(&s->llc, did.slot);
	struct socket_result r = {
		.hit = did.hit, .writeback = did.writeback, .victim = did.victim,
	};

	if (!did.hit) {
		if (d->sharers)
			drop_from(s, d->sharers, s->cpus, did.victim);
		*d = (struct directory) {};
	}
	if (store) {
		if (d->sharers & ~bit_of(cpu) || s->cpus > 8)
			r.snooped = drop_from(s, d->sharers, cpu, line);
		*d = (struct directory) { bit_of(cpu), cpu + 1 };
	} else {
		r.snooped = clean(s, d, cpu, line);
		d->sharers |= bit_of(cpu);
	}
	return r;
}

struct socket_copy socket_share(struct socket *s, uint64_t line)
{
	size_t slot = cache_find(&s->llc, line);
	struct socket_copy copy = {};

	if (slot == CACHE_NONE)
		return copy;
	copy.held = true;
	copy.snooped = clean(s, cache_directory(&s->llc, slot), s->cpus, line);
	copy.dirty = cache_clean(&s->llc, slot);
	return copy;
}

struct socket_copy socket_drop(struct socket *s, uint64_t line)
{
	size_t slot = cache_find(&s->llc, line);
	struct socket_copy copy = {};
	struct directory *d;

	if (slot == CACHE_NONE)
		return copy;
	d = cache_directory(&s->llc, slot);
	copy.held = true;
	copy.snooped = clean(s, d, s->cpus, line);
	drop_from(s, d->sharers, s->cpus, line);
	copy.dirty = cache_drop(&s->llc, slot);
	return copy;
}
