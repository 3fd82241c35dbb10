// SPDX-License-Identifier: GPL-2.0
/* What migration leaves behind: how it is counted, and whose its tokens are. */
#include "unit.h"
#include "machine.h"

TEST(a_folio_that_is_split_counts_as_one)
{
	unsigned long i;

	machine_start(false);
	pghot_batch_pages = 64;
	for (i = 0; i < 4; i++) {
		machine_large(2, i * 16, 4);
		machine_ready(2, i * 16, 0);
	}
	machine_folio(2, 16)->splits = 12;
	machine_thread(2);
	machine_run(PGHOT_PERIOD_MS + 1);
	assert_int_equal(machine_stat("moved"), 3);
	assert_int_equal(machine_stat("skip_migrate"), 1);
	assert_int_equal(machine_stat("promoted_pages"), 64 - 12);
	machine_stop();
}

TEST(a_folio_that_lost_few_pages_has_moved)
{
	machine_start(false);
	machine_large(2, 0, 9)->splits = 3;
	machine_ready(2, 0, 0);
	machine_thread(2);
	machine_run(PGHOT_PERIOD_MS + 1);
	assert_int_equal(machine_stat("moved"), 1);
	assert_int_equal(machine_stat("promoted_pages"), 509);
	machine_stop();
}

/* Use up all tokens of target 0, which has a second's debt then. */
static void start_without_tokens(void)
{
	machine_start(false);
	pghot_tunables.window_ms = 60000;
	sysctl_numa_balancing_promote_rate_limit = 1;
	machine_thread(2);
	machine_large(2, 1024, 8);
	machine_ready(2, 1024, 0);
	machine_run(2);
	assert_int_equal(machine_stat("moved"), 1);
}

TEST(tokens_of_what_did_not_move_come_back)
{
	unsigned long i;

	machine_start(false);
	pghot_tunables.window_ms = 60000;
	sysctl_numa_balancing_promote_rate_limit = 1;
	for (i = 0; i < 64; i++) {
		machine_folio(2, i)->pinned = true;
		machine_ready(2, i, 0);
		machine_ready(2, 64 + i, 0);
	}
	machine_thread(2);
	machine_run(PGHOT_PERIOD_MS + 5);
	assert_int_equal(machine_moved(2, 64, 128, 0), 64);
	machine_stop();
}

/* A target with plenty asks for none, so it owes none. */
TEST(tokens_that_were_never_taken_do_not_come_back)
{
	unsigned long i;

	start_without_tokens();
	machine_plenty(0);
	for (i = 0; i < 256; i++) {
		machine_folio(2, i)->pinned = true;
		machine_ready(2, i, 0);
	}
	machine_run(100);
	assert_int_equal(machine_stat("skip_migrate"), 256);
	machine_room(0, 10000);
	for (i = 256; i < 512; i++)
		machine_ready(2, i, 0);
	machine_run(200);
	assert_int_equal(machine_stat("moved"), 1);
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(a_folio_that_is_split_counts_as_one),
	cmocka_unit_test(a_folio_that_lost_few_pages_has_moved),
	cmocka_unit_test(tokens_of_what_did_not_move_come_back),
	cmocka_unit_test(tokens_that_were_never_taken_do_not_come_back),
)
