// SPDX-License-Identifier: GPL-2.0
/* policy.c: how many accesses a hint fault stands for. */
#include "unit.h"

#include <linux/limits.h>

#include "policy.h"

#define REF		1000

TEST(what_stock_promotes_is_ready_at_once)
{
	u32 threshold;

	for (threshold = 1; threshold <= 127; threshold++)
		assert_int_equal(pghot_fault_weight(REF - 1, REF, REF,
						    threshold, false),
				 threshold);
}

TEST(a_slow_fault_is_one_access)
{
	assert_int_equal(pghot_fault_weight(REF, REF, REF, 3, false), 1);
	assert_int_equal(pghot_fault_weight(U32_MAX, 2 * REF, REF, 3, false),
			 1);
}

TEST(a_slow_fault_says_nothing_under_pressure)
{
	assert_int_equal(pghot_fault_weight(REF, REF - 1, REF, 3, false), 0);
	assert_int_equal(pghot_fault_weight(REF - 2, REF - 1, REF, 3, false),
			 3);
}

TEST(with_room_every_fault_counts_in_full)
{
	assert_int_equal(pghot_fault_weight(U32_MAX, 1, REF, 3, true), 3);
}

UNIT_MAIN(
	cmocka_unit_test(what_stock_promotes_is_ready_at_once),
	cmocka_unit_test(a_slow_fault_is_one_access),
	cmocka_unit_test(a_slow_fault_says_nothing_under_pressure),
	cmocka_unit_test(with_room_every_fault_counts_in_full),
)
