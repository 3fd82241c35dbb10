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

static void a_word_says_all_that_a_run_needs(void **state)
{
	/* QEMU puts at most 512 instructions into a block. */
	static const uint32_t counts[] = { 1, 7, 512 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct block *user = blocks_add(0x401000, counts[i]);
		struct block *kernel = blocks_add(KERNEL_PC, counts[i]);

		assert_ptr_equal(block_of(block_word(user)), user);
		assert_ptr_equal(block_of(block_word(kernel)), kernel);
		assert_int_equal(block_mode(block_word(user)), USER);
		assert_int_equal(block_mode(block_word(kernel)), KERNEL);
		assert_int_equal(block_instructions(block_word(kernel)), counts[i]);
	}
}

int test_blocks(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_word_says_all_that_a_run_needs),
		cmocka_unit_test(profile_has_what_took_time),
	};

	return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
