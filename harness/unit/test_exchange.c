// SPDX-License-Identifier: GPL-2.0
/*
 * exchange.c: promotion slows down by itself where what comes is used no more
 * often than what goes for it, and comes back by itself.
 */
#include "exchange.h"

/* Each page as often as each other one, be that seldom or all the time. */
TEST(pages_that_are_alike_are_hardly_exchanged)
{
	unsigned int every;

	for (every = 2; every <= 4 * WINDOW; every *= 3) {
		begin(every, every);
		machine_run(3 * WINDOW);
		assert_true(is_held_back());
		came = 0;
		machine_run(4 * WINDOW);
		/* Now and then more, when it seems to gain by chance. */
		assert_in_range(came, 0, 4 * WINDOW * come_a_tick / 20);
		machine_stop();
	}
}

TEST(what_nobody_uses_is_not_exchanged_for_its_like)
{
	begin(0, 0);
	machine_run(4 * WINDOW);
	assert_true(is_held_back());
	assert_int_equal(machine_stat("exchange_gain"), 0);
	machine_stop();
}

TEST(it_is_known_before_a_window_is_over)
{
	begin(200, 200);
	machine_run(WINDOW * 3 / 4);
	assert_true(machine_stat("exchange_loss") > 0);
	assert_true(is_held_back());
	machine_stop();
}

/* Some times as often: whatever the tick and the quarter of a window can tell. */
TEST(what_is_hotter_keeps_coming)
{
	unsigned int every;

	for (every = 5; every <= WINDOW / 4; every *= 3) {
		begin(every, 4 * every);
		machine_run(8 * WINDOW);
		assert_true(machine_stat("exchange_gain") > 3);
		assert_int_equal(machine_stat("exchange_loss"), 0);
		assert_false(is_held_back());
		machine_stop();
	}
}

TEST(it_comes_back_when_it_gains_again)
{
	begin(200, 200);
	machine_run(20 * WINDOW);
	assert_true(is_held_back());
	went_every = 0;
	machine_run(20 * WINDOW);
	assert_false(is_held_back());
	machine_stop();
}

/* Where nothing goes for it, nothing can be said against what comes. */
TEST(what_takes_nobodys_place_comes)
{
	begin(0, 0);
	give_away = false;
	machine_run(4 * WINDOW);
	assert_false(is_held_back());
	give_away = true;
	machine_run(20 * WINDOW);
	assert_true(is_held_back());
	give_away = false;
	/* What is known of those that went is old by then; and then in some steps. */
	machine_run((PGHOT_SPEED_WINDOWS + 20) * WINDOW);
	assert_false(is_held_back());
	machine_stop();
}

/* Who made DRAM full is gone: all pages are looked for again. */
TEST(plenty_of_room_ends_it)
{
	begin(200, 200);
	/* No other target, that takes all there is. */
	machine_take_away(1);
	machine_run(20 * WINDOW);
	assert_true(pghot_held_back > 0);
	come_a_tick = 0;
	machine_plenty(0);
	machine_run(WINDOW);
	assert_int_equal(pghot_held_back, 0);
	machine_run((PGHOT_SPEED_WINDOWS + 20) * WINDOW);
	assert_false(is_held_back());
	machine_stop();
}

/* After a loss only the hottest come; where there are none, others do again. */
TEST(who_is_choosy_gets_less_so)
{
	unsigned int i;

	begin(200, 200);
	machine_run(3 * WINDOW);
	assert_true(pghot_target(0)->speed.choosy > 0);
	went_every = 0;
	machine_run(20 * WINDOW);
	latency = 100;
	came = 0;
	machine_run(20 * WINDOW);
	assert_true(came > 0);
	/* Whatever was a loss before. */
	for (i = 0; i < 8; i++)
		pghot_speed_judge(&pghot_target(0)->speed, 100, 1 << 20, WINDOW, WINDOW);
	machine_run(WINDOW);
	came = 0;
	machine_run(20 * WINDOW);
	assert_true(came > 0);
	machine_stop();
}

TEST(plenty_of_room_is_not_asked)
{
	begin(0, 0);
	machine_plenty(0);
	machine_run(WINDOW);
	machine_bits_looked = 0;
	machine_run(2 * WINDOW);
	assert_int_equal(machine_bits_looked, 0);
	machine_stop();
}

