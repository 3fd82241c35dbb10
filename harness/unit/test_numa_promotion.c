// SPDX-License-Identifier: GPL-2.0
/*
 * mm/numa_promotion.c beside a plain model of what the scheduler of Linux 7.3
 * decides about hint faults in memory tiering mode: the same faults, at the same
 * times, with the same memory free, must be decided alike and leave the same
 * behind.
 */
#include <string.h>

#include <linux/array_size.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/numa_promotion.h>
#include <linux/sched/sysctl.h>

#include "machine.h"
#include "unit.h"

#define NR_NODES	3
#define NR_STEPS	400000
#define GIB_PAGES	(1UL << 18)

/* --- the model -------------------------------------------------------- */

/* How a fault was decided. */
enum verdict { UNLIMITED, COLD, LIMITED, HOT, NR_VERDICTS };

/* What happened to the threshold. */
enum change { LOWERED, STAYED, RAISED, NR_CHANGES };

/* All that stock keeps. Times and the threshold have 32 bits there. */
struct model {
	u32 threshold;
	u32 second_began, period_began;
	u64 second_count, period_count;
	u64 candidates, unlimited;
};

struct settings {
	u32 reference, period, limit_mb;
};

static struct model model[NR_NODES];
static unsigned long seen_verdict[NR_VERDICTS], seen_change[NR_CHANGES];

static bool model_plenty(int nid)
{
	const pg_data_t *node = &machine_node[nid];
	u64 extra = node->node_present_pages / 16;
	int i;

	if (extra < GIB_PAGES)
		extra = GIB_PAGES;
	for (i = 0; i < node->nr_zones; i++) {
		const struct zone *zone = &node->node_zones[i];

		if (zone->present_pages &&
		    zone->free > zone->promo + extra +
				 zone->lowmem_reserve[ZONE_MOVABLE])
			return true;
	}
	return false;
}

/* Pages a second, in 32 bits: 16 TiB a second are 0. */
static u64 model_limit(const struct settings *s)
{
	return (u32)(s->limit_mb * 256);
}

static u64 model_expected(const struct settings *s)
{
	return model_limit(s) * s->period / 1000;
}

static u32 model_in_force(const struct model *m, const struct settings *s)
{
	return m->threshold ? m->threshold : s->reference;
}

/* Without bounds but these: one that is raised may go round 32 bits. */
static void model_adjust(struct model *m, const struct settings *s, u32 now)
{
	u64 expected = model_expected(s), count = m->candidates - m->period_count;
	u32 step = s->reference * 2 / 16, high = s->reference * 2;
	u32 th = model_in_force(m, s);

	if ((u32)(now - m->period_began) <= s->period)
		return;
	m->period_began = now;
	m->period_count = m->candidates;
	if (count > expected * 11 / 10) {
		seen_change[LOWERED]++;
		th -= step;
		m->threshold = th > step ? th : step;
	} else if (count < expected * 9 / 10) {
		seen_change[RAISED]++;
		th += step;
		m->threshold = th < high ? th : high;
	} else {
		seen_change[STAYED]++;
		m->threshold = th;
	}
}

static enum verdict model_fault(struct model *m, const struct settings *s,
				bool plenty, u32 now, u32 latency, u64 pages)
{
	if (plenty) {
		m->threshold = 0;
		m->unlimited += pages;
		return UNLIMITED;
	}
	model_adjust(m, s, now);
	if (latency >= model_in_force(m, s))
		return COLD;
	m->candidates += pages;
	if ((u32)(now - m->second_began) > 1000) {
		m->second_began = now;
		m->second_count = m->candidates;
	}
	return m->candidates - m->second_count < model_limit(s) ? HOT : LIMITED;
}

/* --- random faults ---------------------------------------------------- */

static u64 random_state;

