// SPDX-License-Identifier: GPL-2.0
/*
 * Samples on which nodes the pages of a process are while the measured part goes
 * on. Time stands still while it looks, so that looking costs the process nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/bench.h"
#include "lib/measured.h"

#define AT_ONCE		1024
#define MAX_NODES	16
#define FIRST_BITS	16
#define AGAIN_MS	10000	/* a page demoted this soon need not have moved */

/* What is known of a page. An empty slot has no number. */
struct page {
	uint64_t number;	/* virtual page number plus one */
	int8_t node;
	int32_t promoted_ms;	/* -1: it was not */
};

static struct page *table;
static unsigned int table_bits = FIRST_BITS;
static size_t used;

static pid_t pid;
static const char *comm;
static uint64_t interval_ms = 100;
static uint64_t top_tier;	/* bit for each node that has CPUs */
static unsigned long promoted, demoted, demoted_again;
static long count[MAX_NODES];
static int nodes;
static volatile sig_atomic_t stop;

static const struct argp_option options[] = {
	{ "pid", 'P', "PID", 0, "the process", 0 },
	{ "comm", 'C', "NAME", 0, "or its name", 0 },
	{ "interval", 'i', "MS", 0, "milliseconds between samples (default: 100)", 0 },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'P':
		pid = bench_number(state, "pid", arg, 1, INT32_MAX);
		return 0;
	case 'C':
		comm = arg;
		return 0;
	case 'i':
		interval_ms = bench_number(state, "interval", arg, 1, 100000);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void on_term(int signal)
{
	(void)signal;
	stop = 1;
}

static struct page *slot_of(uint64_t number)
{
	size_t mask = ((size_t)1 << table_bits) - 1;
	size_t i = number * 0x9e3779b97f4a7c15ULL >> (64 - table_bits);

	while (table[i].number && table[i].number != number)
		i = (i + 1) & mask;
	return &table[i];
}

static void grow(void)
{
	struct page *old = table;
	size_t i, n = (size_t)1 << table_bits;

	table_bits++;
	table = calloc((size_t)1 << table_bits, sizeof(*table));
	if (!table)
		bench_fail("no memory left");
	for (i = 0; i < n; i++)
		if (old[i].number)
			*slot_of(old[i].number) = old[i];
	free(old);
}

static bool top(int node)
{
	return top_tier >> node & 1;
}

static void saw(uint64_t vpn, int node, int ms)
{
	struct page *p = slot_of(vpn + 1);

	if (node < 0 || node >= MAX_NODES)
		return;
	count[node]++;
	if (!p->number) {
		if (used++ >> (table_bits - 1)) {
			grow();
			p = slot_of(vpn + 1);
		}
		*p = (struct page) { vpn + 1, node, -1 };
		return;
	}
	if (!top(p->node) && top(node)) {
		promoted++;
		p->promoted_ms = ms;
	} else if (top(p->node) && !top(node)) {
		demoted++;
		if (p->promoted_ms >= 0 && ms - p->promoted_ms <= AGAIN_MS)
			demoted_again++;
		p->promoted_ms = -1;
	}
	p->node = node;
}

static void look_at(uint64_t start, uint64_t end, int ms)
{
	void *pages[AT_ONCE];
	int status[AT_ONCE], i, n;

	while (start < end) {
		for (n = 0; n < AT_ONCE && start < end; n++, start += PAGE)
			pages[n] = (void *)start;
		if (syscall(SYS_move_pages, pid, n, pages, NULL, status, 0))
			return;
		for (i = 0; i < n; i++)
			saw((uint64_t)pages[i] / PAGE, status[i], ms);
	}
}

static bool look(int ms)
{
	char name[64], line[512];
	unsigned long start, end;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	f = fopen(name, "re");
	if (!f)
		return false;
	memset(count, 0, sizeof(count));
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 &&
		    !strstr(line, "[v"))
			look_at(start, end, ms);
	fclose(f);
	return true;
}

static pid_t find(const char *name)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	pid_t found = 0;

	while (proc && !found && (d = readdir(proc))) {
		char path[300], said[64] = "";
		FILE *f;

		if (*d->d_name < '0' || *d->d_name > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", d->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fgets(said, sizeof(said), f)) {
			said[strcspn(said, "\n")] = 0;
			if (!strcmp(said, name))
				found = atoi(d->d_name);
		}
		fclose(f);
	}
	if (proc)
		closedir(proc);
	return found;
}

static void pause_ms(uint64_t ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void find_nodes(void)
{
	char name[64], line[512];
	int node;

	for (node = 0; node < MAX_NODES; node++) {
		FILE *f;

		snprintf(name, sizeof(name),
			 "/sys/devices/system/node/node%d/cpulist", node);
		f = fopen(name, "re");
		if (!f)
			continue;
		nodes = node + 1;
		if (fgets(line, sizeof(line), f) && *line != '\n')
			top_tier |= 1ULL << node;
		fclose(f);
	}
}

static void show(int ms, bool first)
{
	int node;

	printf("%s\n{\"ms\":%d,\"promoted\":%lu,\"demoted\":%lu,\"pages\":[",
	       first ? "" : ",", ms, promoted, demoted);
	for (node = 0; node < nodes; node++)
		printf("%s%ld", node ? "," : "", count[node]);
	printf("]}");
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse,
		.doc = "Sample on which nodes a process's pages are, from the "
		       "measured part's beginning to its end.",
	};
	double began;
	bool first = true;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (!pid == !comm)
		bench_fail("one of --pid and --comm is needed");
	signal(SIGTERM, on_term);
	find_nodes();
	table = calloc((size_t)1 << table_bits, sizeof(*table));
	if (!table)
		bench_fail("no memory left");
	while (!stop && access(VMSTAT_BEGIN, F_OK))
		pause_ms(10);
	if (comm)
		pid = find(comm);
	began = bench_now();
	printf("{\"samples\":[");
	while (!stop && access(VMSTAT_END, F_OK)) {
		int ms = (bench_now() - began) * 1000;

		memsim_call(MEMSIM_FREEZE);
		if (look(ms)) {
			show(ms, first);
			first = false;
		}
		memsim_call(MEMSIM_THAW);
		pause_ms(interval_ms);
	}
	printf("],\n\"promoted\":%lu,\"demoted\":%lu,\"demoted_again\":%lu}\n",
	       promoted, demoted, demoted_again);
	return 0;
}