/* A file that is read and not mapped: no bits tell. */
TEST(what_nobody_has_mapped_says_nothing)
{
	unsigned long i;

	begin(0, 0);
	for (i = 0; i < FRAMES; i++)
		machine_folio(0, i)->mapped = false;
	machine_run(4 * WINDOW);
	assert_int_equal(machine_stat("exchange_loss"), 0);
	machine_stop();
}

/* To and fro: who went is wanted back, and who came is given away again. */
TEST(pages_that_go_back_say_so)
{
	begin(0, 0);
	pghot_backoff = 0;
	frames = 100 * come_a_tick;
	machine_run(4 * WINDOW);
	assert_in_range(pghot_target(0)->gain_percent, 1, 80);
	pghot_backoff = 1;
	machine_stop();
}

/* Then the others have to say it. */
TEST(those_that_say_nothing_do_not_keep_others_from_it)
{
	unsigned long i;

	begin(200, 200);
	for (i = 0; i < FRAMES; i++) {
		machine_folio(0, i)->mapped = i % 5 > 1;
		machine_folio(2, i)->mapped = i % 5 > 1;
	}
	machine_run(4 * WINDOW);
	assert_true(machine_stat("exchange_loss") > 0);
	assert_true(is_held_back());
	machine_stop();
}

/* DRAM is full of files that nobody reads, and they go first: the few others are not like them. */
TEST(few_that_say_something_do_not_speak_for_all)
{
	unsigned long i;

	begin(200, 200);
	for (i = 0; i < FRAMES; i++)
		machine_folio(2, i)->mapped = i % 10 > 6;
	machine_run(20 * WINDOW);
	assert_int_equal(machine_stat("exchange_loss"), 0);
	machine_stop();
}

/* Who reads them says it where anybody can tell. */
TEST(files_that_go_are_watched_where_somebody_tells)
{
	unsigned long i;

	begin(200, 0);
	pghot_page_cache_key = 1;
	for (i = 0; i < FRAMES; i++)
		machine_folio(2, i)->mapped = i % 10 > 6;
	machine_run(8 * WINDOW);
	assert_true(machine_stat("exchange_gain") > 3);
	assert_int_equal(machine_stat("exchange_loss"), 0);
	pghot_page_cache_key = 0;
	machine_stop();
}

/* Cold, as from a node that goes offline. */
static void others_move(void)
{
	unsigned int i;

	for (i = 0; i < come_a_tick; i++)
		move(next++ % frames);
	atomic_long_add(-(long)come_a_tick, &pghot_target(0)->promoted);
	use(2, went_every);
}

TEST(what_others_bring_is_not_judged)
{
	begin(20, 80);
	machine_run(4 * WINDOW);
	assert_int_equal(machine_stat("exchange_loss"), 0);
	machine_work = others_move;
	machine_run(8 * WINDOW);
	assert_int_equal(machine_stat("exchange_loss"), 0);
	assert_false(is_held_back());
	machine_stop();
}

/* Nobody knows then whether it gains by now. */
TEST(what_others_bring_keeps_nothing_slow)
{
	begin(200, 200);
	machine_run(20 * WINDOW);
	assert_true(is_held_back());
	machine_work = others_move;
	machine_run((PGHOT_SPEED_WINDOWS + 80) * WINDOW);
	assert_false(is_held_back());
	machine_stop();
}

/* Within hint faults, by the same tokens. */
static void faults_move(void)
{
	unsigned long before = came;

	tick();
	atomic_long_add(before - came, &pghot_target(0)->promoted);
	atomic_long_add(came - before, &pghot_target(0)->in_fault);
}

TEST(what_hint_faults_bring_is_judged)
{
	begin(200, 200);
	machine_work = faults_move;
	machine_run(8 * WINDOW);
	assert_true(machine_stat("exchange_loss") > 0);
	machine_stop();
}

/* As when maps are made, or the memory notifier runs. */
TEST(pages_are_looked_at_when_memory_neither_comes_nor_goes)
{
	begin(200, 200);
	assert_true(mutex_trylock(&pghot_lock));
	machine_run(8 * WINDOW);
	assert_int_equal(machine_bits_looked, 0);
	mutex_unlock(&pghot_lock);
	machine_run(8 * WINDOW);
	assert_true(machine_stat("exchange_loss") > 0);
	machine_stop();
}

