// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results.h"

#define NS_PER_MS	1000000LL
#define SCHEMA		2

static struct snapshot snapshot(const struct results *r, const struct memory *m,
				int64_t now)
{
	struct snapshot s = { .ns = now - r->begin };
	unsigned int cpu, mode, node;

	memcpy(s.stat, m->stat, sizeof(s.stat));
	for (cpu = 0; cpu < m->c->cpus; cpu++)
		for (mode = 0; mode < MODES; mode++)
			for (node = 0; node < m->c->nodes; node++) {
				s.misses[mode][node] += r->cpu[cpu][mode].nodes[node];
				s.miss_ns[mode][node] += r->cpu[cpu][mode].node_ns[node];
			}
	return s;
}

void results_begin(struct results *r, const struct config *c, int64_t now)
{
	int i;

	r->begin = now;
	r->end = now;
	memset(r->cpu, 0, sizeof(r->cpu));
	for (i = 0; i < MEMSIM_PHASES; i++)
		r->phase[i].ns = -1;
	r->lines = 0;
	r->next_line = c->timeline_ms ? now + c->timeline_ms * NS_PER_MS :
					INT64_MAX;
}

void results_phase(struct results *r, const struct memory *m, int phase,
		   int64_t now)
{
	r->phase[phase] = snapshot(r, m, now);
}

void results_tick(struct results *r, struct memory *m, int64_t now)
{
	if (now < r->next_line)
		return;
	if (r->lines == r->room) {
		size_t room = r->room ? 2 * r->room : 256;
		struct snapshot *more = realloc(r->line, room * sizeof(*more));

		if (!more)
			return;
		r->line = more;
		r->room = room;
	}
	r->line[r->lines++] = snapshot(r, m, now);
	memory_interval(m);
	while (r->next_line <= now)
		r->next_line += m->c->timeline_ms * NS_PER_MS;
}

static void write_node(FILE *f, unsigned int node, const struct node_stat *s)
{
	fprintf(f, "%s{\"node\":%u,\"loads\":%" PRIu64 ",\"stores\":%" PRIu64
		",\"stream\":%" PRIu64 ",\"writeback\":%" PRIu64
		",\"wait_ns\":%" PRIu64 ",\"ns\":%" PRIu64
		",\"dma\":%" PRIu64 "}",
		node ? "," : "", node, s->loads, s->stores, s->stream,
		s->writeback, s->wait_ns, s->ns, s->dma);
}

static void write_mode(FILE *f, const char *name, const struct mode_count *n,
		       unsigned int nodes)
{
	unsigned int node;

	fprintf(f, ",\"%s\":{\"instructions\":%" PRIu64 ",\"accesses\":%" PRIu64
		",\"hits\":%" PRIu64 ",\"taken\":%" PRIu64
		",\"ns\":%" PRIu64 ",\"walks\":%" PRIu64
		",\"walk_ns\":%" PRIu64 ",\"sent\":%" PRIu64
		",\"interrupts\":%" PRIu64 ",\"nodes\":[", name, n->instructions,
		n->accesses, n->hits, n->taken, n->ns, n->walks, n->walk_ns,
		n->sent, n->interrupts);
	for (node = 0; node < nodes; node++)
		fprintf(f, "%s%" PRIu64, node ? "," : "", n->nodes[node]);
	fputs("]}", f);
}

static void write_sampled(FILE *f, const struct sampled *s)
{
	fprintf(f, ",\"sampled\":{\"made\":%" PRIu64 ",\"filtered\":%" PRIu64
		",\"interrupts\":%" PRIu64 "}", s->made, s->filtered,
		s->interrupts);
}

static void write_cpus(FILE *f, const struct results *r, const struct config *c)
{
	unsigned int cpu;

	fputs(",\n\"cpus\":[", f);
	for (cpu = 0; cpu < c->cpus; cpu++) {
		const struct mode_count *user = &r->cpu[cpu][USER];
		const struct mode_count *kernel = &r->cpu[cpu][KERNEL];
		int64_t busy = user->instructions + user->ns +
			       kernel->instructions + kernel->ns;
		int64_t idle = r->end - r->begin - busy;

		fprintf(f, "%s\n{\"cpu\":%u", cpu ? "," : "", cpu);
		write_mode(f, "user", user, c->nodes);
		write_mode(f, "kernel", kernel, c->nodes);
		if (c->ibs)
			write_sampled(f, &r->sampled[cpu]);
		fprintf(f, ",\"idle_ns\":%" PRId64 "}", idle > 0 ? idle : 0);
	}
	fputs("]", f);
}

