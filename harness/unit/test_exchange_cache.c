// SPDX-License-Identifier: GPL-2.0
/*
 * exchange.c, for files that are read and not mapped: fewer of their pages come where that
 * gains nothing, whatever else does.
 */
#include "exchange.h"

/* How often in the mean a server's pages are accessed that came; 0: there is none. */
static unsigned int server_every;

/* Mapped pages are the server's, which has few. */
static void read_file(void)
{
	unsigned long i, k;

	for (i = 0; i < come_a_tick; i++) {
		k = next++ % frames;
		if (machine_folio(0, k)->mapped ||
		    pghot_cache_wanted(0, machine_folio(2, k)))
			move(k);
	}
	use(0, came_every);
	use(2, went_every);
	for (i = 0; server_every && i < FRAMES / server_every; i++)
		machine_touch(0, harness_random(&seed) % FRAMES | 1);
}

/* For each page of the file one goes, and is back after a few ticks. */
static void drive_out(void)
{
	unsigned long k = next % frames, back = (next - 4) % frames;
	struct folio *anon = machine_folio(2, k), *again = machine_folio(2, back);
	struct folio file = { .nid = 2, .pfn = machine_pfn(2, k) };
	struct folio top = { .nid = 0, .pfn = machine_pfn(0, k) };
	struct folio home = { .nid = 0, .pfn = top.pfn, .anon = true, .mapped = true,
			      .mapping = again->mapping };

	__pghot_moved(machine_folio(0, k), &file);
	__pghot_moved(anon, &top);
	if (next >= 4)
		__pghot_moved(&home, again);
	atomic_long_add(1, &pghot_target(0)->promoted);
	next++;
	use(0, came_every);
}

/*
 * A file that is read and not mapped, beside which other memory may be hot. It comes as
 * it is reported: those that are wanted, in turn.
 */
static void begin_cache(unsigned int hot, unsigned int cold, bool others)
{
	unsigned long i;

	begin(hot, cold);
	pghot_page_cache_key = 1;
	/* All frames take longer than a page is watched. */
	come_a_tick = 2;
	for (i = 0; i < FRAMES; i++) {
		machine_folio(0, i)->mapped = others && i % 2;
		machine_folio(2, i)->mapped = others && i % 2;
		machine_folio(0, i)->anon = machine_folio(2, i)->anon = others && i % 2;
	}
	machine_work = read_file;
}

static void end_cache(void)
{
	pghot_page_cache_key = 0;
	machine_stop();
}

static u32 held_after(unsigned int windows)
{
	machine_run(windows * WINDOW);
	return pghot_target(0)->cache_held;
}

TEST(a_file_that_gains_nothing_hardly_comes)
{
	begin_cache(200, 200, false);
	machine_run(4 * WINDOW);
	assert_in_range(pghot_target(0)->cache_gain_percent, 1, PGHOT_CACHE_GAIN_PERCENT);
	assert_int_equal(pghot_target(0)->cache_held, PGHOT_SPEED_HELD_MAX);
	assert_true(machine_stat("exchange_loss") > 0);
	assert_false(is_held_back());
	came = 0;
	machine_run(8 * WINDOW);
	assert_in_range(came, 1, 8 * WINDOW * come_a_tick / 8);
	end_cache();
}

TEST(a_file_that_is_hotter_keeps_coming)
{
	begin_cache(100, 400, false);
	machine_run(8 * WINDOW);
	assert_true(machine_stat("exchange_gain") > 3);
	assert_int_equal(machine_stat("exchange_loss"), 0);
	assert_int_equal(pghot_target(0)->cache_held, 0);
	end_cache();
}

/* Twice in a window, and what goes is dead: that is no loss. */
TEST(a_file_that_is_read_now_and_then_keeps_coming)
{
	begin_cache(WINDOW / 2, 0, false);
	machine_run(16 * WINDOW);
	assert_true(machine_stat("exchange_gain") > 0);
	assert_int_equal(machine_stat("exchange_loss"), 0);
	end_cache();
}

/* Little is known of those few: one step at a time, as long as something goes. */
TEST(what_comes_too_slowly_to_be_judged_is_held_less_by_steps)
{
	u32 held = PGHOT_SPEED_HELD_MAX, now, rounds = 0, i;

	begin_cache(200, 200, false);
	assert_int_equal(held_after(4), PGHOT_SPEED_HELD_MAX);
	come_a_tick = 0;
	for (i = 0; i < 40 * WINDOW && rounds < 2; i++) {
		if (i % (WINDOW / 8) == 0)
			move(next++ % frames);
		machine_run(1);
		now = pghot_target(0)->cache_held;
		assert_true(now == held || now == held - 1);
		rounds += now != held;
		held = now;
	}
	assert_int_equal(rounds, 2);
	end_cache();
}

/* Pages that a file has driven out and that come back at once are the hottest there are. */
TEST(what_comes_back_counts_against_a_file)
{
	unsigned long i;

	begin_cache(400, 400, false);
	for (i = 0; i < FRAMES; i++) {
		machine_folio(2, i)->anon = true;
		machine_folio(2, i)->mapped = true;
	}
	machine_work = drive_out;
	machine_run(8 * WINDOW);
	assert_in_range(pghot_target(0)->cache_gain_percent, 1, 60);
	end_cache();
}

/* Half of what comes is a server's, and that is worth it. */
TEST(a_file_is_judged_by_itself)
{
	begin_cache(200, 200, true);
	server_every = 10;
	machine_run(8 * WINDOW);
	assert_true(pghot_target(0)->cache_held > 0);
	assert_true(pghot_target(0)->gain_percent > PGHOT_GAIN_AGAIN);
	assert_false(is_held_back());
	server_every = 0;
	end_cache();
}

/* It is read no more, or fits, or is hotter than what there is. */
TEST(a_file_comes_back_by_itself)
{
	begin_cache(200, 200, false);
	assert_true(held_after(4) > 0);
	come_a_tick = 0;
	assert_int_equal(held_after(20), 0);
	come_a_tick = 2;
	assert_true(held_after(4) > 0);
	went_every = 0;
	assert_int_equal(held_after(20), 0);
	went_every = 200;
	assert_true(held_after(12) > 0);
	machine_plenty(0);
	assert_int_equal(held_after(1), 0);
	end_cache();
}

TEST(a_file_is_not_held_where_that_is_switched_off)
{
	begin_cache(200, 200, false);
	machine_run(4 * WINDOW);
	pghot_backoff = 0;
	assert_true(pghot_cache_wanted(0, machine_folio(2, 0)));
	came = 0;
	machine_run(WINDOW);
	assert_int_equal(came, WINDOW * come_a_tick);
	pghot_backoff = 1;
	/* Nobody knows where pages go of who has no memory in the top tier. */
	came = 0;
	while (pghot_cache_wanted(0, machine_folio(2, came)))
		came++;
	assert_true(pghot_cache_wanted(2, machine_folio(2, came)));
	end_cache();
}

UNIT_MAIN(
	cmocka_unit_test(a_file_that_gains_nothing_hardly_comes),
	cmocka_unit_test(a_file_that_is_hotter_keeps_coming),
	cmocka_unit_test(a_file_that_is_read_now_and_then_keeps_coming),
	cmocka_unit_test(what_comes_too_slowly_to_be_judged_is_held_less_by_steps),
	cmocka_unit_test(what_comes_back_counts_against_a_file),
	cmocka_unit_test(a_file_is_judged_by_itself),
	cmocka_unit_test(a_file_comes_back_by_itself),
	cmocka_unit_test(a_file_is_not_held_where_that_is_switched_off),
)