/* New folios wait for a list with others, on a CPU that has few for long. */
TEST(who_waits_for_a_list_is_watched_then)
{
	begin(200, 200);
	listed_after = 100;
	machine_run(4 * WINDOW);
	assert_true(machine_stat("exchange_loss") > 0);
	machine_stop();
}

/* The frames have other pages by now, and these are cold. */
TEST(pages_that_took_a_frame_since_say_nothing)
{
	unsigned int now;
	unsigned long i;

	begin(100, 0);
	for (now = 0; now < 4 * WINDOW; now += 10) {
		machine_run(10);
		for (i = 0; i < FRAMES; i++)
			machine_folio(0, i)->mapping = &seed + now % 2;
	}
	assert_int_equal(machine_stat("exchange_loss"), 0);
	machine_stop();
}

TEST(it_can_be_switched_off)
{
	begin(200, 200);
	pghot_backoff = 0;
	machine_run(8 * WINDOW);
	assert_false(is_held_back());
	pghot_backoff = 1;
	assert_true(is_held_back());
	machine_stop();
}

/* Watching takes a bounded part of the time, and none when nothing moves. */
TEST(watching_costs_little)
{
	unsigned long looked;

	begin(0, 0);
	pghot_backoff = 0;
	looked = machine_bits_looked;
	machine_run(10 * WINDOW);
	looked = machine_bits_looked - looked;
	pghot_backoff = 1;
	/* At a microsecond each a tenth of a percent of a CPU or two. */
	assert_in_range(looked, 1, 10 * WINDOW * 2);
	come_a_tick = 0;
	machine_run(WINDOW);
	looked = machine_bits_looked;
	machine_run(WINDOW);
	assert_int_equal(machine_bits_looked, looked);
	machine_stop();
}

TEST(what_gains_is_watched_less)
{
	unsigned long looked;

	begin(50, 0);
	looked = machine_bits_looked;
	machine_run(10 * WINDOW);
	assert_in_range(machine_bits_looked - looked, 1, 10 * WINDOW);
	machine_stop();
}

/* Only what crosses from one tier to the other. */
TEST(moves_within_a_tier_are_none_of_its_business)
{
	struct folio from = { .nid = 1 };
	unsigned long i;

	begin(0, 0);
	come_a_tick = 0;
	machine_run(WINDOW);
	machine_bits_looked = 0;
	for (i = 0; i < 100; i++) {
		__pghot_moved(machine_folio(0, i), &from);
		machine_run(1);
	}
	machine_run(WINDOW);
	assert_int_equal(machine_bits_looked, 0);
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(pages_that_are_alike_are_hardly_exchanged),
	cmocka_unit_test(what_nobody_uses_is_not_exchanged_for_its_like),
	cmocka_unit_test(it_is_known_before_a_window_is_over),
	cmocka_unit_test(what_is_hotter_keeps_coming),
	cmocka_unit_test(it_comes_back_when_it_gains_again),
	cmocka_unit_test(what_takes_nobodys_place_comes),
	cmocka_unit_test(plenty_of_room_ends_it),
	cmocka_unit_test(who_is_choosy_gets_less_so),
	cmocka_unit_test(plenty_of_room_is_not_asked),
	cmocka_unit_test(what_nobody_has_mapped_says_nothing),
	cmocka_unit_test(pages_that_go_back_say_so),
	cmocka_unit_test(those_that_say_nothing_do_not_keep_others_from_it),
	cmocka_unit_test(few_that_say_something_do_not_speak_for_all),
	cmocka_unit_test(files_that_go_are_watched_where_somebody_tells),
	cmocka_unit_test(what_others_bring_is_not_judged),
	cmocka_unit_test(what_others_bring_keeps_nothing_slow),
	cmocka_unit_test(what_hint_faults_bring_is_judged),
	cmocka_unit_test(pages_are_looked_at_when_memory_neither_comes_nor_goes),
	cmocka_unit_test(who_waits_for_a_list_is_watched_then),
	cmocka_unit_test(pages_that_took_a_frame_since_say_nothing),
	cmocka_unit_test(it_can_be_switched_off),
	cmocka_unit_test(watching_costs_little),
	cmocka_unit_test(what_gains_is_watched_less),
	cmocka_unit_test(moves_within_a_tier_are_none_of_its_business),
)
