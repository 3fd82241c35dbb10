// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct bench_options bench = { .seed = 1 };

uint64_t bench_number(const struct argp_state *state, const char *option,
		      const char *arg, uint64_t low, uint64_t high)
{
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(arg, &end, 10);
	if (end == arg || *end || *arg == '-' || errno || value < low ||
	    value > high)
		argp_error(state, "--%s: '%s' is not a number from %llu to %llu",
			   option, arg, (unsigned long long)low,
			   (unsigned long long)high);
	return value;
}

struct list bench_list(const struct argp_state *state, const char *option,
		       const char *arg)
{
	char *copy = strdupa(arg), *word, *end = copy + strlen(copy);
	struct list l = { .n = 0 };

	if (end > copy && end[-1] == '+') {
		l.spill = true;
		end[-1] = 0;
	}
	for (word = strtok(copy, ","); word; word = strtok(NULL, ",")) {
		if (l.n == MAX_LIST)
			argp_error(state, "--%s: more than %d numbers", option,
				   MAX_LIST);
		l.item[l.n++] = bench_number(state, option, word, 0, 63);
	}
	return l;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'p':
		bench.place = bench_list(state, "place", arg);
		return 0;
	case 'c':
		bench.cpus = bench_list(state, "cpus", arg);
		return 0;
	case 's':
		bench.seed = bench_number(state, "seed", arg, 0, UINT64_MAX);
		return 0;
	case 'b':
		bench.best = arg;
		return 0;
	case ARGP_KEY_SUCCESS:
		bench_pin(0);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
	{ "place", 'p', "NODES", 0,
	  "nodes the data lies on at first, pages dealt out in turn; with a + behind: the nearest of them with room, and what does not fit lies elsewhere",
	  100 },
	{ "cpus", 'c', "LIST", 0,
	  "CPU of each thread in turn; what comes before runs on the first", 100 },
	{ "seed", 's', "N", 0, "of all random numbers (default: 1)", 100 },
	{ "best", 'b', "FILE", 0,
	  "before the measured part move pages as this says: lines of a page number in hexadecimal and a node",
	  100 },
	{}
};

static const struct argp common = { .options = options, .parser = parse };

const struct argp_child bench_options[] = {
	{ &common, 0, "For all workloads:", 100 },
	{}
};
