// SPDX-License-Identifier: GPL-2.0
/* What reports of sources come to: their evidence, folios, and NMIs. */
#include <string.h>

#include <linux/array_size.h>
#include <linux/jiffies.h>
#include <linux/smp.h>

#include "unit.h"

#include "machine.h"

static struct pghot_access at(unsigned long i, u32 weight)
{
	return (struct pghot_access) {
		.pfn = machine_pfn(2, i), .nid = 0, .weight = weight,
	};
}

static unsigned long waiting(void)
{
	return pghot_map_ready(&machine_lower[2].map, NULL);
}

TEST(accesses_count_as_they_are)
{
	struct pghot_access a = at(1, 1);

	machine_start(false);
	assert_int_equal(pghot_record(&a, &machine_source), PGHOT_COUNTED);
	assert_int_equal(pghot_record(&a, &machine_source), PGHOT_BECAME_READY);
	assert_int_equal(*machine_source.accesses, 2);
	machine_stop();
}

TEST(proof_is_ready_at_once)
{
	struct pghot_access a = at(1, 1), none = at(2, 0);

	machine_start(false);
	pghot_tunables.freq_threshold = 3;
	machine_source.evidence = PGHOT_PROOF;
	pghot_record(&a, &machine_source);
	pghot_record(&none, &machine_source);
	/* One that was accessed no time is not. */
	assert_int_equal(waiting(), 1);
	machine_stop();
}

TEST(counts_are_of_the_window)
{
	struct pghot_access a = at(1, 3), b = at(2, 4);

	machine_start(true);
	machine_source.evidence = PGHOT_COUNTS;
	a.interval_ms = b.interval_ms = 2 * PGHOT_WINDOW_MS;
	assert_int_equal(pghot_record(&a, &machine_source), PGHOT_COUNTED);
	assert_int_equal(pghot_record(&b, &machine_source), PGHOT_BECAME_READY);
	machine_stop();
}

/* One by one or together, traced or not. */
TEST(accesses_of_a_long_interval_are_of_the_window)
{
	struct pghot_access a = at(1, 4), b = at(2, 8);

	machine_start(false);
	a.interval_ms = b.interval_ms = 4 * PGHOT_WINDOW_MS;
	assert_true(pghot_record_range(&a, 1, &machine_source, machine_all, NULL));
	assert_int_equal(waiting(), 0);
	assert_true(pghot_record_range(&b, 1, &machine_source, machine_all, NULL));
	assert_int_equal(waiting(), 1);
	machine_stop();
}

/* Whichever pages of a folio a range has, the folio has one record. */
TEST(a_range_reports_a_folio_once)
{
	struct pghot_access a = at(500, 1);

	machine_start(false);
	machine_large(2, 512, 9);
	assert_true(pghot_record_range(&a, 100, &machine_source, machine_all, NULL));
	assert_int_equal(*machine_source.accesses, 12 + 1);
	assert_int_equal(waiting(), 0);
	a.pfn = machine_pfn(2, 900);
	pghot_record_range(&a, 5000, &machine_source, machine_all, NULL);
	/* The folio again, and pages of which most were not seen before. */
	assert_int_equal(waiting(), 1);
	assert_int_equal(*machine_source.accesses, 13 + 1 + 5000 - 124);
	machine_stop();
}

/* Half of what is reported of a folio, and nothing of the page at 3. */
static u32 half(const struct pghot_access *access, void *data)
{
	unsigned int *calls = data;

	++*calls;
	return access->pfn == machine_pfn(2, 3) ? 0 : access->weight / 2;
}

TEST(a_source_says_how_much_of_a_range_counts)
{
	struct pghot_access a = at(0, 2 * PGHOT_FREQ_THRESHOLD);
	unsigned int calls = 0;

	machine_start(false);
	machine_large(2, 8, 3);
	assert_true(pghot_record_range(&a, 16, &machine_source, half, &calls));
	assert_int_equal(calls, 9);
	assert_int_equal(*machine_source.accesses, 8);
	assert_int_equal(waiting(), 8);
	a.pfn = machine_pfn(2, 15);
	a.weight = 1;
	assert_false(pghot_record_range(&a, 1, &machine_source, half, &calls));
	a.pfn = machine_pfn(2, 3);
	assert_false(pghot_record_range(&a, 1, &machine_source, half, &calls));
	assert_int_equal(*machine_source.accesses, 8);
	machine_stop();
}

