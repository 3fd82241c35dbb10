// SPDX-License-Identifier: GPL-2.0
#include "machine.h"

#include <string.h>
#include <unistd.h>

#include "results.h"

#define MIB	(1ULL << 20)

/* What @r says, once it is a file. */
static char *written(const struct results *r, const struct memory *m)
{
	static char text[16384];
	struct pages pages;
	FILE *f;

	assert_true(pages_init(&pages));
	assert_true(results_write(r, m, &pages, 1.5));
	pages_exit(&pages);
	f = fopen(m->c->output, "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	return text;
}

/* An interval has what came in it, programs' and the kernel's misses apart. */
static void the_time_line_tells_programs_from_the_kernel(void **state)
{
	char name[] = "/tmp/memsim-test-XXXXXX";
	struct config machine = {
		.output = name, .llc_bytes = MIB, .llc_ways = 8, .rows = 1, .cpus = 2,
		.nodes = 2, .node_mbps = { 1, 1 }, .path = { { { 1, 1 }, { 1, 1 } } },
		.ranges = 1, .range = { { 0, MIB, 0 } }, .timeline_ms = 1,
	};
	struct memory *m = memory_of(&machine);
	struct results *r = calloc(1, sizeof(*r));
	const char *text;

	(void)state;
	assert_non_null(r);
	close(mkstemp(name));
	results_begin(r, &machine, 5000);
	r->cpu[0][USER].nodes[1] = 3;
	r->cpu[0][USER].node_ns[1] = 700;
	r->cpu[1][USER].nodes[1] = 1;
	r->cpu[1][USER].node_ns[1] = 300;
	r->cpu[1][KERNEL].nodes[1] = 100;
	r->cpu[1][KERNEL].node_ns[1] = 200;
	results_tick(r, m, 1004999);
	results_tick(r, m, 1005000);
	r->cpu[1][USER].nodes[0] = 2;
	r->cpu[1][USER].node_ns[0] = 180;
	r->cpu[1][USER].nodes[1] = 2;
	r->cpu[1][USER].node_ns[1] = 550;
	results_tick(r, m, 2005000);
	text = strstr(written(r, m), "\"timeline\"");
	assert_non_null(text);
	assert_non_null(strstr(text, "[\n{\"ns\":1000000,\"nodes\":["
		"{\"pages\":0,\"user\":{\"misses\":0,\"ns\":0},\"kernel\":{\"misses\":0,\"ns\":0}},"
		"{\"pages\":0,\"user\":{\"misses\":4,\"ns\":1000},\"kernel\":{\"misses\":100,\"ns\":200}}]},\n"
		"{\"ns\":2000000,\"nodes\":["
		"{\"pages\":0,\"user\":{\"misses\":2,\"ns\":180},\"kernel\":{\"misses\":0,\"ns\":0}},"
		"{\"pages\":0,\"user\":{\"misses\":1,\"ns\":250},\"kernel\":{\"misses\":0,\"ns\":0}}]}]"));
	unlink(name);
	free(r->line);
	free(r);
	drop(m);
}

int test_results(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_line_tells_programs_from_the_kernel),
	};

	return cmocka_run_group_tests_name("results", tests, NULL, NULL);
}