static u64 any(u64 below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

/* One of the numbers next to @value. */
static u64 about(u64 value)
{
	u64 near = value + any(3);

	return near ? near - 1 : 0;
}

#define ONE_OF(values)	((values)[any(ARRAY_SIZE(values))])

static struct settings settings_now(void)
{
	return (struct settings) {
		.reference = sysctl_numa_balancing_hot_threshold,
		.period = sysctl_numa_balancing_scan_period_max,
		.limit_mb = sysctl_numa_balancing_promote_rate_limit,
	};
}

static void let_time_pass(void)
{
	static const u64 long_ms[] = {
		1000, 60000, 3600 * 1000, 1UL << 31, 1UL << 32,
	};

	switch (any(16)) {
	case 0:
		jiffies += about(ONE_OF(long_ms));
		break;
	case 1:
		jiffies += about(sysctl_numa_balancing_scan_period_max);
		break;
	case 2 ... 9:
		jiffies += any(20);
		break;
	}
}

/* One zone is about as free as it must be, the others are less. */
static void use_memory(int nid)
{
	pg_data_t *node = &machine_node[nid];
	u64 extra = about(node->node_present_pages / 16);
	int i, free = any(node->nr_zones);

	if (any(2))
		extra = about(GIB_PAGES);
	for (i = 0; i < node->nr_zones; i++) {
		struct zone *zone = &node->node_zones[i];

		zone->free = any(zone->promo + GIB_PAGES / 2);
		if (i == free && !any(4))
			zone->free = zone->promo + extra +
				     zone->lowmem_reserve[ZONE_MOVABLE];
	}
}

static void turn_a_knob(void)
{
	static const unsigned int refs[] = { 0, 1, 7, 8, 999, 1000, 1000, 60000 };
	static const unsigned int periods[] = { 0, 100, 1000, 60000, 60000 };
	static const unsigned int limits[] = {
		0, 1, 3, 100, 65536, 1 << 22, 1 << 24, S32_MAX,
	};

	switch (any(8)) {
	case 0 ... 1:
		sysctl_numa_balancing_hot_threshold = ONE_OF(refs);
		break;
	case 2:
		sysctl_numa_balancing_scan_period_max = ONE_OF(periods);
		break;
	case 3 ... 4:
		sysctl_numa_balancing_promote_rate_limit = ONE_OF(limits);
		break;
	}
}

/* Others promote to the node too: about as many as make a difference. */
static void others_promote(int nid)
{
	static const unsigned int tenths[] = { 9, 11 };
	struct settings s = settings_now();
	struct model *m = &model[nid];
	u64 count = m->period_count + model_expected(&s) * ONE_OF(tenths) / 10;

	if (any(2))
		count = m->second_count + model_limit(&s);
	m->candidates = about(count);
	machine_node[nid].stat[PGPROMOTE_CANDIDATE] = m->candidates;
}

static void tiering_is_switched_on(void)
{
	int nid;

	numa_promotion_reset();
	for (nid = 0; nid < NR_NODES; nid++) {
		model[nid].threshold = 0;
		model[nid].period_began = jiffies;
		model[nid].period_count = model[nid].candidates;
	}
}

static void nodes_are_equal(unsigned long step)
{
	int nid;

	for (nid = 0; nid < NR_NODES; nid++) {
		const pg_data_t *node = &machine_node[nid];
		const struct model *m = &model[nid];

		if (node->nbp_threshold != m->threshold ||
		    node->nbp_th_start != m->period_began ||
		    node->nbp_th_nr_cand != m->period_count ||
		    node->nbp_rl_start != m->second_began ||
		    node->nbp_rl_nr_cand != m->second_count ||
		    node->stat[PGPROMOTE_CANDIDATE] != m->candidates ||
		    node->stat[PGPROMOTE_CANDIDATE_NRL] != m->unlimited)
			fail_msg("node %d differs after step %lu", nid, step);
	}
}

/* A folio that was scanned about as long ago as makes a difference. */
static struct folio scanned(const struct model *m, u32 now)
{
	static const unsigned int orders[] = { 0, 0, 0, 4, 9 };
	struct settings s = settings_now();
	u32 ago = any(2) ? about(model_in_force(m, &s)) : any(2 * s.reference + 9);

	if (!any(32))
		ago = any(1UL << 32);
	return (struct folio) {
		.order = ONE_OF(orders),
		.access_time = (now - ago) & PAGE_ACCESS_TIME_MASK,
	};
}

static void fault(int nid, unsigned long step)
{
	struct settings s = settings_now();
	u32 now = jiffies;
	struct folio folio = scanned(&model[nid], now);
	u32 then = folio.access_time;
	enum verdict verdict;
	bool may;

	verdict = model_fault(&model[nid], &s, model_plenty(nid), now,
			      (now - then) & PAGE_ACCESS_TIME_MASK,
			      1UL << folio.order);
	seen_verdict[verdict]++;
	may = numa_should_promote(&folio, nid);
	if (may != (verdict == UNLIMITED || verdict == HOT))
		fail_msg("step %lu: %d, expected %d", step, may, verdict);
	if (verdict != UNLIMITED)
		then = now & PAGE_ACCESS_TIME_MASK;
	assert_int_equal(folio.access_time, then);
	assert_int_equal(numa_promotion_threshold(&machine_node[nid],
						  s.reference),
			 model_in_force(&model[nid], &s));
	nodes_are_equal(step);
}

/* DRAM of 8 GiB and of 64 GiB, and one of which a part is not there. */
static void begin(u64 seed)
{
	static const unsigned long present[NR_NODES] = {
		8 * GIB_PAGES, 64 * GIB_PAGES, 24 * GIB_PAGES,
	};
	int nid, z;

	random_state = 88172645463325252ULL + seed;
	memset(model, 0, sizeof(model));
	memset(machine_node, 0, sizeof(machine_node));
	sysctl_numa_balancing_hot_threshold = 1000;
	sysctl_numa_balancing_scan_period_max = 60000;
	sysctl_numa_balancing_promote_rate_limit = 100;
	jiffies = seed % 2 ? U32_MAX - 30000 : 5000;
	for (nid = 0; nid < NR_NODES; nid++) {
		pg_data_t *node = &machine_node[nid];

		node_set(nid, node_states[N_MEMORY]);
		node->node_present_pages = present[nid];
		node->nr_zones = 1 + nid;
		for (z = 0; z < node->nr_zones; z++)
			node->node_zones[z] = (struct zone) {
				.present_pages = nid == 2 && z == 1 ? 0 : 1,
				.promo = 1000 * (z + 1),
				.lowmem_reserve = { [ZONE_MOVABLE] = 77 * nid },
			};
	}
}

TEST(decides_as_the_scheduler_did)
{
	unsigned long step;
	u64 seed;
	int i;

	memset(seen_verdict, 0, sizeof(seen_verdict));
	memset(seen_change, 0, sizeof(seen_change));
	for (seed = 0; seed < 4; seed++) {
		begin(seed);
		for (step = 0; step < NR_STEPS; step++) {
			int nid = any(NR_NODES);

			let_time_pass();
			if (!any(16))
				use_memory(nid);
			if (!any(200))
				turn_a_knob();
			if (!any(16))
				others_promote(nid);
			if (!any(1000))
				tiering_is_switched_on();
			fault(nid, step);
		}
	}
	/* Each way was gone often enough to say so. */
	for (i = 0; i < NR_VERDICTS; i++)
		assert_true(seen_verdict[i] > 10000);
	for (i = 0; i < NR_CHANGES; i++)
		assert_true(seen_change[i] > 1000);
}

/* --- what others who promote use of it --------------------------------- */

TEST(where_all_may_come_each_page_is_counted)
{
	pg_data_t *node = &machine_node[0];

	begin(0);
	node->nbp_threshold = 125;
	node->node_zones[0].free = node->node_zones[0].promo + GIB_PAGES * 2;
	assert_true(numa_promotion_unlimited(node, 512));
	assert_int_equal(node->stat[PGPROMOTE_CANDIDATE_NRL], 512);
	assert_int_equal(node->nbp_threshold, 0);
	assert_int_equal(numa_promotion_threshold(node, 1000), 1000);
}

TEST(asking_for_free_space_changes_nothing)
{
	pg_data_t *node = &machine_node[0], before;

	begin(0);
	node->nbp_threshold = 125;
	node->node_zones[0].free = node->node_zones[0].promo + GIB_PAGES * 2;
	before = *node;
	assert_true(pgdat_free_space_enough(node));
	node->node_zones[0].free = before.node_zones[0].free = GIB_PAGES / 2;
	assert_false(pgdat_free_space_enough(node));
	assert_false(numa_promotion_unlimited(node, 512));
	assert_memory_equal(node, &before, sizeof(before));
}

TEST(candidates_are_those_of_a_period)
{
	pg_data_t *node = &machine_node[0];

	begin(0);
	numa_promotion_reset();
	node->stat[PGPROMOTE_CANDIDATE] = 60 * 1000 * 11 / 10 + 1;
	jiffies += 60000;
	assert_int_equal(numa_promotion_adjust_threshold(node, 1000, 1000), 1000);
	jiffies += 1;
	assert_int_equal(numa_promotion_adjust_threshold(node, 1000, 1000), 875);
	assert_int_equal(numa_promotion_adjust_threshold(node, 1000, 1000), 875);
	node->stat[PGPROMOTE_CANDIDATE] += 60 * 1000;
	jiffies += 60001;
	assert_int_equal(numa_promotion_adjust_threshold(node, 1000, 1000), 875);
	jiffies += 60001;
	assert_int_equal(numa_promotion_adjust_threshold(node, 1000, 1000), 1000);
}

/* Begins the period that the task under test has not seen the end of. */
static void another_task(void)
{
	machine_meanwhile = NULL;
	jiffies++;
	assert_int_equal(numa_promotion_adjust_threshold(&machine_node[0], 1000,
							 1000), 1125);
}

TEST(a_period_that_another_task_began_is_not_over)
{
	pg_data_t *node = &machine_node[0];

	begin(0);
	numa_promotion_reset();
	jiffies += 60000;
	machine_meanwhile = another_task;
	assert_int_equal(numa_promotion_adjust_threshold(node, 1000, 1000), 1125);
	assert_null(machine_meanwhile);
	assert_int_equal(node->nbp_th_start, jiffies);
}

UNIT_MAIN(
	cmocka_unit_test(decides_as_the_scheduler_did),
	cmocka_unit_test(where_all_may_come_each_page_is_counted),
	cmocka_unit_test(asking_for_free_space_changes_nothing),
	cmocka_unit_test(candidates_are_those_of_a_period),
	cmocka_unit_test(a_period_that_another_task_began_is_not_over),
)
