// SPDX-License-Identifier: GPL-2.0
/* What a target takes just now, and from whom. */
#include "unit.h"
#include "machine.h"

static struct pghot_share share;

static unsigned long takes(int src)
{
	pghot_target_share(0, src, &share);
	return share.pages;
}

static void take(int src, unsigned long nr)
{
	unsigned long paid;
	u32 wait_ms;

	assert_true(pghot_take_tokens(0, src, nr, &paid, &wait_ms));
	assert_int_equal(paid, nr);
}

static void start(void)
{
	machine_start(false);
	/* A thousand pages, where there is room for them. */
	sysctl_numa_balancing_promote_rate_limit = 16;
}

TEST(tokens_or_room_bound_it)
{
	start();
	assert_int_equal(takes(2), 1024);
	assert_false(share.full);
	machine_room(0, 100);
	assert_int_equal(takes(2), 100);
	assert_true(share.full);
	machine_room(0, 0);
	assert_int_equal(takes(2), 0);
	machine_plenty(0);
	assert_int_equal(takes(2), ULONG_MAX);
	machine_stop();
}

TEST(plenty_takes_no_tokens)
{
	unsigned long paid = 7;
	u32 wait_ms;

	start();
	machine_plenty(0);
	assert_true(pghot_take_tokens(0, 2, 5000, &paid, &wait_ms));
	assert_int_equal(paid, 0);
	machine_room(0, 10000);
	assert_int_equal(takes(2), 1024);
	machine_stop();
}

TEST(tokens_that_come_back_can_be_taken_again)
{
	start();
	take(2, 1000);
	assert_int_equal(takes(2), 24);
	pghot_return_tokens(0, 2, 900);
	assert_int_equal(takes(2), 924);
	machine_stop();
}

TEST(a_claim_halves_it)
{
	start();
	pghot_target_claim(0, 2, true);
	assert_int_equal(takes(2), 1024);
	assert_false(share.others);
	assert_int_equal(takes(3), 512);
	assert_true(share.others);
	pghot_target_claim(0, 3, true);
	assert_int_equal(takes(2), 512);
	pghot_target_claim(0, 3, false);
	assert_int_equal(takes(2), 1024);
	machine_stop();
}

TEST(who_had_more_waits_for_the_other)
{
	start();
	pghot_target_claim(0, 2, true);
	pghot_target_claim(0, 3, true);
	take(2, 512);
	/* Half of what is left, and what it is behind. */
	assert_int_equal(takes(3), 512);
	assert_int_equal(takes(2), 0);
	take(3, 412);
	assert_int_equal(takes(2), 0);
	assert_int_equal(takes(3), 100);
	machine_stop();
}

TEST(what_was_before_a_claim_does_not_count)
{
	start();
	pghot_target_claim(0, 2, true);
	take(2, 600);
	pghot_target_claim(0, 3, true);
	assert_int_equal(takes(2), 212);
	assert_int_equal(takes(3), 212);
	/* Nor does what another had while this one did not ask. */
	pghot_target_claim(0, 2, false);
	take(3, 100);
	pghot_target_claim(0, 2, true);
	assert_int_equal(takes(2), 162);
	machine_stop();
}

TEST(a_thread_that_ends_claims_nothing)
{
	start();
	machine_room(0, 0);
	machine_thread(2);
	machine_ready(2, 0, 0);
	machine_run(3);
	machine_room(0, 10000);
	takes(3);
	assert_true(share.others);
	pghot_kmigrated_stop(&machine_lower[2]);
	takes(3);
	assert_false(share.others);
	machine_stop();
}

/* Each target has plenty of room, or was known to gain; of one nothing is known at first. */
TEST(exchange_gains_where_all_targets_have_gained)
{
	struct pghot_room room = {};

	machine_start_apart(false);
	pghot_look_for_room(&room);
	assert_false(room.everywhere || room.gains);
	pghot_target(0)->gain_percent = PGHOT_GAIN_PERCENT;
	pghot_look_for_room(&room);
	assert_false(room.gains);
	pghot_target(1)->gain_percent = PGHOT_GAIN_PERCENT - 1;
	pghot_look_for_room(&room);
	assert_false(room.gains);
	machine_plenty(1);
	pghot_look_for_room(&room);
	assert_true(room.gains);
	assert_false(room.everywhere);
	machine_room(1, 1000);
	pghot_target(1)->gain_percent = PGHOT_GAIN_PERCENT;
	pghot_look_for_room(&room);
	assert_true(room.gains);
	pghot_target(0)->gain_percent = 80;
	pghot_look_for_room(&room);
	assert_false(room.gains);
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(tokens_or_room_bound_it),
	cmocka_unit_test(plenty_takes_no_tokens),
	cmocka_unit_test(tokens_that_come_back_can_be_taken_again),
	cmocka_unit_test(a_claim_halves_it),
	cmocka_unit_test(who_had_more_waits_for_the_other),
	cmocka_unit_test(what_was_before_a_claim_does_not_count),
	cmocka_unit_test(a_thread_that_ends_claims_nothing),
	cmocka_unit_test(exchange_gains_where_all_targets_have_gained),
)
