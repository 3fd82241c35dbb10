// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that wait for longer than the window, and no source reports again: what
 * is in use goes when there is room, what nobody uses does not.
 */
#include "unit.h"
#include "machine.h"

#define PAGES		100UL
#define MANY		512UL
#define WINDOW		PGHOT_WINDOW_MS

/* Node 0 is full, and after some time pages of node 2 wait for it. */
static void begin_full_after(unsigned int ms, bool precise, unsigned long nr)
{
	machine_start_apart(precise);
	machine_room(0, 0);
	machine_thread(2);
	machine_run(ms);
	machine_ready_first(2, nr, 0);
}

static void begin_full(bool precise, unsigned long nr)
{
	begin_full_after(WINDOW + 1234, precise, nr);
}

/* Access each page once in @every ms, page by page, for @ms. */
static void use(unsigned long nr, unsigned int every, unsigned int ms)
{
	unsigned int now;
	unsigned long i;

	for (now = 0; now < ms; now++) {
		for (i = now % every; i < nr; i += every)
			machine_touch(2, i);
		machine_run(1);
	}
}

static void touch_all(unsigned long nr)
{
	unsigned long i;

	for (i = 0; i < nr; i++)
		machine_touch(2, i);
}

static void room_for_all(void)
{
	machine_room(0, 100000);
	machine_run(2 * PGHOT_PERIOD_MS);
}

TEST(what_is_in_use_goes_when_there_is_room)
{
	unsigned int wait;

	for_each_layout(precise) {
		for (wait = WINDOW; wait < 3 * WINDOW; wait += 777) {
			begin_full(precise, PAGES);
			use(PAGES, PAGES, wait);
			assert_int_equal(machine_stat("moved"), 0);
			room_for_all();
			assert_int_equal(machine_moved(2, 0, PAGES, 0), PAGES);
			assert_true(machine_stat("refreshed") > 0);
			assert_int_equal(machine_stat("recorded"), PAGES);
			machine_stop();
		}
	}
}

TEST(what_nobody_uses_goes_stale)
{
	for_each_layout(precise) {
		begin_full(precise, PAGES);
		machine_run(2 * WINDOW);
		assert_int_equal(machine_stat("skip_stale"), PAGES);
		assert_int_equal(machine_stat("refreshed"), 0);
		room_for_all();
		assert_int_equal(machine_stat("moved"), 0);
		machine_stop();
	}
}

TEST(who_stops_using_a_page_lets_it_go_stale)
{
	for_each_layout(precise) {
		begin_full(precise, PAGES);
		use(PAGES, PAGES, 3 * WINDOW);
		assert_int_equal(machine_stat("skip_stale"), 0);
		machine_run(2 * WINDOW);
		assert_int_equal(machine_stat("skip_stale"), PAGES);
		machine_stop();
	}
}

/* As often as makes pages ready that are counted: twice in a window, whenever. */
TEST(what_is_used_twice_in_a_window_stays_ready)
{
	unsigned int begin;

	for_each_layout(precise) {
		for (begin = 0; begin < WINDOW / 4; begin += 150) {
			begin_full_after(2 * WINDOW + begin, precise, PAGES);
			use(PAGES, WINDOW / 2 - 200, 5 * WINDOW);
			assert_int_equal(machine_stat("skip_stale"), 0);
			assert_true(machine_stat("refreshed") > 0);
			room_for_all();
			assert_int_equal(machine_moved(2, 0, PAGES, 0), PAGES);
			assert_true(machine_cold_ms < WINDOW);
			machine_stop();
		}
	}
}

/* One report of a page that waits, and was hot before: it is no colder by that. */
TEST(a_report_of_what_waits_takes_nothing_away)
{
	unsigned long i;
	unsigned int at, now;

	for_each_layout(precise) {
		for (at = 0; at < WINDOW / 2; at += 250) {
			begin_full_after(2 * WINDOW + 700, precise, MANY);
			for (now = 0; now < 5 * WINDOW; now += 50) {
				touch_all(MANY);
				for (i = 100; now == 3 * WINDOW + at && i < MANY; i++)
					machine_access(2, i, 0, 1);
				machine_run(50);
			}
			assert_int_equal(machine_stat("skip_stale"), 0);
			machine_stop();
		}
	}
}

