// SPDX-License-Identifier: GPL-2.0
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

#define MAX_OPTIONS	16	/* of one workload */

struct workload_options workload = { .seed = 1 };

/* Of the workload; argp has no other way to reach its parser. */
static const struct workload_option *own;

static uint64_t number(const struct argp_state *state, const char *option,
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

static struct list list(const struct argp_state *state, const char *option,
			const char *arg)
{
	char *copy = strdupa(arg), *word, *end = copy + strlen(copy);
	struct list l = { .n = 0 };

	if (!strcmp(arg, "local")) {
		l.local = true;
		return l;
	}
	if (end > copy && end[-1] == '+') {
		l.spill = true;
		end[-1] = 0;
	}
	for (word = strtok(copy, ","); word; word = strtok(NULL, ",")) {
		if (l.n == MAX_LIST)
			argp_error(state, "--%s: more than %d numbers", option,
				   MAX_LIST);
		l.item[l.n++] = number(state, option, word, 0, 63);
	}
	return l;
}

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'p':
		workload.place = list(state, "place", arg);
		return 0;
	case 'c':
		workload.cpus = list(state, "cpus", arg);
		return 0;
	case 's':
		workload.seed = number(state, "seed", arg, 0, UINT64_MAX);
		return 0;
	case 'b':
		workload.best = arg;
		return 0;
	case ARGP_KEY_SUCCESS:
		workload_pin(0);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option common_options[] = {
	{ "place", 'p', "NODES", 0,
	  "nodes the data lies on at first, pages dealt out in turn; with a + behind: the nearest of them with room, and what does not fit lies elsewhere; local: that of the thread's CPU",
	  100 },
	{ "cpus", 'c', "LIST", 0,
	  "CPU of each thread in turn; what comes before runs on the first", 100 },
	{ "seed", 's', "N", 0, "of all random numbers (default: 1)", 100 },
	{ "best", 'b', "FILE", 0,
	  "before the measured part move pages as this says: lines of a page number in hexadecimal and a node",
	  100 },
	{}
};

static const struct argp common = { .options = common_options, .parser = parse_common };

static const struct argp_child children[] = {
	{ &common, 0, "For all workloads:", 100 },
	{}
};

static const char *joined(const char *const *words)
{
	static char text[128];
	size_t n = 0;

	for (; *words && n < sizeof(text); words++)
		n += snprintf(text + n, sizeof(text) - n, "%s%s", n ? ", " : "", *words);
	return text;
}

static void choose(const struct workload_option *o, const char *arg,
		   const struct argp_state *state)
{
	uint64_t i;

	for (i = 0; o->choices[i]; i++) {
		if (!strcmp(arg, o->choices[i])) {
			*o->number = i;
			return;
		}
	}
	argp_error(state, "--%s: '%s' is none of %s", o->name, arg,
		   joined(o->choices));
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	const struct workload_option *o;

	for (o = own; o->name && o->key != key; o++)
		;
	if (!o->name)
		return ARGP_ERR_UNKNOWN;
	if (o->choices)
		choose(o, arg, state);
	else if (o->number)
		*o->number = number(state, o->name, arg, o->low, o->high);
	else if (o->nodes)
		*o->nodes = list(state, o->name, arg);
	else if (o->text)
		*o->text = arg;
	else
		*o->flag = true;
	return 0;
}

/* What argp is to know of @o; the text stays for as long as the program. */
static struct argp_option described(const struct workload_option *o)
{
	const char *kind = o->choices ? "WORD" : o->number ? "N" :
			   o->nodes ? "NODES" : o->text ? "PATH" : NULL;
	char *doc = NULL;
	int done = 0;

	if (o->choices) {
		done = asprintf(&doc, "%s: one of %s (default: %s)", o->doc,
				joined(o->choices), o->choices[*o->number]);
	} else if (o->number) {
		done = asprintf(&doc, "%s%s(default: %lu)", o->doc,
				*o->doc ? " " : "", *o->number);
	} else if (o->text) {
		done = asprintf(&doc, "%s%s(default: %s)", o->doc,
				*o->doc ? " " : "", *o->text);
	}
	if (done < 0)
		workload_fail("no memory left");
	return (struct argp_option){ o->name, o->key, kind, 0,
				     doc ? doc : o->doc, 0 };
}

void workload_parse(int argc, char **argv, const char *doc,
		    const struct workload_option *options)
{
	struct argp_option known[MAX_OPTIONS + 1] = {};
	const struct argp argp = {
		.options = known, .parser = parse_own,
		.children = children, .doc = doc,
	};
	int i;

	for (i = 0; options[i].name; i++) {
		if (i == MAX_OPTIONS)
			workload_fail("more than %d options", MAX_OPTIONS);
		known[i] = described(&options[i]);
	}
	own = options;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
}