TEST(a_range_may_have_pages_that_nobody_tracks)
{
	struct pghot_access a = at(0, 1);

	machine_start(false);
	a.pfn = 5;
	assert_false(pghot_record_range(&a, 40, &machine_source, machine_all, NULL));
	assert_int_equal(*machine_source.accesses, 0);
	machine_stop();
}

static void make_free(unsigned long i)
{
	machine_folio(2, i)->refs = 0;
	machine_folio(2, i)->mapping = NULL;
}

/* A unit goes on listing where pages were, for a time after they were promoted. */
TEST(pages_that_are_free_are_not_recorded)
{
	struct pghot_access a = at(0, 1);

	machine_start(false);
	make_free(2);
	make_free(5);
	assert_true(pghot_record_range(&a, 8, &machine_source, machine_all, NULL));
	assert_int_equal(*machine_source.accesses, 6);
	a.pfn = machine_pfn(2, 2);
	assert_false(pghot_record_range(&a, 1, &machine_source, machine_all, NULL));

	assert_int_equal(pghot_ring_alloc(&machine_source), 0);
	assert_true(pghot_record_nmi(&a, 1, &machine_source));
	pghot_ring_free(&machine_source);
	assert_int_equal(*machine_source.accesses, 6);
	machine_stop();
}

/* Samples of up to this many accesses, until there is no more room. */
static unsigned int fill(unsigned int each)
{
	struct pghot_access a[8];
	unsigned int i, n = 0;

	do {
		for (i = 0; i < each; i++)
			a[i] = at(n * each + i, 1);
		n++;
	} while (pghot_record_nmi(a, each, &machine_source));
	return n - 1;
}

TEST(what_an_nmi_reports_is_recorded_after_it)
{
	unsigned int n;

	machine_start(false);
	assert_int_equal(pghot_ring_alloc(&machine_source), 0);
	machine_irqs_off = true;
	n = fill(3);
	/* All of a sample or nothing; what is lost is counted. */
	assert_int_equal(machine_stat("dropped"), 3);
	assert_int_equal(*machine_source.accesses, 0);
	machine_irqs_off = false;
	pghot_ring_sync(&machine_source);
	assert_int_equal(*machine_source.accesses, 3 * n);

	/* There is as much room as before, wherever the ring begins now. */
	machine_irqs_off = true;
	assert_int_equal(fill(3), n);
	machine_irqs_off = false;
	pghot_ring_free(&machine_source);
	assert_int_equal(waiting(), 3 * n);
	machine_stop();
}

/* An interrupt for each sample would cost more than the sample. */
TEST(what_nmis_report_waits_for_the_timer_unless_it_is_much)
{
	struct pghot_access a = at(0, 1);
	unsigned int i, n;

	machine_start(false);
	assert_int_equal(pghot_ring_alloc(&machine_source), 0);
	machine_irqs_off = true;
	n = fill(1);
	machine_irqs_off = false;
	pghot_ring_sync(&machine_source);
	assert_int_equal(*machine_source.accesses, n);

	for (i = 1; i < n / 2; i++) {
		a.pfn++;
		assert_true(pghot_record_nmi(&a, 1, &machine_source));
	}
	assert_int_equal(*machine_source.accesses, n);
	assert_true(pghot_record_nmi(&a, 1, &machine_source));
	assert_int_equal(*machine_source.accesses, n + n / 2);
	assert_true(pghot_record_nmi(&a, 1, &machine_source));
	assert_int_equal(*machine_source.accesses, n + n / 2);
	pghot_ring_free(&machine_source);
	assert_int_equal(*machine_source.accesses, n + n / 2 + 1);
	machine_stop();
}