/* Others take seconds to move, and keep the thread from nothing. */
TEST(a_long_pass_takes_nothing_away_from_what_waits)
{
	unsigned long i;
	unsigned int at, now;

	for_each_layout(precise) {
		for (at = 100; at < WINDOW / 2; at += 600) {
			begin_full_after(2 * WINDOW + 700, precise, MANY);
			machine_room(1, 500000);
			machine_moves_a_tick = 8;
			for (now = 0; now < 4 * WINDOW; now += 20) {
				touch_all(MANY);
				for (i = 0; now == 2 * WINDOW + at && i < 20000; i++)
					machine_ready(2, 4096 + i, 1);
				machine_run(20);
			}
			machine_moves_a_tick = 0;
			assert_int_equal(machine_stat("skip_stale"), 0);
			assert_int_equal(machine_stat("moved"), 20000);
			machine_stop();
		}
	}
}

/* All pages are used every 500 ms; others of their block go, so that it is looked at. */
static void use_while_others_go(unsigned int ms)
{
	unsigned int now;

	for (now = 0; now < ms; now += 25) {
		if (now % 500 == 0)
			touch_all(PAGES);
		machine_ready(2, PAGES + now / 25, 1);
		machine_run(25);
	}
	assert_int_equal(machine_stat("moved"), ms / 25);
}

/* Whenever sweeps begin, and whenever the last report was, between two of them. */
TEST(what_is_in_use_stays_ready_whenever_it_was_reported_last)
{
	unsigned int begin, last, now;

	for_each_layout(precise) {
		for (begin = 50; begin < WINDOW / 4; begin += 300) {
			for (last = 0; last < WINDOW / 2; last += 400) {
				begin_full_after(2 * WINDOW + begin, precise, PAGES);
				machine_plenty(1);
				for (now = 0; now < WINDOW + last; now += 200) {
					touch_all(PAGES);
					machine_run(200);
				}
				machine_ready_first(2, PAGES, 0);
				use_while_others_go(2 * WINDOW);
				assert_int_equal(machine_stat("skip_stale"), 0);
				machine_stop();
			}
		}
	}
}

/* Each page as rarely as chance will have it; now and then some may go. */
static void use_at_random(u64 seed, bool precise)
{
	unsigned int every[PAGES], now;
	unsigned long i;

	begin_full(precise, PAGES);
	for (i = 0; i < PAGES; i++)
		every[i] = 1 + harness_random(&seed) % (2 * WINDOW);
	for (now = 0; now < 8 * WINDOW; now++) {
		for (i = 0; i < PAGES; i++) {
			if (machine_folio(2, i)->target == NUMA_NO_NODE &&
			    harness_random(&seed) % every[i] == 0)
				machine_touch(2, i);
			if (harness_random(&seed) % (40 * WINDOW) == 0)
				machine_folio(2, i)->locked ^= true;
		}
		if (harness_random(&seed) % 500 == 0)
			machine_room(0, harness_random(&seed) % 4);
		machine_run(1);
	}
	assert_true(machine_stat("moved") > 0);
	assert_true(machine_cold_ms < WINDOW);
	machine_stop();
}

TEST(whatever_goes_was_used_within_the_window)
{
	u64 seed;

	for_each_layout(precise)
		for (seed = 1; seed <= 5; seed++)
			use_at_random(seed, precise);
}

/*
 * The bits of a page that is locked cannot be cleared. When they can be read they
 * tell of accesses that may be long ago.
 */
TEST(bits_that_were_not_cleared_prove_nothing)
{
	unsigned long i;

	for_each_layout(precise) {
		begin_full(precise, PAGES);
		for (i = 0; i < PAGES; i++)
			machine_folio(2, i)->locked = true;
		machine_run(WINDOW / 2 + 200);
		for (i = 0; i < PAGES; i++)
			machine_folio(2, i)->locked = false;
		machine_run(2 * WINDOW);
		assert_int_equal(machine_stat("refreshed"), 0);
		assert_int_equal(machine_stat("skip_stale"), PAGES);
		machine_stop();
	}
}

