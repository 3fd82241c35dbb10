// SPDX-License-Identifier: GPL-2.0
/*
 * What migration leaves behind: how it is counted, and whose its tokens are. And what is
 * not tried, as it is known to fail.
 */
#include "unit.h"
#include "machine.h"

#include <linux/mm_inline.h>

#include "promoter.h"

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

/* As one that is being read, or is in a pipe: it has another turn, with the same record. */
TEST(what_somebody_holds_has_another_turn)
{
	for_each_layout(precise) {
		machine_start(precise);
		machine_plenty(0);
		machine_folio(2, 0)->refs++;
		machine_ready(2, 0, 0);
		machine_ready(2, 1, 0);
		machine_thread(2);
		machine_run(3 * PGHOT_PERIOD_MS);
		assert_int_equal(machine_stat("moved"), 1);
		assert_int_equal(machine_stat("skip_migrate"), 0);
		assert_in_range(machine_stat("delay_busy"), 2, 4);
		machine_folio(2, 0)->refs--;
		machine_run(PGHOT_PERIOD_MS + 1);
		assert_int_equal(machine_stat("moved"), 2);
		assert_int_equal(machine_drained, 0);
		machine_stop();
	}
}

/* Behind what goes. */
#define HELD	(2 * PGHOT_WINDOW_MS + 512)

/* Who reads it reports it: nobody's accessed bits are cleared for that. */
TEST(nothing_is_swept_for_what_is_held)
{
	unsigned int now;

	machine_start(false);
	machine_plenty(0);
	machine_folio(2, HELD)->refs++;
	machine_thread(2);
	for (now = 0; now < 2 * PGHOT_WINDOW_MS; now += 50) {
		machine_ready(2, HELD, 0);
		machine_ready(2, now, 0);
		machine_run(50);
	}
	assert_int_equal(machine_bits_looked, 0);
	assert_int_equal(machine_stat("skip_stale"), 0);
	assert_int_equal(machine_stat("moved"), 2 * PGHOT_WINDOW_MS / 50);
	machine_stop();
}

/* Also where a pass goes round again, for those that are less hot. */
TEST(what_is_held_counts_once)
{
	unsigned long i;

	machine_start(false);
	machine_room(0, 4);
	for (i = 0; i < PGHOT_HELD_MAX; i++) {
		machine_folio(2, i)->refs++;
		machine_access(2, i, 0, 12);
	}
	for (; i < PGHOT_HELD_MAX + 100; i++)
		machine_ready(2, i, 0);
	machine_thread(2);
	machine_run(3 * PGHOT_PERIOD_MS);
	assert_int_equal(machine_stat("skip_migrate"), 0);
	assert_true(machine_stat("moved") > 0);
	machine_stop();
}

TEST(what_is_held_for_long_goes_stale)
{
	machine_start(false);
	machine_plenty(0);
	machine_folio(2, 0)->refs++;
	machine_ready(2, 0, 0);
	machine_thread(2);
	machine_run(2 * PGHOT_WINDOW_MS);
	assert_int_equal(machine_stat("moved"), 0);
	assert_int_equal(machine_stat("skip_stale"), 1);
	machine_stop();
}

/*
 * Without the multi-gen LRU: by a CPU that may never have others to activate, be it active by
 * another CPU's list. One that has pages waits for something else.
 */
TEST(what_waits_to_be_activated_is_drained)
{
	machine_start(false);
	machine_lru_gen = false;
	machine_plenty(0);
	machine_large(2, 16, 4)->refs++;
	machine_ready(2, 16, 0);
	machine_thread(2);
	machine_run(PGHOT_WINDOW_MS + PGHOT_PERIOD_MS);
	assert_int_equal(machine_stat("skip_migrate"), 0);
	assert_int_equal(machine_drained, 0);
	machine_folio(2, 1)->active = true;
	machine_folio(2, 1)->refs++;
	machine_ready(2, 1, 0);
	machine_run(PGHOT_PERIOD_MS);
	assert_int_equal(machine_drained, 1);
	machine_stop();
}

/* Of those that wait again and again there are few. */
TEST(many_that_are_held_are_tried)
{
	unsigned long i;

	machine_start(false);
	machine_plenty(0);
	for (i = 0; i < PGHOT_HELD_MAX + 8; i++) {
		machine_folio(2, i)->refs++;
		machine_ready(2, i, 0);
	}
	machine_ready(2, i, 0);
	machine_thread(2);
	machine_run(3 * PGHOT_PERIOD_MS);
	assert_int_equal(machine_stat("skip_migrate"), 8);
	assert_int_equal(machine_stat("moved"), 1);
	while (i--)
		machine_folio(2, i)->refs--;
	machine_run(PGHOT_PERIOD_MS + 1);
	assert_int_equal(machine_stat("moved"), 1 + PGHOT_HELD_MAX);
	machine_stop();
}

/* Others that hold a page which is mapped are for migration to find. */
TEST(what_is_mapped_is_tried)
{
	unsigned long i;

	machine_start(false);
	machine_plenty(0);
	machine_folio(2, 0)->mapped = true;
	machine_folio(2, 1)->anon = true;
	/* It was truncated. */
	machine_folio(2, 2)->mapping = NULL;
	machine_folio(2, 2)->swapcache = true;
	for (i = 0; i < 3; i++) {
		machine_folio(2, i)->refs++;
		machine_ready(2, i, 0);
	}
	machine_thread(2);
	machine_run(PGHOT_PERIOD_MS);
	assert_int_equal(machine_stat("skip_migrate"), 3);
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(a_folio_that_is_split_counts_as_one),
	cmocka_unit_test(a_folio_that_lost_few_pages_has_moved),
	cmocka_unit_test(tokens_of_what_did_not_move_come_back),
	cmocka_unit_test(tokens_that_were_never_taken_do_not_come_back),
	cmocka_unit_test(what_somebody_holds_has_another_turn),
	cmocka_unit_test(nothing_is_swept_for_what_is_held),
	cmocka_unit_test(what_is_held_counts_once),
	cmocka_unit_test(what_is_held_for_long_goes_stale),
	cmocka_unit_test(what_waits_to_be_activated_is_drained),
	cmocka_unit_test(many_that_are_held_are_tried),
	cmocka_unit_test(what_is_mapped_is_tried),
)
