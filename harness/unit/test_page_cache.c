// SPDX-License-Identifier: GPL-2.0
/* Which uses of files make a folio of a lower tier hot, and which marks are none. */
#include "unit.h"
#include "machine.h"

#include <linux/pghot.h>
#include <linux/sysfs.h>
#include <linux/topology.h>

#define PART_MS	(PGHOT_WINDOW_MS / 4)

nodemask_t pghot_lower_nodes = { { BIT(2) | BIT(3) } };
int machine_on_node;

static struct kobject numa;

static struct pghot_source *source;
static const struct kobj_attribute *knob;
static unsigned long accesses;
int machine_page_cache_init(void);

int pghot_register_source(struct pghot_source *registered)
{
	source = registered;
	source->accesses = &accesses;
	return 0;
}

int pghot_source_switch(struct pghot_source *switched, bool on, bool tiering)
{
	assert_ptr_equal(switched, source);
	source->on = on;
	source->tiering = tiering;
	return 0;
}

int sysfs_create_groups(struct kobject *kobj,
			const struct attribute_group **groups)
{
	assert_ptr_equal(kobj, &numa);
	knob = container_of(groups[0]->attrs[0], struct kobj_attribute, attr);
	return 0;
}

static struct folio *file_folio(unsigned long i)
{
	struct folio *folio = machine_folio(2, i);

	folio->mapping = folio;
	folio->on_lru = folio->referenced = true;
	return folio;
}

/* With the source running, at the beginning of a part of the window. */
static void start(bool precise)
{
	machine_start(precise);
	pghot_numa_dir(&numa);
	assert_int_equal(machine_page_cache_init(), 0);
	source->start(source);
	accesses = 0;
	machine_on_node = 0;
	assert_int_equal(jiffies_to_msecs(jiffies - INITIAL_JIFFIES) % PART_MS, 0);
}

static void stop(void)
{
	source->stop(source);
	machine_stop();
}

static bool becomes_ready(struct folio *folio)
{
	unsigned long before = machine_stat("ready");

	pghot_page_cache(folio);
	return machine_stat("ready") > before;
}

TEST(it_waits_for_memory_tiering_at_first_and_needs_no_hint_faults)
{
	start(false);
	assert_true(source->on);
	assert_true(source->alone);
	assert_true(source->tiering);
	stop();
}

TEST(one_pass_makes_nothing_ready)
{
	unsigned long i;

	for_each_layout(precise) {
		start(precise);
		for (i = 0; i < 5000; i++) {
			assert_false(becomes_ready(file_folio(i)));
			machine_run(i % 4 == 0);
		}
		assert_int_equal(accesses, 5000);
		stop();
	}
}

TEST(use_in_two_parts_of_the_window_is_heat)
{
	for_each_layout(precise) {
		struct folio *folio;

		start(precise);
		folio = file_folio(7);
		assert_false(becomes_ready(folio));
		machine_run(PART_MS);
		assert_true(becomes_ready(folio));
		stop();
	}
}

/* Be it in the top tier, where nothing is recorded. */
TEST(what_is_used_is_not_idle)
{
	struct folio *folio, top;

	start(false);
	folio = file_folio(7);
	folio->idle = true;
	top = *folio;
	top.nid = 0;
	pghot_page_cache(folio);
	assert_false(folio->idle);
	assert_int_equal(accesses, 1);
	pghot_page_cache(&top);
	assert_false(top.idle);
	assert_int_equal(accesses, 1);
	/* Whoever has it mapped says that himself. */
	folio->idle = folio->mapped = true;
	pghot_page_cache(folio);
	assert_true(folio->idle);
	stop();
}

TEST(few_are_reported_where_it_gains_nothing)
{
	unsigned long i;

	start(false);
	pghot_target(0)->cache_held = 3;
	for (i = 0; i < 4000; i++)
		pghot_page_cache(file_folio(i));
	assert_in_range(accesses, 400, 600);
	assert_int_equal(machine_stat("refused_no_gain"), 4000 - accesses);
	/* Others in the next window. */
	machine_run(PGHOT_WINDOW_MS);
	accesses = 0;
	for (i = 0; i < 4000; i++)
		if (!pghot_cache_wanted(0, machine_folio(2, i)))
			pghot_page_cache(file_folio(i));
	assert_int_equal(accesses, 0);
	pghot_target(0)->cache_held = 0;
	stop();
}

/* Each piece of a large folio that is read marks it. */
TEST(many_marks_in_one_part_are_one_use)
{
	for_each_layout(precise) {
		struct folio *folio;
		unsigned int i;

		start(precise);
		file_folio(512);
		folio = machine_large(2, 512, 9);
		for (i = 0; i < PART_MS; i++) {
			assert_false(becomes_ready(folio));
			machine_run(1);
		}
		assert_true(becomes_ready(folio));
		assert_int_equal(machine_stat("ready"), 1);
		stop();
	}
}

TEST(use_a_window_ago_is_forgotten)
{
	for_each_layout(precise) {
		struct folio *folio;
		unsigned int i;

		start(precise);
		folio = file_folio(7);
		for (i = 0; i < 5; i++) {
			assert_false(becomes_ready(folio));
			machine_run(PGHOT_WINDOW_MS);
		}
		stop();
	}
}

TEST(parts_are_of_the_window_in_force)
{
	struct folio *folio;

	start(true);
	pghot_tunables.window_ms = 400;
	folio = file_folio(7);
	assert_false(becomes_ready(folio));
	machine_run(100);
	assert_true(becomes_ready(folio));
	stop();
}

