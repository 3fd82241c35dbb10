// SPDX-License-Identifier: GPL-2.0
/* Reading the machine's description: one key and its values a line. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "filter.h"

#define MAX_WORDS	6
#define MAX_LINE	4096

struct reader {
	struct config *c;
	char *words[MAX_WORDS];
	char *error;
	size_t error_size;
	const char *path;
	unsigned int line;
	bool failed;
	bool has_llc, has_tlb;
	bool cpu_seen[MAX_CPUS], node_seen[MAX_NODES];
	bool path_seen[MAX_ROWS][MAX_NODES];
};

__attribute__((format(printf, 2, 3)))
static void fail(struct reader *r, const char *format, ...)
{
	va_list args;
	int n = 0;

	if (r->failed)
		return;
	r->failed = true;
	if (r->line)
		n = snprintf(r->error, r->error_size, "%s:%u: ", r->path,
			     r->line);
	else
		n = snprintf(r->error, r->error_size, "%s: ", r->path);
	if (n < 0 || (size_t)n >= r->error_size)
		return;
	va_start(args, format);
	vsnprintf(r->error + n, r->error_size - n, format, args);
	va_end(args);
}

/* Word @i as a number from @low to @high. */
static uint64_t number(struct reader *r, int i, uint64_t low, uint64_t high)
{
	const char *word = r->words[i];
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(word, &end, 0);
	if (end == word || *end || *word == '-' || errno || value < low ||
	    value > high) {
		fail(r, "%s: '%s' is not a number from %" PRIu64 " to %" PRIu64,
		     r->words[0], word, low, high);
		return low;
	}
	return value;
}

static void take_path(struct reader *r, char **to)
{
	free(*to);
	*to = strdup(r->words[1]);
}

static void read_output(struct reader *r)
{
	take_path(r, &r->c->output);
}

static void read_pages(struct reader *r)
{
	take_path(r, &r->c->pages);
}

static void read_profile(struct reader *r)
{
	take_path(r, &r->c->profile);
}

static void read_llc(struct reader *r)
{
	struct config *c = r->c;
	uint64_t sets;

	c->llc_bytes = number(r, 1, 4096, 1ULL << 32);
	c->llc_ways = number(r, 2, 8, 8);
	c->llc_hit_ns = number(r, 3, 0, 1000);
	c->snoop_ns = number(r, 4, 0, 1000);
	sets = c->llc_bytes / 64 / c->llc_ways;
	if (sets & (sets - 1) || sets * 64 * c->llc_ways != c->llc_bytes)
		fail(r, "llc: %" PRIu64 " bytes are not a power of two",
		     c->llc_bytes);
	r->has_llc = true;
}

static bool power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

static void read_tlb(struct reader *r)
{
	struct config *c = r->c;

	c->tlb_first = number(r, 1, 4, 1024);
	c->tlb_second = number(r, 2, 1, 1U << 20);
	c->tlb_ways = number(r, 3, 1, 64);
	c->tlb_hit_ns = number(r, 4, 0, 1000);
	c->walk_ns = number(r, 5, 0, 1000);
	if (!power_of_two(c->tlb_first) || c->tlb_second % c->tlb_ways ||
	    !power_of_two(c->tlb_second / c->tlb_ways))
		fail(r, "tlb: sets of %u and %u entries are not a power of two",
		     c->tlb_first, c->tlb_second);
	r->has_tlb = true;
}

static void read_cpu(struct reader *r)
{
	unsigned int cpu = number(r, 1, 0, MAX_CPUS - 1);
	unsigned int row = number(r, 2, 0, MAX_ROWS - 1);

	r->c->row_of[cpu] = row;
	r->cpu_seen[cpu] = true;
	if (cpu >= r->c->cpus)
		r->c->cpus = cpu + 1;
	if (row >= r->c->rows)
		r->c->rows = row + 1;
}

static void read_node(struct reader *r)
{
	unsigned int node = number(r, 1, 0, MAX_NODES - 1);

	r->c->node_mbps[node] = number(r, 2, 1, 1U << 24);
	r->c->top[node] = !number(r, 3, 0, 7);
	r->node_seen[node] = true;
	if (node >= r->c->nodes)
		r->c->nodes = node + 1;
}

static void read_way(struct reader *r)
{
	unsigned int row = number(r, 1, 0, MAX_ROWS - 1);
	unsigned int node = number(r, 2, 0, MAX_NODES - 1);

	r->c->path[row][node] = (struct path) {
		.latency_ns = number(r, 3, 1, 1U << 20),
		.mbps = number(r, 4, 1, 1U << 24),
	};
	r->path_seen[row][node] = true;
}

