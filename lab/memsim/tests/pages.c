// SPDX-License-Identifier: GPL-2.0
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "pages.h"

#define MANY	100000
#define SECOND	1000000000LL

static void counts_are_right_as_it_grows(void **state)
{
	static uint32_t want[MANY][2];
	struct pages p;
	uint64_t x = 1, vpn, last = 0;
	unsigned int a, b, lines = 0;
	char *text, *at;
	size_t size;
	FILE *f;
	int n;

	(void)state;
	assert_true(pages_init(&p));
	for (n = 0; n < 4 * MANY; n++) {
		uint64_t r = number(&x);

		vpn = (r >> 8) % MANY;
		want[vpn][r & 1]++;
		assert_true(pages_count(&p, 0x1000, vpn, r & 1, true, n));
		/* Another program has pages of the same numbers. */
		assert_true(pages_count(&p, 0x2000, vpn, 0, true, n));
	}
	f = open_memstream(&text, &size);
	assert_true(pages_write(&p, 0x1000, 2, f));
	fclose(f);
	for (at = text; sscanf(at, "%lx %u %u\n%n", &vpn, &a, &b, &n) == 3; at += n) {
		assert_true(!lines || vpn > last);
		assert_int_equal(a, want[vpn][0]);
		assert_int_equal(b, want[vpn][1]);
		last = vpn;
		lines++;
	}
	for (n = 0; n < MANY; n++)
		lines -= want[n][0] || want[n][1];
	assert_int_equal(lines, 0);
	free(text);
	pages_exit(&p);
}

static void moves_are_seen(void **state)
{
	struct pages p;

	(void)state;
	assert_true(pages_init(&p));
	pages_count(&p, 1, 5, 0, false, 0);
	pages_count(&p, 1, 5, 0, true, 1 * SECOND);
	pages_count(&p, 1, 5, 0, true, 2 * SECOND);
	assert_int_equal(p.promoted, 1);
	pages_count(&p, 1, 5, 0, false, 9 * SECOND);
	assert_int_equal(p.demoted, 1);
	assert_int_equal(p.demoted_again, 1);
	pages_count(&p, 1, 5, 0, true, 10 * SECOND);
	pages_count(&p, 1, 5, 0, false, 21 * SECOND);
	assert_int_equal(p.promoted, 2);
	assert_int_equal(p.demoted, 2);
	/* It was of use for more than ten seconds. */
	assert_int_equal(p.demoted_again, 1);
	/* One that began in the top tier was not promoted before. */
	pages_count(&p, 1, 6, 0, true, 0);
	pages_count(&p, 1, 6, 0, false, SECOND);
	assert_int_equal(p.demoted_again, 1);
	pages_clear(&p);
	assert_int_equal(p.promoted + p.demoted + p.demoted_again + p.used, 0);
	pages_exit(&p);
}

int test_pages(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_right_as_it_grows),
		cmocka_unit_test(moves_are_seen),
	};

	return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
