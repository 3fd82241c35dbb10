// SPDX-License-Identifier: GPL-2.0
/* A batch of accesses does what the same accesses do one by one, in order. */
#include "map.h"

#include <linux/array_size.h>

#include "hotmap_layout.h"

#define MOST	1000

static struct fixture one, many;

static struct pghot_access accesses[MOST];

/* Which accesses made a record ready, and whose it is. */
struct ready {
	unsigned int nr;
	const struct pghot_access *access[MOST];
	int owner[MOST];
};

static struct ready by_batch;

static void became_ready(const struct pghot_access *access,
			 struct pghot_map_node *node)
{
	by_batch.access[by_batch.nr] = access;
	by_batch.owner[by_batch.nr++] = node->nid;
}

static unsigned int record_batch(struct fixture *f, unsigned int nr, u32 now_ms)
{
	by_batch.nr = 0;
	return pghot_map_record_batch(&f->map, accesses, nr, now_ms, &f->t,
				      became_ready);
}

static unsigned int record_each(struct fixture *f, unsigned int nr, u32 now_ms,
				struct ready *r)
{
	struct pghot_map_node *node;
	unsigned int i, tracked = 0;

	r->nr = 0;
	for (i = 0; i < nr; i++) {
		enum pghot_recorded did;

		did = pghot_map_record(&f->map, &accesses[i], now_ms, &f->t,
				       &node);
		tracked += did != PGHOT_UNTRACKED;
		if (did != PGHOT_BECAME_READY)
			continue;
		r->access[r->nr] = &accesses[i];
		r->owner[r->nr++] = node->nid;
	}
	return tracked;
}

/* Few pages, so that accesses meet; one section in five is not tracked. */
static void choose(unsigned int nr, u32 *random)
{
	static const unsigned long sections[] = {
		SECTION_A, SECTION_B, SECTION_C, SECTION_D, SECTION_C + 1,
	};
	static const int nids[] = { 0, 1, 2, NUMA_NO_NODE };
	unsigned int i;

	for (i = 0; i < nr; i++) {
		u32 r = *random = *random * 1664525 + 1013904223;

		accesses[i] = (struct pghot_access) {
			.pfn = pfn_in(sections[(r >> 8) % ARRAY_SIZE(sections)],
				      (r >> 12) % 24 * 1365),
			.nid = nids[(r >> 20) % ARRAY_SIZE(nids)],
			.weight = (r >> 24) % 3,
		};
	}
}

static const struct pghot_section *section(struct fixture *f, unsigned long nr)
{
	const struct pghot_section *sec;

	rcu_read_lock();
	sec = section_of(&f->map, nr);
	rcu_read_unlock();
	return sec;
}

static void assert_same_maps(void)
{
	static const unsigned long sections[] = {
		SECTION_A, SECTION_B, SECTION_C, SECTION_D,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sections); i++) {
		const struct pghot_section *a = section(&one, sections[i]);
		const struct pghot_section *b = section(&many, sections[i]);

		assert_memory_equal(a->hot, b->hot, sizeof(a->hot));
		assert_memory_equal(a->held, b->held, sizeof(a->held));
		assert_memory_equal(a->slots, b->slots, sizeof(a->slots));
		assert_memory_equal(a->records, b->records,
				    PAGES_PER_SECTION * (one.map.precise ? 4 : 1));
	}
	assert_int_equal(pghot_map_ready(&one.node, NULL),
			 pghot_map_ready(&many.node, NULL));
	assert_int_equal(pghot_map_ready(&one.other, NULL),
			 pghot_map_ready(&many.other, NULL));
}

/* Return how many records were ready. */
static unsigned long empty(struct fixture *f)
{
	unsigned long ready = pghot_map_remove(&f->map, SECTION_A, 2);

	pghot_map_add(&f->map, &f->node, SECTION_A, 0);
	pghot_map_add(&f->map, &f->node, SECTION_B, 0);
	return ready;
}

TEST(a_batch_does_what_single_calls_do)
{
	static const unsigned int sizes[] = {
		0, 1, 2, 31, 32, 33, 63, 64, 65, MOST,
	};
	static struct ready by_call;
	u32 random = 1, now_ms = 1000;
	unsigned int i, round;
	int precise;

	for (precise = 0; precise < 2; precise++) {
		fixture_init(&one, precise);
		fixture_init(&many, precise);
		for (round = 0; round < 20; round++) {
			for (i = 0; i < ARRAY_SIZE(sizes); i++) {
				choose(sizes[i], &random);
				assert_int_equal(record_batch(&many, sizes[i],
							      now_ms),
						 record_each(&one, sizes[i],
							     now_ms, &by_call));
				assert_int_equal(by_batch.nr, by_call.nr);
				assert_memory_equal(by_batch.access,
						    by_call.access,
						    by_call.nr *
						    sizeof(by_call.access[0]));
				assert_memory_equal(by_batch.owner,
						    by_call.owner, by_call.nr *
						    sizeof(by_call.owner[0]));
				assert_same_maps();
				now_ms += 700;
			}
			assert_true(empty(&one));
			assert_true(empty(&many));
		}
		pghot_map_exit(&many.map);
		fixture_exit(&one);
	}
}

TEST(a_page_twice_in_a_batch_becomes_ready_once)
{
	for_each_map(&many) {
		unsigned int i;

		for (i = 0; i < 3; i++)
			accesses[i] = (struct pghot_access) {
				.pfn = pfn_in(SECTION_A, 7), .weight = 1,
			};
		assert_int_equal(record_batch(&many, 3, 1000), 3);
		assert_int_equal(by_batch.nr, 1);
		assert_ptr_equal(by_batch.access[0], &accesses[1]);
		assert_int_equal(by_batch.owner[0], 2);
		assert_int_equal(pghot_map_ready(&many.node, NULL), 1);
	}
}

TEST(pages_that_are_not_tracked_are_left_out)
{
	for_each_map(&many) {
		accesses[0] = (struct pghot_access) {
			.pfn = pfn_in(SECTION_C + 1, 0), .weight = 2,
		};
		accesses[1] = (struct pghot_access) {
			.pfn = pfn_in(SECTION_D, 0), .weight = 2,
		};
		/* Beyond what the map reaches to. */
		accesses[2] = (struct pghot_access) {
			.pfn = ULONG_MAX, .weight = 2,
		};
		assert_int_equal(record_batch(&many, 3, 1000), 1);
		assert_int_equal(by_batch.nr, 1);
		assert_ptr_equal(by_batch.access[0], &accesses[1]);
		assert_int_equal(by_batch.owner[0], 3);
	}
}

UNIT_MAIN(
	cmocka_unit_test(a_batch_does_what_single_calls_do),
	cmocka_unit_test(a_page_twice_in_a_batch_becomes_ready_once),
	cmocka_unit_test(pages_that_are_not_tracked_are_left_out),
)
