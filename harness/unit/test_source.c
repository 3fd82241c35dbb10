// SPDX-License-Identifier: GPL-2.0
/*
 * A source that comes or is switched on when there is no memory: it does not run,
 * nothing is left of what was begun for it, and it runs once there is memory.
 */
#include <unistd.h>

#include <linux/seq_file.h>
#include <linux/sysfs.h>

#include "lives.h"

static int start_err, started;

static int start(struct pghot_source *source)
{
	if (!start_err)
		started++;
	return start_err;
}

static void stop(struct pghot_source *source)
{
	started--;
}

static struct attribute *more_attrs[] = { NULL };
ATTRIBUTE_GROUPS(more);

/* With all that a source can have. */
static struct pghot_source source = {
	.name = "source", .on = true, .nmi = true, .alone = true,
	.files = more_groups, .start = start, .stop = stop,
};

static void boot(void)
{
	machine_power_on();
	memory_comes();
	assert_int_equal(machine_boot(), 0);
	assert_all_is_off();
}

static void assert_runs(void)
{
	assert_true(pghot_is_enabled());
	assert_true(source.running);
	assert_true(pghot_needs_headroom());
	assert_int_equal(started, 1);
	assert_all_works();
}

static void assert_rests(void)
{
	assert_false(source.running);
	assert_int_equal(started, 0);
	assert_all_is_off();
}

static void unregister(void)
{
	pghot_unregister_source(&source);
	assert_false(machine_has_dir("source"));
	assert_rests();
}

static bool runs_and_goes(unsigned int n, unsigned int failed)
{
	assert_runs();
	unregister();
	return lives_on(n, failed);
}

static bool came(unsigned int n)
{
	unsigned int failed;
	int err;

	boot();
	fail_in_life(n);
	err = pghot_register_source(&source);
	failed = fail_no_more();
	if (err) {
		assert_int_equal(err, -ENOMEM);
		assert_true(pghot_is_enabled());
		assert_false(machine_has_dir("source"));
		assert_rests();
		assert_int_equal(pghot_register_source(&source), 0);
	} else if (!pghot_is_enabled()) {
		/* It is there, and there were no maps. */
		assert_rests();
		assert_int_equal(machine_write("pghot", "enabled", "1"), 0);
	}
	return runs_and_goes(n, failed);
}

TEST(a_source_that_comes_needs_all_it_allocates)
{
	all_lives(came, 10);
}

static bool switched_on(unsigned int n)
{
	unsigned int failed;
	int err;

	boot();
	source.on = false;
	assert_int_equal(pghot_register_source(&source), 0);
	assert_rests();
	fail_in_life(n);
	err = machine_write("source", "enabled", "1");
	failed = fail_no_more();
	if (err) {
		assert_int_equal(err, -ENOMEM);
		assert_int_equal(machine_read("pghot", "enabled"), 0);
		assert_rests();
		assert_int_equal(machine_write("pghot", "enabled", "1"), 0);
	}
	return runs_and_goes(n, failed);
}

TEST(the_first_source_that_is_switched_on_needs_maps)
{
	all_lives(switched_on, 5);
}

static bool failed_to_start(unsigned int n)
{
	boot();
	start_err = -ENOMEM;
	assert_int_equal(pghot_register_source(&source), 0);
	assert_true(pghot_is_enabled());
	assert_int_equal(machine_read("source", "enabled"), 0);
	assert_rests();
	assert_int_equal(machine_write("source", "enabled", "1"), -ENOMEM);
	assert_int_equal(machine_read("source", "enabled"), 0);
	assert_rests();
	start_err = 0;
	assert_int_equal(machine_write("source", "enabled", "1"), 0);
	assert_runs();
	unregister();
	return false;
}

TEST(a_source_that_does_not_start_gives_the_maps_back)
{
	assert_int_equal(machine_lives(failed_to_start), 0);
}

static bool other_runs(unsigned int n)
{
	struct pghot_source other = { .name = "other", .on = true };

	boot();
	assert_int_equal(pghot_register_source(&other), 0);
	start_err = -ENOMEM;
	assert_int_equal(pghot_register_source(&source), 0);
	assert_false(source.running);
	assert_true(other.running);
	assert_all_works();
	/* Nor does it go with pghot on again. */
	assert_int_equal(machine_write("pghot", "enabled", "0"), 0);
	assert_all_is_off();
	assert_int_equal(machine_write("pghot", "enabled", "1"), 0);
	assert_true(other.running);
	assert_all_works();
	pghot_unregister_source(&other);
	unregister();
	return false;
}

TEST(a_source_that_does_not_start_leaves_others_alone)
{
	assert_int_equal(machine_lives(other_runs), 0);
}

static const char *vmstat(void)
{
	static struct seq_file m;

	m = (struct seq_file) { };
	pghot_sources_show(&m);
	return m.text;
}

/* Called with the lock that all switching holds, over memory hotplug too. */
static int read_on_start(struct pghot_source *source)
{
	assert_string_equal(vmstat(), "pghot_recorded_source 0\n");
	return 0;
}

static void read_on_stop(struct pghot_source *source)
{
	assert_string_equal(vmstat(), "pghot_recorded_source 7\n"
				      "pghot_recorded_reads 0\n");
}

static bool was_read(unsigned int n)
{
	struct pghot_source reads = {
		.name = "reads", .stop = read_on_stop, .on = true,
	};

	boot();
	/* Who waits for the lock waits for ever. */
	alarm(60);
	source.start = NULL;
	assert_int_equal(pghot_register_source(&source), 0);
	*source.accesses = 7;
	assert_int_equal(pghot_register_source(&reads), 0);
	assert_int_equal(machine_write("pghot", "enabled", "0"), 0);
	source.stop = NULL;
	pghot_unregister_source(&reads);
	assert_string_equal(vmstat(), "pghot_recorded_source 7\n");
	pghot_unregister_source(&source);
	assert_string_equal(vmstat(), "");
	source.start = read_on_start;
	assert_int_equal(machine_write("pghot", "enabled", "1"), 0);
	assert_int_equal(pghot_register_source(&source), 0);
	assert_int_equal(machine_write("source", "enabled", "0"), 0);
	assert_int_equal(machine_write("source", "enabled", "1"), 0);
	pghot_unregister_source(&source);
	return false;
}

TEST(counters_are_read_while_sources_are_switched)
{
	assert_int_equal(machine_lives(was_read), 0);
}

UNIT_MAIN(
	cmocka_unit_test(a_source_that_comes_needs_all_it_allocates),
	cmocka_unit_test(the_first_source_that_is_switched_on_needs_maps),
	cmocka_unit_test(a_source_that_does_not_start_gives_the_maps_back),
	cmocka_unit_test(a_source_that_does_not_start_leaves_others_alone),
	cmocka_unit_test(counters_are_read_while_sources_are_switched),
)