static void read_range(struct reader *r)
{
	struct config *c = r->c;
	struct range new = {
		.start = number(r, 1, 0, FILTER_ADDRESS_MAX),
		.end = number(r, 2, 1, FILTER_ADDRESS_MAX),
		.node = number(r, 3, 0, MAX_NODES - 1),
	};
	unsigned int i;

	if (new.start >= new.end || new.start % 4096 || new.end % 4096)
		return fail(r, "range: not from one page to a later one");
	if (c->ranges == MAX_RANGES)
		return fail(r, "range: more than %d", MAX_RANGES);
	for (i = c->ranges; i > 0 && c->range[i - 1].start > new.start; i--)
		c->range[i] = c->range[i - 1];
	c->range[i] = new;
	c->ranges++;
	if ((i > 0 && c->range[i - 1].end > new.start) ||
	    (i + 1 < c->ranges && c->range[i + 1].start < new.end))
		fail(r, "range: overlaps another one");
}

static void read_hmu(struct reader *r)
{
	r->c->hmu[number(r, 1, 0, MAX_NODES - 1)] = true;
}

static void read_dma(struct reader *r)
{
	r->c->dma_channels = number(r, 1, 1, MAX_CHANNELS);
	r->c->dma_setup_ns = number(r, 2, 0, 1U << 20);
	r->c->dma_mbps = number(r, 3, 1, 1U << 24);
}

static void read_mmio(struct reader *r)
{
	r->c->mmio_read_ns = number(r, 1, 0, 1U << 20);
	r->c->mmio_write_ns = number(r, 2, 0, 1U << 20);
}

static void read_ipi(struct reader *r)
{
	r->c->ipi_send_ns = number(r, 1, 0, 1U << 20);
	r->c->interrupt_ns = number(r, 2, 0, 1U << 20);
}

static void read_ibs(struct reader *r)
{
	r->c->ibs = true;
	r->c->ibs_ns = number(r, 1, 0, 1U << 20);
}

static void read_timeline(struct reader *r)
{
	r->c->timeline_ms = number(r, 1, 0, 100000);
}

static const struct {
	const char *key;
	int values;
	void (*read)(struct reader *r);
} keys[] = {
	{ "output", 1, read_output },
	{ "pages", 1, read_pages },
	{ "profile", 1, read_profile },
	{ "llc", 4, read_llc },
	{ "tlb", 5, read_tlb },
	{ "cpu", 2, read_cpu },
	{ "node", 3, read_node },
	{ "path", 4, read_way },
	{ "range", 3, read_range },
	{ "hmu", 1, read_hmu },
	{ "dma", 3, read_dma },
	{ "mmio", 2, read_mmio },
	{ "ipi", 2, read_ipi },
	{ "ibs", 1, read_ibs },
	{ "timeline_ms", 1, read_timeline },
};

static void read_line(struct reader *r, char *text)
{
	char *save, *word;
	int n = 0;
	size_t i;

	text[strcspn(text, "#\n")] = 0;
	for (word = strtok_r(text, " \t", &save); word;
	     word = strtok_r(NULL, " \t", &save)) {
		if (n == MAX_WORDS)
			return fail(r, "too many values");
		r->words[n++] = word;
	}
	if (!n)
		return;
	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (strcmp(keys[i].key, r->words[0]))
			continue;
		if (n - 1 != keys[i].values)
			return fail(r, "%s takes %d values, not %d",
				    keys[i].key, keys[i].values, n - 1);
		return keys[i].read(r);
	}
	fail(r, "unknown key '%s'", r->words[0]);
}

/* What is only known at the end: is anything missing. */
static void check(struct reader *r)
{
	struct config *c = r->c;
	unsigned int i, row, node;

	r->line = 0;
	if (!r->has_llc)
		fail(r, "no llc");
	if (!r->has_tlb)
		fail(r, "no tlb");
	if (!c->cpus || !c->nodes || !c->ranges)
		fail(r, "no cpu, node or range");
	for (i = 0; i < c->cpus; i++)
		if (!r->cpu_seen[i])
			fail(r, "no cpu %u", i);
	for (node = 0; node < c->nodes; node++)
		if (!r->node_seen[node])
			fail(r, "no node %u", node);
	for (node = 0; node < MAX_NODES; node++)
		if (c->hmu[node] && !r->node_seen[node])
			fail(r, "hmu of node %u, which there is not", node);
	for (i = 0; i < c->ranges; i++)
		if (c->range[i].node >= c->nodes)
			fail(r, "range of node %u, which there is not",
			     c->range[i].node);
	for (row = 0; row < c->rows; row++)
		for (node = 0; node < c->nodes; node++)
			if (!r->path_seen[row][node])
				fail(r, "no path %u %u", row, node);
}

bool config_read(struct config *c, const char *path, char *error, size_t size)
{
	struct reader r = {
		.c = c, .error = error, .error_size = size, .path = path,
	};
	char text[MAX_LINE];
	FILE *f;

	*c = (struct config) {};
	f = fopen(path, "re");
	if (!f) {
		fail(&r, "%s", strerror(errno));
		return false;
	}
	while (!r.failed && fgets(text, sizeof(text), f)) {
		r.line++;
		read_line(&r, text);
	}
	fclose(f);
	if (!r.failed)
		check(&r);
	if (r.failed)
		config_free(c);
	return !r.failed;
}

void config_free(struct config *c)
{
	free(c->output);
	free(c->pages);
	free(c->profile);
	*c = (struct config) {};
}
