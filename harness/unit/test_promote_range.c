// SPDX-License-Identifier: GPL-2.0
/* Ranges of hot pages are promoted without records, within the same limits. */
#include <linux/err.h>

#include "unit.h"
#include "machine.h"
#include "promoter.h"

static unsigned long pages[NR_PGHOT_VERDICTS];

static struct pghot_range range_of(int nid, unsigned long i, unsigned long nr,
				   int accessor)
{
	return (struct pghot_range) {
		.pfn = machine_pfn(nid, i), .nr = nr, .nid = accessor,
	};
}

static int promote(struct pghot_promoter *p, struct pghot_range *r,
		   unsigned int nr, unsigned long max)
{
	return pghot_promote_ranges(p, r, nr, max, pages);
}

/* Promote a range by a promoter of its own. */
static void promote_once(int nid, struct pghot_range *r, unsigned long max)
{
	struct pghot_promoter *p = pghot_promoter_create(nid);

	assert_false(IS_ERR(p));
	assert_int_equal(promote(p, r, 1, max), 0);
	pghot_promoter_free(p);
}

TEST(a_range_is_promoted_without_records)
{
	struct pghot_range r;

	machine_start(false);
	r = range_of(2, 100, 1000, 1);
	promote_once(2, &r, ULONG_MAX);
	assert_int_equal(machine_moved(2, 100, 1100, 1), 1000);
	assert_int_equal(pages[PGHOT_PROMOTED], 1000);
	assert_int_equal(r.nr, 0);
	assert_int_equal(machine_stat("promoted_pages"), 1000);
	assert_int_equal(atomic_long_read(&machine_lower[2].promoted), 1000);
	/* Those are counts of records. */
	assert_int_equal(machine_stat("ready") + machine_stat("moved"), 0);
	machine_stop();
}

/* Without NUMA balancing nobody else has any kept. */
TEST(while_there_is_a_promoter_memory_is_kept_free)
{
	struct pghot_promoter *p;

	machine_start(false);
	sysctl_numa_balancing_mode = 0;
	assert_false(pghot_needs_headroom());
	assert_true(IS_ERR(pghot_promoter_create(NODES)));
	pghot_promoter_free(NULL);
	assert_false(pghot_needs_headroom());
	p = pghot_promoter_create(2);
	assert_true(pghot_needs_headroom());
	pghot_promoter_free(p);
	assert_false(pghot_needs_headroom());
	pghot_booted = false;
	p = pghot_promoter_create(2);
	assert_false(pghot_needs_headroom());
	pghot_promoter_free(p);
	pghot_booted = true;
	machine_stop();
}

TEST(who_comes_before_pghot_takes_no_memory_from_others)
{
	struct pghot_promoter *early, *late;

	machine_start(false);
	sysctl_numa_balancing_mode = 0;
	pghot_booted = false;
	early = pghot_promoter_create(2);
	pghot_booted = true;
	late = pghot_promoter_create(2);
	pghot_promoter_free(early);
	assert_true(pghot_needs_headroom());
	pghot_promoter_free(late);
	assert_false(pghot_needs_headroom());
	machine_stop();
}

TEST(no_more_is_promoted_than_was_asked_for)
{
	struct pghot_range r;

	machine_start(false);
	machine_large(2, 64, 6);
	r = range_of(2, 0, 1000, 0);
	promote_once(2, &r, 100);
	/* A large folio that does not fit whole ends it. */
	assert_int_equal(pages[PGHOT_PROMOTED], 64);
	assert_int_equal(r.pfn, machine_pfn(2, 64));
	assert_int_equal(r.nr, 936);
	promote_once(2, &r, 100);
	assert_int_equal(pages[PGHOT_PROMOTED], 100);
	assert_int_equal(machine_moved(2, 0, 200, 0), 164);
	machine_stop();
}

TEST(the_hottest_range_goes_first)
{
	struct pghot_promoter *p;
	struct pghot_range r[3];

	machine_start(false);
	p = pghot_promoter_create(2);
	r[0] = range_of(2, 0, 100, 0);
	r[1] = range_of(2, 5000, 100, 0);
	r[2] = range_of(2, 3000, 100, 0);
	r[1].heat = 7;
	r[2].heat = 9;
	promote(p, r, 3, 150);
	assert_int_equal(machine_moved(2, 3000, 3100, 0), 100);
	assert_int_equal(machine_moved(2, 5000, 5100, 0), 50);
	assert_int_equal(machine_moved(2, 0, 100, 0), 0);
	pghot_promoter_free(p);
	machine_stop();
}

TEST(what_does_not_move_has_its_reason)
{
	struct pghot_range r;

	machine_start(false);
	machine_immovable(2);
	machine_folio(2, 6)->busy = true;
	machine_folio(2, 7)->nid = 3;
	machine_folio(2, 8)->on_lru = false;
	machine_folio(2, 8)->page.typed = true;
	r = range_of(2, 0, 100, 0);
	promote_once(2, &r, ULONG_MAX);
	assert_int_equal(pages[PGHOT_GONE], 2);
	assert_int_equal(pages[PGHOT_TOPTIER], 1);
	assert_int_equal(pages[PGHOT_DIRTY], 1);
	assert_int_equal(pages[PGHOT_PINNED], 1);
	assert_int_equal(pages[PGHOT_UNMOVABLE], 1);
	assert_int_equal(pages[PGHOT_POLICY], 1);
	assert_int_equal(pages[PGHOT_FAILED], 1);
	assert_int_equal(pages[PGHOT_BUSY], 1);
	assert_int_equal(pages[PGHOT_PROMOTED], 91);
	assert_int_equal(r.nr, 0);
	machine_stop();
}

