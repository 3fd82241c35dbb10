// SPDX-License-Identifier: GPL-2.0
/* What becomes of a ready record: moved, skipped under a reason, or it waits. */
#include "unit.h"
#include "machine.h"

#define PAGES	1000UL

static void start(void)
{
	machine_start(false);
	machine_thread(2);
}

static void all_ready(int target)
{
	unsigned long i;

	for (i = 0; i < PAGES; i++)
		machine_ready(2, i, target);
}

TEST(pages_go_to_the_node_they_are_accessed_from)
{
	start();
	machine_ready(2, 0, 0);
	machine_ready(2, 1, 1);
	machine_ready(2, 700, 1);
	machine_run(5);
	assert_int_equal(machine_moved(2, 0, PAGES, 0), 1);
	assert_int_equal(machine_moved(2, 0, PAGES, 1), 2);
	assert_int_equal(machine_stat("moved"), 3);
	machine_stop();
}

TEST(a_page_that_is_not_ready_stays)
{
	start();
	machine_access(2, 0, 0, 1);
	machine_run(1000);
	assert_int_equal(machine_moved(2, 0, 1, 0), 0);
	machine_stop();
}

TEST(batches_have_as_many_pages_as_they_may)
{
	start();
	pghot_batch_pages = 100;
	all_ready(0);
	machine_run(5);
	assert_int_equal(machine_moved(2, 0, PAGES, 0), PAGES);
	assert_int_equal(machine_stat("batches"), PAGES / 100);
	machine_stop();
}

TEST(a_large_folio_is_one_record)
{
	start();
	machine_large(2, 512, 9);
	machine_ready(2, 512, 0);
	machine_run(5);
	assert_int_equal(machine_stat("moved"), 1);
	assert_int_equal(machine_stat("promoted_pages"), 512);
	machine_stop();
}

TEST(what_will_not_move_is_counted_under_its_reason)
{
	start();
	machine_immovable(2);
	all_ready(0);
	machine_run(5);
	assert_int_equal(machine_stat("skip_gone"), 1);
	assert_int_equal(machine_stat("skip_toptier"), 1);
	assert_int_equal(machine_stat("skip_dirty"), 1);
	assert_int_equal(machine_stat("skip_policy"), 1);
	assert_int_equal(machine_stat("skip_migrate"), 1);
	assert_int_equal(machine_stat("skip_pinned"), 1);
	assert_int_equal(machine_stat("moved"), PAGES - 6);
	machine_stop();
}

/* Each time would be an unmapping and a TLB flush for nothing. */
TEST(what_is_pinned_for_dma_is_not_touched)
{
	struct folio *folio;
	unsigned int i;

	start();
	folio = machine_folio(2, 0);
	folio->dma = true;
	for (i = 0; i < 10; i++) {
		machine_ready(2, 0, 0);
		machine_run(PGHOT_PERIOD_MS);
	}
	assert_int_equal(machine_stat("skip_pinned"), 10);
	assert_int_equal(machine_stat("skip_migrate"), 0);
	assert_int_equal(machine_stat("batches"), 0);
	assert_int_equal(machine_asked, 0);
	/* And no longer than it is. */
	folio->dma = false;
	machine_ready(2, 0, 0);
	machine_run(PGHOT_PERIOD_MS);
	assert_int_equal(machine_moved(2, 0, 1, 0), 1);
	machine_stop();
}

/* It would fail, and its record be gone. */
TEST(what_is_being_written_is_tried_again)
{
	struct folio *folio;

	start();
	folio = machine_folio(2, 0);
	folio->file = true;
	folio->writeback = true;
	machine_ready(2, 0, 0);
	machine_run(10 * PGHOT_PERIOD_MS);
	assert_int_equal(machine_stat("skip_migrate"), 0);
	assert_int_equal(machine_stat("batches"), 0);
	folio->writeback = false;
	machine_run(PGHOT_PERIOD_MS);
	assert_int_equal(machine_moved(2, 0, 1, 0), 1);
	machine_stop();
}

TEST(a_cpuset_sends_a_page_to_the_node_it_allows)
{
	struct mem_cgroup one = { .allowed.bits = { BIT(1) | BIT(2) } };

	start();
	machine_folio(2, 0)->memcg = &one;
	machine_ready(2, 0, 0);
	machine_run(5);
	assert_int_equal(machine_moved(2, 0, 1, 1), 1);
	machine_stop();
}

TEST(a_page_in_use_is_tried_again)
{
	start();
	machine_folio(2, 0)->busy = true;
	machine_folio(2, 1)->on_lru = false;
	machine_ready(2, 0, 0);
	machine_ready(2, 1, 0);
	machine_run(1000);
	assert_in_range(machine_stat("delay_busy"), 2, 30);
	machine_folio(2, 0)->busy = false;
	machine_folio(2, 1)->on_lru = true;
	machine_run(200);
	assert_int_equal(machine_moved(2, 0, 2, 0), 2);
	machine_stop();
}

/* One of hugetlb, one of the kernel's own, a slab, which has no references. */
TEST(what_no_list_has_is_not_tried_again)
{
	unsigned long i;

	start();
	for (i = 0; i < 3; i++)
		machine_folio(2, i)->on_lru = false;
	machine_folio(2, 0)->page.typed = true;
	machine_folio(2, 1)->mapping = NULL;
	machine_folio(2, 2)->page.typed = true;
	machine_folio(2, 2)->refs = 0;
	machine_ready_first(2, 3, 0);
	machine_run(1000);
	assert_int_equal(machine_stat("skip_unmovable"), 3);
	assert_int_equal(machine_stat("delay_busy"), 0);
	assert_int_equal(machine_asked, 0);
	machine_stop();
}