static void write_phases(FILE *f, const struct results *r, unsigned int nodes)
{
	bool first = true;
	unsigned int node;
	int i;

	fputs(",\n\"phases\":[", f);
	for (i = 0; i < MEMSIM_PHASES; i++) {
		if (r->phase[i].ns < 0)
			continue;
		fprintf(f, "%s\n{\"phase\":%d,\"ns\":%" PRId64 ",\"nodes\":[",
			first ? "" : ",", i, r->phase[i].ns);
		for (node = 0; node < nodes; node++)
			write_node(f, node, &r->phase[i].stat[node]);
		fputs("]}", f);
		first = false;
	}
	fputs("]", f);
}

/* What a node did in an interval, from the snapshots at its ends. */
static void write_interval(FILE *f, const struct snapshot *last,
			   const struct snapshot *now, unsigned int node)
{
	static const char *const names[] = { [USER] = "user", [KERNEL] = "kernel" };
	unsigned int mode;

	fprintf(f, "{\"pages\":%" PRIu64, now->stat[node].pages);
	for (mode = 0; mode < MODES; mode++)
		fprintf(f, ",\"%s\":{\"misses\":%" PRIu64 ",\"ns\":%" PRIu64 "}",
			names[mode],
			now->misses[mode][node] - last->misses[mode][node],
			now->miss_ns[mode][node] - last->miss_ns[mode][node]);
	fputs("}", f);
}

static void write_timeline(FILE *f, const struct results *r, unsigned int nodes)
{
	static const struct snapshot zero;
	const struct snapshot *last = &zero;
	unsigned int node;
	size_t i;

	fputs(",\n\"timeline\":[", f);
	for (i = 0; i < r->lines; i++) {
		fprintf(f, "%s\n{\"ns\":%" PRId64 ",\"nodes\":[", i ? "," : "",
			r->line[i].ns);
		for (node = 0; node < nodes; node++) {
			fputs(node ? "," : "", f);
			write_interval(f, last, &r->line[i], node);
		}
		fputs("]}", f);
		last = &r->line[i];
	}
	fputs("]", f);
}

static void write_all(FILE *f, const struct results *r, const struct memory *m,
		      const struct pages *p, double host_seconds)
{
	const struct config *c = m->c;
	unsigned int node;

	fprintf(f, "{\"schema\":%d,\"seconds\":%.9f,\"clocks_apart_ns\":%" PRId64
		",\"device\":%" PRIu64 ",\"hash\":\"%016" PRIx64
		"\",\n\"nodes\":[", SCHEMA, (r->end - r->begin) / 1e9,
		r->clocks_apart, m->device, m->hash);
	for (node = 0; node < c->nodes; node++)
		write_node(f, node, &m->stat[node]);
	fprintf(f, "],\n\"pages\":{\"seen\":%zu,\"promoted\":%" PRIu64
		",\"demoted\":%" PRIu64 ",\"demoted_again\":%" PRIu64 "}",
		p->used, p->promoted, p->demoted, p->demoted_again);
	write_cpus(f, r, c);
	write_phases(f, r, c->nodes);
	write_timeline(f, r, c->nodes);
	fprintf(f, ",\n\"host\":{\"seconds\":%.3f}}\n", host_seconds);
}

bool results_write(const struct results *r, const struct memory *m,
		   const struct pages *p, double host_seconds)
{
	char fresh[4096];
	bool good;
	FILE *f;

	if (!m->c->output)
		return true;
	if (snprintf(fresh, sizeof(fresh), "%s.tmp", m->c->output) >=
	    (int)sizeof(fresh))
		return false;
	f = fopen(fresh, "we");
	if (!f)
		return false;
	write_all(f, r, m, p, host_seconds);
	good = !ferror(f);
	good &= !fclose(f);
	return good && !rename(fresh, m->c->output);
}