TEST(a_page_that_is_locked_at_times_stays_ready)
{
	begin_full(false, PAGES);
	use(PAGES, PAGES, WINDOW / 4);
	machine_folio(2, 7)->locked = true;
	use(PAGES, PAGES, WINDOW / 2);
	machine_folio(2, 7)->locked = false;
	use(PAGES, PAGES, 3 * WINDOW);
	room_for_all();
	assert_int_equal(machine_moved(2, 0, 7, 0), 7);
	assert_int_equal(machine_moved(2, 8, PAGES, 0), PAGES - 8);
	assert_int_equal(machine_moved(2, 0, PAGES, 0) + machine_stat("skip_stale"),
			 PAGES);
	assert_true(machine_cold_ms < WINDOW);
	machine_stop();
}

static void free_pages(unsigned long from, unsigned long to)
{
	for (; from < to; from++) {
		machine_folio(2, from)->refs = 0;
		machine_folio(2, from)->mapping = NULL;
	}
}

/* One of each offset there is, in whatever is counted by 512. */
TEST(pages_that_were_freed_take_none_with_them)
{
	for_each_layout(precise) {
		begin_full(precise, 2 * MANY);
		free_pages(MANY, 2 * MANY);
		use(MANY, MANY, 3 * WINDOW);
		assert_int_equal(machine_stat("skip_gone"), MANY);
		assert_int_equal(machine_stat("skip_stale"), 0);
		room_for_all();
		assert_int_equal(machine_moved(2, 0, MANY, 0), MANY);
		machine_stop();
	}
}

/* Each time it is what was ready a moment ago that is free by now. */
TEST(pages_that_come_and_go_take_none_with_them)
{
	unsigned long i, round;

	begin_full(false, MANY);
	for (round = 1; round <= 12; round++) {
		for (i = round * MANY; i < (round + 1) * MANY; i++)
			machine_ready(2, i, 0);
		free_pages(round * MANY, (round + 1) * MANY);
		use(MANY, MANY, WINDOW / 4);
	}
	assert_int_equal(machine_stat("skip_stale"), 0);
	room_for_all();
	assert_int_equal(machine_moved(2, 0, MANY, 0), MANY);
	machine_stop();
}

TEST(pages_that_are_locked_take_few_with_them)
{
	unsigned long i;

	begin_full(false, 2 * MANY);
	for (i = MANY; i < 2 * MANY; i++)
		machine_folio(2, i)->locked = true;
	use(2 * MANY, MANY, 3 * WINDOW);
	room_for_all();
	/* By chance, two of them. */
	assert_in_range(machine_moved(2, 0, MANY, 0), MANY - 8, MANY);
	assert_int_equal(machine_moved(2, MANY, 2 * MANY, 0), 0);
	machine_stop();
}

/* Beside the first @many pages there are @few from @far on that wait. */
static void use_with(unsigned long many, unsigned long far, unsigned long few,
		     unsigned int ms)
{
	unsigned int now;
	unsigned long i;

	for (i = far; i < far + few; i++)
		machine_ready(2, i, 0);
	for (now = 0; now < ms; now++) {
		for (i = now % 1000; i < many; i += 1000)
			machine_touch(2, i);
		for (i = now % 1000; i < few; i += 1000)
			machine_touch(2, far + i);
		machine_run(1);
	}
}

/* As one cgroup's pages at low addresses, and another's far above. */
TEST(all_that_waits_has_the_same_chance_wherever_it_is)
{
	const unsigned long many = PAGES_PER_SECTION, few = 200;
	const unsigned long far = 3 * PAGES_PER_SECTION;
	unsigned long i, third, moved;

	begin_full(false, many);
	use_with(many, far, few, 3 * WINDOW);
	room_for_all();
	moved = machine_stat("moved");
	assert_in_range(moved, WINDOW / 2 * 10 * 9 / 10, WINDOW / 2 * 10);
	for (i = 0; i < 3; i++) {
		third = machine_moved(2, i * many / 3, (i + 1) * many / 3, 0);
		assert_in_range(third, moved * 3 / 10, moved * 4 / 10);
	}
	assert_in_range(machine_moved(2, far, far + few, 0), few * 5 / 10,
			few * 7 / 10);
	machine_stop();
}

