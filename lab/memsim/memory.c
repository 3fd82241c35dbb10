// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define FNV_START	14695981039346656037ULL
#define GOLDEN		0x9e3779b97f4a7c15ULL
#define FNV_FACTOR	1099511628211ULL

static uint32_t max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static bool init_sockets(struct memory *m)
{
	const struct config *c = m->c;
	unsigned int cpus[MAX_ROWS] = {}, row, node, cpu;

	for (cpu = 0; cpu < c->cpus; cpu++)
		m->place[cpu] = cpus[c->row_of[cpu]]++;
	for (row = 0; row < c->rows; row++) {
		if (!socket_init(&m->socket[row], c->llc_bytes, cpus[row]))
			return false;
		for (node = 0; node < c->nodes; node++)
			if (c->path[row][node].latency_ns <
			    c->path[row][m->home[row]].latency_ns)
				m->home[row] = node;
	}
	for (node = 0; node < c->nodes; node++)
		for (row = 0; row < c->rows; row++)
			if (c->path[row][node].latency_ns <
			    c->path[m->near[node]][node].latency_ns)
				m->near[node] = row;
	for (cpu = 0; cpu < c->cpus; cpu++)
		m->own[cpu] = &m->socket[c->row_of[cpu]].own[m->place[cpu]];
	return true;
}

bool memory_init(struct memory *m, const struct config *c)
{
	unsigned int row, node, i;

	memset(m, 0, sizeof(*m));
	m->c = c;
	if (!init_sockets(m))
		goto fail;
	for (row = 0; row < c->rows; row++) {
		for (node = 0; node < c->nodes; node++)
			bandwidth_init(&m->path[row][node],
				       c->path[row][node].mbps);
	}
	for (node = 0; node < c->nodes; node++)
		bandwidth_init(&m->node[node], c->node_mbps[node]);
	for (i = 0; i < c->ranges; i++) {
		m->seen[i] = calloc((c->range[i].end - c->range[i].start) >>
				    PAGE_SHIFT, sizeof(*m->seen[i]));
		if (!m->seen[i])
			goto fail;
	}
	memory_clear(m);
	return true;
fail:
	memory_exit(m);
	return false;
}

void memory_exit(struct memory *m)
{
	unsigned int i;

	for (i = 0; i < MAX_ROWS; i++)
		socket_exit(&m->socket[i]);
	for (i = 0; i < MAX_RANGES; i++)
		free(m->seen[i]);
	memset(m->seen, 0, sizeof(m->seen));
}

void memory_clear(struct memory *m)
{
	unsigned int row, node;

	for (row = 0; row < m->c->rows; row++) {
		socket_clear(&m->socket[row]);
		for (node = 0; node < m->c->nodes; node++)
			bandwidth_clear(&m->path[row][node]);
	}
	for (node = 0; node < m->c->nodes; node++)
		bandwidth_clear(&m->node[node]);
	memset(m->stat, 0, sizeof(m->stat));
	m->device = 0;
	m->hash = FNV_START;
	memory_interval(m);
}

void memory_interval(struct memory *m)
{
	unsigned int node;

	/* Zero stands for never. */
	m->interval++;
	for (node = 0; node < m->c->nodes; node++)
		m->stat[node].pages = 0;
}

static const struct range *range_of(const struct memory *m, uint64_t pa)
{
	const struct range *r = m->c->range, *end = r + m->c->ranges;

	for (; r < end && pa >= r->start; r++)
		if (pa < r->end)
			return r;
	return NULL;
}

static void saw_page(struct memory *m, const struct range *r, uint64_t pa)
{
	uint32_t *seen = &m->seen[r - m->c->range][(pa - r->start) >> PAGE_SHIFT];

	if (*seen == m->interval)
		return;
	*seen = m->interval;
	m->stat[r->node].pages++;
}

