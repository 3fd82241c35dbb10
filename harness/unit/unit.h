/* SPDX-License-Identifier: GPL-2.0 */
/* What every unit test program starts from. */
#ifndef _UNIT_H
#define _UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness.h"

/* A test takes cmocka's state even where it has none. */
#define TEST(name)	static void name(void **state)

/*
 * Run the tests, or the one that the command line names. cmocka's exit status
 * is the number of failures; none found under that name is one.
 */
static inline int unit_main(int argc, char **argv, const char *program,
			    const struct CMUnitTest *tests, size_t nr)
{
	int failed;

	harness_thread_enter();
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	failed = _cmocka_run_group_tests(program, tests, nr, NULL, NULL);
	harness_thread_leave();
	return failed != 0;
}

#define UNIT_MAIN(...)							\
	int main(int argc, char **argv)					\
	{								\
		const struct CMUnitTest tests[] = { __VA_ARGS__ };	\
									\
		return unit_main(argc, argv, __FILE__, tests,		\
				 sizeof(tests) / sizeof(tests[0]));	\
	}

#endif
