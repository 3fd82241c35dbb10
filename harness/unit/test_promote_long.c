// SPDX-License-Identifier: GPL-2.0
/*
 * Passes that take seconds, as long as much becomes ready for one target. Whom they
 * are not for does not wait for their end, and neither do pages that are last in them.
 */
#include "unit.h"
#include "machine.h"

#define WINDOW		PGHOT_WINDOW_MS
/* That is moved for longer than half a window, at MOVES in a tick. */
#define MANY		12000UL
#define MOVES		4
#define FAR		(2 * PAGES_PER_SECTION)
#define FEW		200UL
#define LAST		(3 * PAGES_PER_SECTION)

static unsigned long fed, many, room_at, room_ms;
static u32 began_ms;

static void use(void)
{
	unsigned long i;

	if (pghot_now_ms() % 50)
		return;
	for (i = FAR; i < FAR + FEW; i++)
		machine_touch(2, i);
	machine_touch(2, LAST);
}

/* More than can be moved: each tick twice as many become ready for node 1. */
static void feed(void)
{
	unsigned int n;

	for (n = 0; n < 2 * MOVES; n++) {
		unsigned long i = fed++ % many;

		if (machine_folio(2, i)->target == 1)
			machine_demote(2, i);
		machine_ready(2, i, 1);
	}
	use();
	if (room_at && pghot_now_ms() - began_ms == room_at)
		machine_room(0, 2 * FEW);
	if (!room_ms && machine_moved(2, FAR, FAR + FEW, 0) >= FEW / 2)
		room_ms = pghot_now_ms() - began_ms;
}

static void begin(bool precise, int target, unsigned int after, unsigned long room)
{
	unsigned long i;

	fed = 0;
	many = MANY;
	room_at = room;
	room_ms = 0;
	machine_start_apart(precise);
	machine_room(0, 0);
	machine_room(1, 10000000);
	machine_thread(2);
	machine_run(2 * WINDOW + 700);
	began_ms = pghot_now_ms();
	machine_moves_a_tick = MOVES;
	machine_work = feed;
	machine_run(after);
	for (i = FAR; i < FAR + FEW; i++)
		machine_ready(2, i, target);
}

static void end(void)
{
	machine_work = NULL;
	machine_moves_a_tick = 0;
	machine_stop();
}

TEST(the_last_pages_have_their_turn)
{
	for_each_layout(precise) {
		begin(precise, 1, WINDOW, 0);
		/* Something waits as well, behind them, and is swept. */
		machine_ready(2, LAST, 0);
		machine_run(3 * WINDOW);
		assert_int_equal(machine_moved(2, FAR, FAR + FEW, 1), FEW);
		end();
	}
}

/* Before the first pass nothing did. */
TEST(what_waits_from_the_first_pass_on_is_kept)
{
	unsigned int after;

	for_each_layout(precise) {
		for (after = 1; after < WINDOW; after += 500) {
			begin(precise, 0, after, 0);
			machine_run(3 * WINDOW);
			assert_int_equal(machine_stat("skip_stale"), 0);
			machine_room(0, 2 * FEW);
			machine_run(WINDOW);
			assert_int_equal(machine_moved(2, FAR, FAR + FEW, 0), FEW);
			end();
		}
	}
}

TEST(room_is_used_while_another_target_takes_much)
{
	for_each_layout(precise) {
		begin(precise, 0, 1, 3 * WINDOW + 123);
		machine_run(5 * WINDOW);
		assert_true(room_ms);
		assert_in_range(room_ms - room_at, 0, WINDOW / 4);
		end();
	}
}

/* A block that is behind the second pass by then. */
#define BEHIND		(18 * 512UL)

static void once(void)
{
	u32 ms = pghot_now_ms() - began_ms;
	unsigned int n;

	for (n = 0; n < 2 * MOVES && fed < MANY; n++, fed++)
		machine_ready(2, fed + fed / BEHIND * 512, 1);
	/* The second pass, which began after half a window, is near its end. */
	if (ms != MANY / MOVES - 300)
		return;
	machine_ready(2, BEHIND, 0);
	machine_room(0, 2 * FEW);
}

/* It became ready for a target that was closed, which wakes nobody, behind the pass. */
TEST(nothing_is_left_behind_when_a_target_opens_meanwhile)
{
	for_each_layout(precise) {
		begin(precise, 0, 0, 0);
		machine_work = once;
		machine_run(MANY / MOVES + 500);
		assert_int_equal(machine_moved(2, 0, FAR, 1), MANY);
		assert_int_equal(machine_moved(2, BEHIND, BEHIND + 1, 0), 1);
		end();
	}
}