TEST(the_limits_are_those_of_records)
{
	struct pghot_promoter *p;
	struct pghot_range r;

	machine_start(false);
	/* A bucket of 64 pages. */
	sysctl_numa_balancing_promote_rate_limit = 1;
	p = pghot_promoter_create(2);
	r = range_of(2, 0, 1000, 0);
	promote(p, &r, 1, ULONG_MAX);
	assert_int_equal(pages[PGHOT_PROMOTED], 64);
	assert_int_equal(pages[PGHOT_WAITS_RATE], 1);
	assert_int_equal(r.nr, 1000 - 64);
	/* It stays refused for a while, at no cost. */
	promote(p, &r, 1, ULONG_MAX);
	assert_int_equal(pages[PGHOT_PROMOTED], 0);
	/* The next promoter comes to the same bucket. */
	r = range_of(2, 500, 10, 0);
	promote_once(NUMA_NO_NODE, &r, ULONG_MAX);
	assert_int_equal(pages[PGHOT_PROMOTED], 0);

	machine_room(1, 10);
	r = range_of(2, 2000, 100, 1);
	promote(p, &r, 1, ULONG_MAX);
	assert_true(pages[PGHOT_PROMOTED] <= 10);
	assert_true(machine_node[1].node_zones[0].kswapd_woken > 0);
	pghot_promoter_free(p);
	machine_stop();
}

TEST(one_promoter_may_serve_all_nodes)
{
	struct pghot_promoter *p;
	struct pghot_range r[2];

	machine_start(false);
	p = pghot_promoter_create(NUMA_NO_NODE);
	r[0] = range_of(2, 0, 100, NUMA_NO_NODE);
	r[1] = range_of(3, 0, 100, NUMA_NO_NODE);
	promote(p, r, 2, ULONG_MAX);
	assert_int_equal(machine_moved(2, 0, 100, 0), 100);
	assert_int_equal(machine_moved(3, 0, 100, 1), 100);
	assert_int_equal(atomic_long_read(&machine_lower[2].promoted), 100);
	assert_int_equal(atomic_long_read(&machine_lower[3].promoted), 100);
	pghot_promoter_free(p);
	machine_stop();
}

/* Pages that were promoted from under a record leave it to its own thread. */
TEST(records_beside_it_are_still_accounted_for)
{
	struct pghot_range r;

	machine_start(false);
	machine_ready_first(2, 100, 0);
	r = range_of(2, 0, 50, 0);
	promote_once(2, &r, ULONG_MAX);
	machine_thread(2);
	machine_run(PGHOT_PERIOD_MS + 5);
	assert_int_equal(machine_stat("moved"), 50);
	assert_int_equal(machine_stat("skip_gone"), 50);
	machine_stop();
}

TEST(nobody_is_left_a_share_who_does_not_ask)
{
	struct pghot_share share;
	struct pghot_range r;

	machine_start(false);
	machine_room(0, 0);
	r = range_of(2, 0, 10, 0);
	promote_once(2, &r, ULONG_MAX);
	machine_room(0, 100);
	pghot_target_share(0, 3, &share);
	assert_false(share.others);
	machine_stop();
}

/* Another one who asks keeps what is left to its node. */
TEST(who_leaves_takes_nothing_from_others_of_its_node)
{
	struct pghot_promoter *waits;
	struct pghot_share share;
	struct pghot_range r;

	machine_start(false);
	waits = pghot_promoter_create(2);
	machine_room(0, 0);
	pghot_promoter_close(waits, 0, PGHOT_WAITS_ROOM, 0, true);
	r = range_of(2, 0, 10, 0);
	promote_once(2, &r, ULONG_MAX);
	machine_room(0, 100);
	pghot_target_share(0, 3, &share);
	assert_int_equal(share.others, 1);
	pghot_promoter_close(waits, 0, PGHOT_WAITS_ROOM, 0, true);
	pghot_promoter_leave(waits);
	pghot_target_share(0, 3, &share);
	assert_int_equal(share.others, 0);
	pghot_promoter_free(waits);
	machine_stop();
}

TEST(it_is_off_where_pghot_is)
{
	struct pghot_promoter *p;
	struct pghot_range r;

	machine_start(false);
	machine_enabled = false;
	p = pghot_promoter_create(2);
	r = range_of(2, 0, 10, 0);
	assert_int_equal(promote(p, &r, 1, ULONG_MAX), -EOPNOTSUPP);
	assert_int_equal(r.nr, 10);
	pghot_promoter_free(p);
	assert_true(IS_ERR(pghot_promoter_create(NODES)));
	assert_true(IS_ERR(pghot_promoter_create(-2)));
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(a_range_is_promoted_without_records),
	cmocka_unit_test(while_there_is_a_promoter_memory_is_kept_free),
	cmocka_unit_test(who_comes_before_pghot_takes_no_memory_from_others),
	cmocka_unit_test(no_more_is_promoted_than_was_asked_for),
	cmocka_unit_test(the_hottest_range_goes_first),
	cmocka_unit_test(what_does_not_move_has_its_reason),
	cmocka_unit_test(the_limits_are_those_of_records),
	cmocka_unit_test(one_promoter_may_serve_all_nodes),
	cmocka_unit_test(records_beside_it_are_still_accounted_for),
	cmocka_unit_test(nobody_is_left_a_share_who_does_not_ask),
	cmocka_unit_test(who_leaves_takes_nothing_from_others_of_its_node),
	cmocka_unit_test(it_is_off_where_pghot_is),
)