/* Most pages take ten times what others do, and there is so much for all. */
TEST(pages_of_many_processes_leave_something_for_others)
{
	const unsigned long many = 8000, few = 200, far = PAGES_PER_SECTION;
	unsigned long i, part;

	begin_full(false, many);
	for (i = 0; i < many; i++)
		machine_folio(2, i)->entries = 10;
	use_with(many, far, few, 3 * WINDOW);
	assert_true(machine_bits_looked <= 4 * WINDOW * 10);
	room_for_all();
	part = machine_moved(2, far, far + few, 0) * many / few;
	assert_in_range(part, WINDOW / 2 * 8 / 10, WINDOW / 2);
	assert_in_range(machine_moved(2, 0, many, 0), part / 2, part * 2);
	machine_stop();
}

/*
 * What a sweep looks at it does not look at in one go: pages for a target that
 * takes some go in between.
 */
TEST(who_may_go_does_not_wait_for_a_sweep)
{
	const unsigned long many = 15000, next = PAGES_PER_SECTION;
	unsigned long i, before, most = 0, waited = 0, n = 0;
	unsigned int now;

	begin_full(false, many);
	machine_plenty(1);
	for (now = 0; now < WINDOW; now++) {
		if (now % 10 == 0) {
			n++;
			machine_ready(2, next + n, 1);
		}
		before = machine_bits_looked;
		for (i = now % 1000; i < many; i += 1000)
			machine_touch(2, i);
		machine_run(1);
		before = machine_bits_looked - before;
		most = max(most, before);
		waited = machine_moved(2, next + n, next + n + 1, 1) ? 0 :
			 waited + before;
		assert_in_range(waited, 0, 2 * 1000);
	}
	assert_in_range(most, 1, 1000);
	assert_true(machine_bits_looked >= many);
	assert_int_equal(machine_moved(2, next + 1, next + n + 1, 1), n);
	machine_stop();
}

/* More pages than may be looked at: what that costs has a bound. */
TEST(looking_takes_a_bounded_share_of_time)
{
	const unsigned long many = 2 * PAGES_PER_SECTION;
	const unsigned long most = WINDOW / 2 * 10;
	unsigned int window;

	begin_full(false, many);
	for (window = 1; window <= 4; window++) {
		use(many, WINDOW / 4, WINDOW);
		assert_true(machine_bits_looked <= (window + 1) * WINDOW * 10);
	}
	assert_true(machine_bits_looked >= 3 * WINDOW * 10 * 9 / 10);
	room_for_all();
	/* Nearly as many as may be looked at, and no others. */
	assert_in_range(machine_stat("moved"), most * 9 / 10, most);
	assert_true(machine_cold_ms < WINDOW);
	machine_stop();
}

TEST(nothing_is_looked_at_that_does_not_wait)
{
	unsigned long i;

	machine_start(false);
	machine_plenty(0);
	machine_thread(2);
	for (i = 0; i < 2 * WINDOW; i += 10) {
		machine_ready(2, i, 0);
		machine_run(10);
	}
	assert_int_equal(machine_stat("moved"), 2 * WINDOW / 10);
	assert_int_equal(machine_bits_looked, 0);
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(what_is_in_use_goes_when_there_is_room),
	cmocka_unit_test(what_nobody_uses_goes_stale),
	cmocka_unit_test(who_stops_using_a_page_lets_it_go_stale),
	cmocka_unit_test(what_is_used_twice_in_a_window_stays_ready),
	cmocka_unit_test(a_report_of_what_waits_takes_nothing_away),
	cmocka_unit_test(a_long_pass_takes_nothing_away_from_what_waits),
	cmocka_unit_test(what_is_in_use_stays_ready_whenever_it_was_reported_last),
	cmocka_unit_test(whatever_goes_was_used_within_the_window),
	cmocka_unit_test(bits_that_were_not_cleared_prove_nothing),
	cmocka_unit_test(a_page_that_is_locked_at_times_stays_ready),
	cmocka_unit_test(pages_that_were_freed_take_none_with_them),
	cmocka_unit_test(pages_that_come_and_go_take_none_with_them),
	cmocka_unit_test(pages_that_are_locked_take_few_with_them),
	cmocka_unit_test(all_that_waits_has_the_same_chance_wherever_it_is),
	cmocka_unit_test(pages_of_many_processes_leave_something_for_others),
	cmocka_unit_test(who_may_go_does_not_wait_for_a_sweep),
	cmocka_unit_test(looking_takes_a_bounded_share_of_time),
	cmocka_unit_test(nothing_is_looked_at_that_does_not_wait),
)