/* @cpu's access has caches of @row write @line back. */
static void write_back(struct memory *m, unsigned int cpu, unsigned int row, uint64_t line,
		       uint64_t now_ns)
{
	const struct range *r = range_of(m, line << LINE_SHIFT);

	if (!r)
		return;
	m->stat[r->node].writeback++;
	if (m->hmu[r->node])
		hmu_request(m->hmu[r->node], line << LINE_SHIFT, true, now_ns);
	bandwidth_take(&m->node[r->node], cpu, now_ns, LINE_BYTES);
	bandwidth_take(&m->path[row][r->node], cpu, now_ns, LINE_BYTES);
}

/* Whether @line follows one that was accessed before, in the same page. */
static bool in_sequence(struct streams *s, uint64_t line)
{
	uint64_t page = line >> (PAGE_SHIFT - LINE_SHIFT);
	uint64_t *next = s->next[page * GOLDEN >> (64 - STREAM_BITS)];
	bool found = next[0] == line || next[1] == line;

	if (next[0] != line)
		next[1] = next[0];
	next[0] = line + 1;
	return found && line % (1 << (PAGE_SHIFT - LINE_SHIFT));
}

/*
 * What it takes to ask the other socket's caches: this one's have been asked, then there
 * is the way there and back, then those over there are. The way is what memory over
 * there takes longer than memory here, and carries the line.
 */
static uint32_t cross(struct memory *m, unsigned int cpu, unsigned int other,
		      bool snooped, uint64_t now_ns)
{
	const struct config *c = m->c;
	unsigned int row = c->row_of[cpu];
	const struct path *way = c->path[row];
	struct bandwidth *carries = &m->path[row][m->home[other]];
	uint32_t there = way[m->home[other]].latency_ns, here = way[m->home[row]].latency_ns;
	uint32_t wait = bandwidth_take(carries, cpu, now_ns, LINE_BYTES);

	return max(wait, bandwidth_queue(carries, now_ns)) +
	       (there > here ? there - here : 0) + 2 * c->llc_hit_ns +
	       (snooped ? c->snoop_ns : 0);
}

/*
 * Take @line for @cpu from all other sockets, or a copy of it. Return what it costs if one had to
 * give it, or give it up; @clean says whether copies as in memory count too.
 */
static uint32_t from_others(struct memory *m, unsigned int cpu, uint64_t line, bool store,
			    bool clean, uint64_t now_ns)
{
	unsigned int row = m->c->row_of[cpu], other;
	uint32_t ns = 0;

	for (other = 0; other < m->c->rows; other++) {
		struct socket_copy copy;

		if (other == row)
			continue;
		copy = store ? socket_drop(&m->socket[other], line) :
			       socket_share(&m->socket[other], line);
		/* As MESIF has it: what both may read is in memory too. */
		if (copy.dirty && !store)
			write_back(m, cpu, other, line, now_ns);
		if (copy.dirty || (clean && copy.held))
			ns = max(ns, cross(m, cpu, other, copy.snooped, now_ns));
	}
	return ns;
}

static void hash(struct memory *m, uint64_t line, unsigned int row)
{
	m->hash = (m->hash ^ (line << 8 | row)) * FNV_FACTOR;
}

