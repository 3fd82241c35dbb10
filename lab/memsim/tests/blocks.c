// SPDX-License-Identifier: GPL-2.0
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "blocks.h"

#define KERNEL_PC	0xffffffff81000000ULL

static void profile_has_what_took_time(void **state)
{
	struct block *user = blocks_add(0x401000, 3);
	struct block *kernel = blocks_add(KERNEL_PC, 7);
	char path[] = "/tmp/memsim-blocks-XXXXXX", text[256] = "";
	FILE *f;

	(void)state;
	assert_int_equal(user->mode, USER);
	assert_int_equal(kernel->mode, KERNEL);
	assert_int_equal(kernel->instructions, 7);
	kernel->ns = 1;
	blocks_clear();
	assert_int_equal(kernel->ns, 0);
	user->ns = 90;
	close(mkstemp(path));
	assert_true(blocks_write(path));
	f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f));
	assert_string_equal(text, "401000 90\n");
	fclose(f);
	unlink(path);
	assert_false(blocks_write("/nowhere/at/all"));
}

int test_blocks(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profile_has_what_took_time),
	};

	return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
