// SPDX-License-Identifier: GPL-2.0
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"

#define GOOD "llc 0x100000 8 12 28\ntlb 64 1536 12 3 10\n" \
	     "cpu 0 0\ncpu 1 1 # the other socket\n\n" \
	     "node 0 1000 0\nnode 1 500 1\npath 0 0 90 1000\npath 0 1 250 500\n" \
	     "path 1 0 140 300\npath 1 1 300 400\n" \
	     "range 0x40000000 0x80000000 1\nrange 0 0x40000000 0\n"

static bool read_text(struct config *c, const char *text, char *error)
{
	char name[] = "/tmp/memsim-test-XXXXXX";
	int fd = mkstemp(name);
	bool good;

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	good = config_read(c, name, error, 256);
	unlink(name);
	/* Errors begin with the file's name. */
	if (!good) {
		assert_int_equal(strncmp(error, name, strlen(name)), 0);
		memmove(error, error + strlen(name), strlen(error + strlen(name)) + 1);
	}
	return good;
}

static void a_whole_machine(void **state)
{
	struct config c;
	char error[256];

	(void)state;
	assert_true(read_text(&c, GOOD "output /a/b\ntimeline_ms 50\nhmu 1\n"
			      "dma 4 700 12000\nmmio 800 100\nipi 300 250\nibs 100\n", error));
	assert_int_equal(c.cpus, 2);
	assert_int_equal(c.snoop_ns, 28);
	assert_int_equal(c.tlb_second, 1536);
	assert_int_equal(c.walk_ns, 10);
	assert_int_equal(c.rows, 2);
	assert_int_equal(c.row_of[1], 1);
	assert_int_equal(c.nodes, 2);
	assert_true(c.top[0]);
	assert_false(c.top[1]);
	assert_int_equal(c.path[1][0].latency_ns, 140);
	assert_int_equal(c.path[1][0].mbps, 300);
	assert_int_equal(c.timeline_ms, 50);
	assert_false(c.hmu[0]);
	assert_true(c.hmu[1]);
	assert_int_equal(c.dma_channels, 4);
	assert_int_equal(c.dma_setup_ns, 700);
	assert_int_equal(c.dma_mbps, 12000);
	assert_int_equal(c.mmio_read_ns, 800);
	assert_int_equal(c.ipi_send_ns, 300);
	assert_int_equal(c.interrupt_ns, 250);
	assert_true(c.ibs);
	assert_int_equal(c.ibs_ns, 100);
	assert_string_equal(c.output, "/a/b");
	assert_null(c.pages);
	/* Sorted, whatever their order was. */
	assert_int_equal(c.ranges, 2);
	assert_int_equal(c.range[0].start, 0);
	assert_int_equal(c.range[1].node, 1);
	config_free(&c);
}

static void each_error_says_where(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ GOOD "colour 1\n", ":14: unknown key 'colour'" },
		{ GOOD "cpu 2\n", ":14: cpu takes 2 values, not 1" },
		{ GOOD "path 0 0 1 2 3 4\n", ":14: too many values" },
		{ GOOD "cpu x 0\n", ":14: cpu: 'x' is not a number from 0 to 63" },
		{ GOOD "cpu -1 0\n", ":14: cpu: '-1' is not a number from 0 to 63" },
		{ GOOD "cpu 64 0\n", ":14: cpu: '64' is not a number from 0 to 63" },
		{ GOOD "node 1 0 1\n", ":14: node: '0' is not a number from 1 to 16777216" },
		{ GOOD "llc 0x180000 8 12 28\n", ":14: llc: 1572864 bytes are not a power of two" },
		{ GOOD "tlb 64 1536 8 3 10\n", ":14: tlb: sets of 64 and 1536 entries are not a power of two" },
		{ GOOD "tlb 64 1536 12 3\n", ":14: tlb takes 5 values, not 4" },
		{ GOOD "range 0 0x1000 0\n", ":14: range: overlaps another one" },
		{ GOOD "range 0x80000000 0x80000001 0\n", ":14: range: not from one page to a later one" },
		{ GOOD "range 0x80000000 0x80000000000 0\n",
		  ":14: range: '0x80000000000' is not a number from 1 to 8796093018112" },
		{ GOOD "range 0x80000000 0x80001000 2\n", ": range of node 2, which there is not" },
		{ GOOD "cpu 3 0\n", ": no cpu 2" },
		{ GOOD "hmu 2\n", ": hmu of node 2, which there is not" },
		{ GOOD "dma 17 1 1\n", ":14: dma: '17' is not a number from 1 to 16" },
		{ GOOD "node 3 5 0\n", ": no node 2" },
		{ GOOD "cpu 2 2\n", ": no path 2 0" },
		{ "cpu 0 0\n", ": no llc" },
		{ "llc 4096 8 1 1\n", ": no tlb" },
		{ "llc 4096 8 1 1\ntlb 4 4 4 0 0\n", ": no cpu, node or range" },
	};
	struct config c;
	char error[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_false(read_text(&c, cases[i].text, error));
		assert_string_equal(error, cases[i].error);
	}
	assert_false(config_read(&c, "/no/file", error, sizeof(error)));
	assert_string_equal(error, "/no/file: No such file or directory");
}

int test_config(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_machine),
		cmocka_unit_test(each_error_says_where),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