uint32_t memory_access(struct memory *m, unsigned int cpu, struct streams *s,
		       uint64_t pa, bool store, uint64_t now_ns, int *node)
{
	const struct range *r = range_of(m, pa);
	unsigned int row = m->c->row_of[cpu];
	uint64_t line = pa >> LINE_SHIFT;
	struct socket_result did;
	struct node_stat *stat;
	uint32_t ns, wait;
	bool ahead;

	if (!r) {
		m->device++;
		*node = NODE_DEVICE;
		return 0;
	}
	/* Prefetchers see all that leaves the CPU, and fetch it wherever it is. */
	ahead = s && in_sequence(s, line);
	did = socket_access(&m->socket[row], m->place[cpu], line, store);
	if (did.writeback)
		write_back(m, cpu, row, did.victim, now_ns);
	if (did.hit) {
		*node = NODE_HIT;
		ns = m->c->llc_hit_ns + (did.snooped ? m->c->snoop_ns : 0);
		/* It was fetched to be read: a store takes it from others at its own time. */
		if (ahead && !(store && did.snooped))
			ns = 0;
		if (!store)
			return ns;
		return max(ns, from_others(m, cpu, line, true, true, now_ns));
	}
	ns = from_others(m, cpu, line, store, false, now_ns);
	if (ns) {
		*node = NODE_SOCKET;
		hash(m, line, row | 0x80);
		return ahead && !store ? 0 : ns;
	}

	*node = r->node;
	if (m->hmu[r->node])
		hmu_request(m->hmu[r->node], pa, false, now_ns);
	stat = &m->stat[r->node];
	wait = max(bandwidth_take(&m->node[r->node], cpu, now_ns, LINE_BYTES),
		   bandwidth_take(&m->path[row][r->node], cpu, now_ns, LINE_BYTES));
	if (ahead) {
		/* Fetched ahead: only what the node carries is waited for. */
		stat->stream++;
		ns = wait;
	} else {
		wait = max(wait,
			   max(bandwidth_queue(&m->node[r->node], now_ns),
			       bandwidth_queue(&m->path[row][r->node], now_ns)));
		ns = wait + m->c->path[row][r->node].latency_ns;
	}
	if (store)
		stat->stores++;
	else
		stat->loads++;
	stat->wait_ns += wait;
	stat->ns += ns;
	saw_page(m, r, pa);
	hash(m, line, row);
	return ns;
}

uint32_t memory_own(struct memory *m, unsigned int cpu, uint64_t pa,
		    uint64_t now_ns)
{
	unsigned int row = m->c->row_of[cpu];
	uint64_t line = pa >> LINE_SHIFT;
	struct socket_result did;
	uint32_t ns;

	if (!range_of(m, pa))
		return 0;
	did = socket_access(&m->socket[row], m->place[cpu], line, true);
	if (did.writeback)
		write_back(m, cpu, row, did.victim, now_ns);
	ns = did.snooped ? m->c->llc_hit_ns + m->c->snoop_ns : 0;
	return max(ns, from_others(m, cpu, line, true, true, now_ns));
}

void memory_written(struct memory *m, uint64_t pa, uint64_t bytes)
{
	uint64_t line = pa >> LINE_SHIFT, last = (pa + bytes - 1) >> LINE_SHIFT;
	unsigned int row;

	for (; line <= last; line++)
		for (row = 0; row < m->c->rows; row++)
			socket_drop(&m->socket[row], line);
}

bool memory_has(const struct memory *m, uint64_t pa, uint64_t bytes)
{
	const struct range *r;

	/* Ranges that follow each other are one. */
	while ((r = range_of(m, pa)) && bytes > r->end - pa) {
		bytes -= r->end - pa;
		pa = r->end;
	}
	return r;
}

static uint32_t transfer(struct memory *m, unsigned int row, uint64_t pa,
			 uint32_t bytes, bool write, uint64_t now_ns)
{
	const struct range *r = range_of(m, pa);
	uint32_t at;

	if (!r)
		return 0;
	for (at = 0; m->hmu[r->node] && at < bytes; at += LINE_BYTES)
		hmu_request(m->hmu[r->node], pa + at, write, now_ns);
	m->stat[r->node].dma += (bytes + LINE_BYTES - 1) >> LINE_SHIFT;
	return max(bandwidth_take(&m->node[r->node], ENGINES, now_ns, bytes),
		   bandwidth_take(&m->path[row][r->node], ENGINES, now_ns, bytes));
}

uint32_t memory_transfer(struct memory *m, uint64_t from, uint64_t to,
			 uint32_t bytes, uint64_t now_ns)
{
	const struct range *r = range_of(m, from);
	unsigned int row = r ? m->near[r->node] : 0;
	uint32_t wait;

	memory_written(m, to, bytes);
	wait = transfer(m, row, from, bytes, false, now_ns);
	return max(wait, transfer(m, row, to, bytes, true, now_ns));
}