#define OTHERS		(6 * FEW)

static void feed_and_use_other(void)
{
	unsigned long i;

	feed();
	for (i = pghot_now_ms() % 50; i < OTHERS; i += 50)
		machine_touch(3, i);
}

/*
 * A node that waited for room has none of that to wait for any more, and is still at work
 * for another target.
 */
TEST(who_waits_no_more_holds_no_other_node_back)
{
	unsigned long i;

	for_each_layout(precise) {
		begin(precise, 0, 1, WINDOW);
		many = 5 * MANY;
		machine_run(2 * WINDOW);
		assert_int_equal(machine_moved(2, FAR, FAR + FEW, 0), FEW);
		machine_thread(3);
		machine_work = feed_and_use_other;
		for (i = 0; i < OTHERS; i++)
			machine_ready(3, i, 0);
		machine_room(0, OTHERS + 50);
		machine_run(WINDOW);
		assert_int_equal(machine_moved(3, 0, OTHERS, 0), OTHERS);
		end();
	}
}

/* All in use, and found at once: more than is looked at for nothing. */
#define ALL		(3 * PAGES_PER_SECTION / 2)

static void use_all(void)
{
	unsigned long i;

	for (i = pghot_now_ms() % 1000; i < ALL; i += 1000)
		machine_touch(2, i);
}

TEST(what_only_waits_for_its_turn_is_kept)
{
	for_each_layout(precise) {
		machine_start_apart(precise);
		machine_room(0, 10000000);
		machine_thread(2);
		machine_run(2 * WINDOW + 700);
		machine_ready_first(2, ALL, 0);
		machine_moves_a_tick = 2 * MOVES;
		machine_work = use_all;
		machine_run(ALL / (2 * MOVES) + WINDOW);
		assert_int_equal(machine_moved(2, 0, ALL, 0), ALL);
		assert_int_equal(machine_stat("skip_stale"), 0);
		end();
	}
}

/* @nr pages are found at once, used all the time, and moved in 1.25 windows. */
static void find_much(unsigned long nr, bool held)
{
	unsigned int now;
	unsigned long i;

	machine_moves_a_tick = nr / (WINDOW * 5 / 4);
	for (i = 0; i < nr; i++)
		machine_ready(2, i, 0);
	for (now = 0; now < 2 * WINDOW; now += 200) {
		for (i = 0; i < nr; i++)
			machine_touch(2, i);
		if (held)
			machine_ready(2, nr, 0);
		machine_run(200);
	}
	machine_moves_a_tick = 0;
	assert_int_equal(machine_stat("skip_stale"), 0);
	assert_true(machine_moved(2, 0, nr, 0) == nr);
}

/*
 * Whenever it is found: also just before a bucket of the records' clock ends, and so long before
 * a sweep that half of what moves until the next one has. A page now and then that moves before
 * changes nothing, nor one that somebody reads all the time.
 */
TEST(what_is_found_at_once_is_kept_whenever_that_is)
{
	const unsigned long nr = 120000;
	unsigned int at, some, held, before;

	for_each_layout(precise) {
		for (at = 99, some = 0; at < WINDOW / 2; at += 400 * some, some = !some) {
			held = some && at % 800 < 400;
			machine_start_apart(precise);
			machine_room(0, 500000);
			machine_folio(2, nr)->refs += held;
			machine_thread(2);
			machine_run(WINDOW + 100 + at);
			for (before = 0; before < WINDOW; before += 100) {
				if (some)
					machine_ready(2, nr + before, 0);
				if (held)
					machine_ready(2, nr, 0);
				machine_run(100);
			}
			find_much(nr, held);
			machine_stop();
		}
	}
}

UNIT_MAIN(
	cmocka_unit_test(the_last_pages_have_their_turn),
	cmocka_unit_test(what_waits_from_the_first_pass_on_is_kept),
	cmocka_unit_test(room_is_used_while_another_target_takes_much),
	cmocka_unit_test(nothing_is_left_behind_when_a_target_opens_meanwhile),
	cmocka_unit_test(who_waits_no_more_holds_no_other_node_back),
	cmocka_unit_test(what_only_waits_for_its_turn_is_kept),
	cmocka_unit_test(what_is_found_at_once_is_kept_whenever_that_is),
)