/* There a thread does it that a CPU that goes offline parks. */
TEST(with_preempt_rt_what_nmis_report_does_not_wait_for_the_timer)
{
	struct pghot_access a = at(0, 1);

	machine_start(false);
	assert_int_equal(pghot_ring_alloc(&machine_source), 0);
	machine_preempt_rt = true;
	assert_true(pghot_record_nmi(&a, 1, &machine_source));
	assert_int_equal(*machine_source.accesses, 1);
	machine_preempt_rt = false;
	pghot_ring_free(&machine_source);
	machine_stop();
}

static void a_tick_passes(void)
{
	jiffies++;
}

TEST(what_recording_takes_is_known)
{
	struct pghot_access a = at(0, 1);
	u64 spent_ns;

	machine_start(false);
	assert_int_equal(pghot_ring_alloc(&machine_source), 0);
	assert_true(pghot_record_nmi(&a, 1, &machine_source));
	assert_int_equal(pghot_ring_spent_ns(&machine_source, 0), 0);
	machine_meanwhile = a_tick_passes;
	pghot_ring_sync(&machine_source);
	machine_meanwhile = NULL;
	spent_ns = pghot_ring_spent_ns(&machine_source, 0);
	assert_true(spent_ns >= 1000000);
	/* Of all that it ever recorded. */
	assert_true(pghot_record_nmi(&a, 1, &machine_source));
	pghot_ring_sync(&machine_source);
	assert_int_equal(pghot_ring_spent_ns(&machine_source, 0), spent_ns);
	pghot_ring_free(&machine_source);
	machine_stop();
}

TEST(an_nmi_may_name_a_tail_page)
{
	struct pghot_access a[2] = { at(700, 1), at(1000, 1) };

	machine_start(false);
	machine_large(2, 512, 9);
	assert_int_equal(pghot_ring_alloc(&machine_source), 0);
	assert_true(pghot_record_nmi(a, 2, &machine_source));
	pghot_ring_free(&machine_source);
	assert_int_equal(waiting(), 1);
	machine_stop();
}

/* They are for where those go of which nobody knows who accesses them. */
TEST(a_number_that_no_node_has_says_as_much_as_none)
{
	static const int nids[] = { NUMA_NO_NODE, NODES, 64, 1023, 1 << 30 };
	struct pghot_node *node = &machine_lower[2];
	struct pghot_access a = at(0, 2);
	unsigned int i;

	machine_start(false);
	for (i = 0; i < 2 * ARRAY_SIZE(nids); i++) {
		bool closed = i % 2;

		/* All that a nodemask of the machine has, and more behind it. */
		memset(&node->closed, closed ? 0 : 0xff, sizeof(node->closed));
		node->strays_closed = closed;
		node->kick = false;
		a.pfn++;
		a.nid = nids[i / 2];
		assert_int_equal(pghot_record(&a, &machine_source),
				 PGHOT_BECAME_READY);
		assert_int_equal(node->kick, !closed);
		node->kick = false;
		a.pfn++;
		pghot_record_range(&a, 1, &machine_source, machine_all, NULL);
		assert_int_equal(node->kick, !closed);
	}
	assert_int_equal(waiting(), 2 * i);
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(accesses_count_as_they_are),
	cmocka_unit_test(proof_is_ready_at_once),
	cmocka_unit_test(counts_are_of_the_window),
	cmocka_unit_test(accesses_of_a_long_interval_are_of_the_window),
	cmocka_unit_test(a_range_reports_a_folio_once),
	cmocka_unit_test(a_source_says_how_much_of_a_range_counts),
	cmocka_unit_test(a_range_may_have_pages_that_nobody_tracks),
	cmocka_unit_test(pages_that_are_free_are_not_recorded),
	cmocka_unit_test(what_an_nmi_reports_is_recorded_after_it),
	cmocka_unit_test(what_nmis_report_waits_for_the_timer_unless_it_is_much),
	cmocka_unit_test(with_preempt_rt_what_nmis_report_does_not_wait_for_the_timer),
	cmocka_unit_test(what_recording_takes_is_known),
	cmocka_unit_test(an_nmi_may_name_a_tail_page),
	cmocka_unit_test(a_number_that_no_node_has_says_as_much_as_none),
)