/* It goes on being used, and stays hot. */
TEST(what_waits_and_is_used_stays_hot)
{
	unsigned int i;

	for_each_layout(precise) {
		start(precise);
		machine_thread(2);
		machine_room(0, 0);
		machine_room(1, 0);
		for (i = 0; i < 40; i++) {
			pghot_page_cache(file_folio(7));
			machine_run(PART_MS / 2);
		}
		assert_int_equal(machine_moved(2, 7, 8, 0), 0);
		machine_room(0, 1000);
		machine_run(2 * PGHOT_PERIOD_MS);
		assert_int_equal(machine_moved(2, 7, 8, 0), 1);
		assert_int_equal(machine_stat("skip_stale"), 0);
		stop();
	}
}

TEST(it_goes_where_it_is_used)
{
	start(false);
	machine_thread(2);
	machine_on_node = 1;
	pghot_page_cache(file_folio(7));
	machine_run(PART_MS);
	pghot_page_cache(file_folio(7));
	machine_run(10);
	assert_int_equal(machine_moved(2, 7, 8, 1), 1);
	stop();
}

/* What a mark is not reported for, however often. */
static void assert_ignored(struct folio *folio)
{
	unsigned int i;

	for (i = 0; i < 8; i++) {
		assert_false(becomes_ready(folio));
		machine_run(PART_MS);
	}
	assert_int_equal(accesses, 0);
}

TEST(the_first_mark_never_makes_a_folio_ready_by_itself)
{
	struct folio *folio;

	start(false);
	folio = file_folio(7);
	folio->referenced = false;
	assert_false(becomes_ready(folio));
	machine_run(PART_MS);
	assert_true(becomes_ready(folio));
	stop();

	start(false);
	pghot_tunables.freq_threshold = 1;
	folio = file_folio(7);
	folio->referenced = false;
	assert_ignored(folio);
	/* However it is remembered. */
	folio->active = true;
	pghot_page_cache(folio);
	folio->active = false;
	folio->workingset = true;
	pghot_page_cache(folio);
	folio->workingset = false;
	folio->unevictable = true;
	pghot_page_cache(folio);
	assert_int_equal(accesses, 3);
	stop();
}

TEST(what_is_mapped_is_left_to_others)
{
	start(false);
	file_folio(7)->mapped = true;
	assert_ignored(machine_folio(2, 7));
	stop();
}

TEST(what_reclaim_has_taken_is_not_used)
{
	start(false);
	file_folio(7)->on_lru = false;
	assert_ignored(machine_folio(2, 7));
	stop();
}

TEST(what_has_no_file_is_not_reported)
{
	start(false);
	file_folio(7)->anon = true;
	assert_ignored(machine_folio(2, 7));
	/* Or has one no more. */
	machine_folio(2, 7)->anon = false;
	machine_folio(2, 7)->mapping = NULL;
	assert_ignored(machine_folio(2, 7));
	stop();
}

TEST(the_top_tier_is_not_looked_at)
{
	struct folio top = { .nid = 0 };

	start(false);
	top.mapping = &top;
	top.on_lru = top.referenced = true;
	assert_ignored(&top);
	stop();
}

TEST(nothing_is_reported_while_it_does_not_run)
{
	start(false);
	source->stop(source);
	assert_ignored(file_folio(7));
	stop();
}

static int write_knob(const char *text)
{
	return knob->store(NULL, NULL, text, 1);
}

static char read_knob(void)
{
	char text[8];

	assert_int_equal(knob->show(NULL, NULL, text), 2);
	return text[0];
}

TEST(both_switches_are_one)
{
	start(false);
	assert_string_equal(knob->attr.name, "pagecache_promotion_enabled");
	assert_int_equal(knob->attr.mode, 0644);
	/* On with memory tiering: it says whether it runs. */
	assert_int_equal(read_knob(), '0');
	source->running = true;
	assert_int_equal(read_knob(), '1');
	source->running = false;
	assert_int_equal(write_knob("1"), 1);
	assert_true(source->on);
	assert_false(source->tiering);
	assert_int_equal(read_knob(), '1');
	assert_int_equal(write_knob("x"), -EINVAL);
	assert_true(source->on);
	source->on = false;
	assert_int_equal(read_knob(), '0');
	stop();
}

UNIT_MAIN(
	cmocka_unit_test(it_waits_for_memory_tiering_at_first_and_needs_no_hint_faults),
	cmocka_unit_test(one_pass_makes_nothing_ready),
	cmocka_unit_test(use_in_two_parts_of_the_window_is_heat),
	cmocka_unit_test(what_is_used_is_not_idle),
	cmocka_unit_test(few_are_reported_where_it_gains_nothing),
	cmocka_unit_test(many_marks_in_one_part_are_one_use),
	cmocka_unit_test(use_a_window_ago_is_forgotten),
	cmocka_unit_test(parts_are_of_the_window_in_force),
	cmocka_unit_test(what_waits_and_is_used_stays_hot),
	cmocka_unit_test(it_goes_where_it_is_used),
	cmocka_unit_test(the_first_mark_never_makes_a_folio_ready_by_itself),
	cmocka_unit_test(what_is_mapped_is_left_to_others),
	cmocka_unit_test(what_reclaim_has_taken_is_not_used),
	cmocka_unit_test(what_has_no_file_is_not_reported),
	cmocka_unit_test(the_top_tier_is_not_looked_at),
	cmocka_unit_test(nothing_is_reported_while_it_does_not_run),
	cmocka_unit_test(both_switches_are_one),
)