/* Swapped in and not yet on a list; frozen, as it is being moved. */
TEST(what_is_between_lists_is_tried_again)
{
	start();
	machine_folio(2, 0)->on_lru = false;
	machine_folio(2, 0)->mapping = NULL;
	machine_folio(2, 0)->swapcache = true;
	machine_folio(2, 1)->refs = 0;
	machine_ready_first(2, 2, 0);
	machine_run(1000);
	assert_int_equal(machine_stat("skip_unmovable"), 0);
	assert_in_range(machine_stat("delay_busy"), 2, 30);
	machine_folio(2, 0)->on_lru = true;
	machine_folio(2, 1)->refs = 1;
	machine_run(200);
	assert_int_equal(machine_moved(2, 0, 2, 0), 2);
	machine_stop();
}

/* Nobody else may ever have reason to; but not more often than once in a window. */
TEST(what_a_cpu_keeps_from_its_list_is_fetched)
{
	u32 window;

	start();
	window = pghot_tunables.window_ms;
	machine_folio(2, 0)->on_lru = false;
	machine_folio(2, 0)->in_batch = true;
	/* One whose owner has it off its list for long. */
	machine_folio(2, 1)->on_lru = false;
	machine_ready_first(2, 2, 0);
	machine_run(3 * PGHOT_PERIOD_MS);
	assert_int_equal(machine_moved(2, 0, 1, 0), 1);
	assert_int_equal(machine_drained, 1);
	machine_run(window / 2);
	assert_int_equal(machine_drained, 1);
	machine_ready(2, 1, 0);
	machine_run(window / 2);
	assert_int_equal(machine_drained, 2);
	machine_stop();
}

TEST(pages_wait_for_room)
{
	machine_start_apart(false);
	machine_thread(2);
	machine_room(0, 100);
	all_ready(0);
	machine_run(1000);
	assert_in_range(machine_moved(2, 0, PAGES, 0), 90, 100);
	assert_true(machine_stat("delay_target_full") > 0);
	assert_true(machine_node[0].node_zones[0].kswapd_woken > 0);
	machine_room(0, PAGES + 1);
	machine_run(300);
	assert_int_equal(machine_moved(2, 0, PAGES, 0), PAGES);
	machine_stop();
}

TEST(the_rate_limit_holds)
{
	start();
	sysctl_numa_balancing_promote_rate_limit = 1;
	pghot_tunables.window_ms = 60000;
	all_ready(0);
	machine_run(2000);
	/* 256 a second, a quarter of a second's worth at once. */
	assert_in_range(machine_stat("moved"), 450, 578);
	assert_true(machine_stat("delay_rate_limit") > 0);
	machine_stop();
}

TEST(plenty_knows_no_rate_limit)
{
	start();
	sysctl_numa_balancing_promote_rate_limit = 0;
	machine_plenty(0);
	all_ready(0);
	machine_run(5);
	assert_int_equal(machine_stat("moved"), PAGES);
	machine_stop();
}

TEST(the_hottest_go_first)
{
	unsigned long i;

	start();
	sysctl_numa_balancing_promote_rate_limit = 0;
	pghot_tunables.window_ms = 60000;
	for (i = 0; i < PAGES; i++)
		machine_access(2, i, 0, i % 2 ? 3 : 2);
	machine_run(500);
	assert_int_equal(machine_stat("moved"), 0);
	/* Half a second earns 128 tokens, the bucket holds 64. */
	sysctl_numa_balancing_promote_rate_limit = 1;
	machine_run(500);
	for (i = 0; i < PAGES; i += 2)
		assert_int_equal(machine_moved(2, i, i + 1, 0), 0);
	assert_true(machine_stat("moved") > 64);
	machine_stop();
}

TEST(pages_that_went_cold_while_they_waited_are_dropped)
{
	machine_start_apart(false);
	machine_thread(2);
	machine_room(0, 0);
	all_ready(0);
	machine_run(3 * PGHOT_WINDOW_MS);
	assert_int_equal(machine_stat("skip_stale"), PAGES);
	machine_stop();
}

TEST(without_a_top_tier_pages_wait)
{
	start();
	machine_take_away(0);
	machine_take_away(1);
	machine_ready(2, 0, 0);
	machine_run(1000);
	assert_in_range(machine_stat("delay_no_target"), 1, 20);
	machine_stop();
}

UNIT_MAIN(
	cmocka_unit_test(pages_go_to_the_node_they_are_accessed_from),
	cmocka_unit_test(a_page_that_is_not_ready_stays),
	cmocka_unit_test(batches_have_as_many_pages_as_they_may),
	cmocka_unit_test(a_large_folio_is_one_record),
	cmocka_unit_test(what_will_not_move_is_counted_under_its_reason),
	cmocka_unit_test(what_is_pinned_for_dma_is_not_touched),
	cmocka_unit_test(what_is_being_written_is_tried_again),
	cmocka_unit_test(a_cpuset_sends_a_page_to_the_node_it_allows),
	cmocka_unit_test(a_page_in_use_is_tried_again),
	cmocka_unit_test(what_no_list_has_is_not_tried_again),
	cmocka_unit_test(what_is_between_lists_is_tried_again),
	cmocka_unit_test(what_a_cpu_keeps_from_its_list_is_fetched),
	cmocka_unit_test(pages_wait_for_room),
	cmocka_unit_test(the_rate_limit_holds),
	cmocka_unit_test(plenty_knows_no_rate_limit),
	cmocka_unit_test(the_hottest_go_first),
	cmocka_unit_test(pages_that_went_cold_while_they_waited_are_dropped),
	cmocka_unit_test(without_a_top_tier_pages_wait),
)
