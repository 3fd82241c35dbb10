// SPDX-License-Identifier: GPL-2.0
/* Tests of cpu_is_contended(): what a thread learns of those who share its CPU. */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>
#include <uapi/linux/sched/types.h>

#define SPIN_MS		3
/* A host that has little time for the guest may need long for the two to meet. */
#define LIMIT_MS	60000

/**
 * struct look - a thread looks while another one of its CPU sleeps and is queued
 * @sleeper: the other one
 * @enough: looks without contention to end after
 * @most: looks to end after
 * @looks: how often it looked
 * @contended: how often others wanted the CPU
 * @over: it ended, at the latest after LIMIT_MS
 */
struct look {
	struct task_struct *sleeper;
	unsigned int enough;
	unsigned int most;
	unsigned int looks;
	unsigned int contended;
	struct completion over;
};

/* Runs for more than its part, and sleeps before it has paid for that. */
static int sleep_and_spin(void *unused)
{
	while (!kthread_should_stop()) {
		ktime_t end = ktime_add_ms(ktime_get(), SPIN_MS);

		while (ktime_before(ktime_get(), end))
			cpu_relax();
		schedule_timeout_interruptible(msecs_to_jiffies(5 * SPIN_MS));
	}
	return 0;
}

static int spin(void *unused)
{
	while (!kthread_should_stop()) {
		cpu_relax();
		cond_resched();
	}
	return 0;
}

static int look(void *data)
{
	ktime_t end = ktime_add_ms(ktime_get(), LIMIT_MS);
	struct look *l = data;

	do {
		preempt_disable();
		if (READ_ONCE(l->sleeper->se.sched_delayed)) {
			l->looks++;
			l->contended += cpu_is_contended();
		}
		preempt_enable();
		cond_resched();
	} while (l->looks - l->contended < l->enough && l->looks < l->most &&
		 ktime_before(ktime_get(), end));
	complete(&l->over);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* Have @l filled, with a sleeper of this policy, and maybe one that never sleeps. */
static void look_at(struct kunit *test, struct look *l, int policy, bool busy)
{
	static const struct sched_param param;
	unsigned int cpu = cpumask_last(cpu_online_mask), i, nr = busy ? 3 : 2;
	struct task_struct *t[3];

	init_completion(&l->over);
	t[0] = kthread_create_on_cpu(sleep_and_spin, NULL, cpu, "pghot_sleep/%u");
	KUNIT_ASSERT_FALSE(test, IS_ERR(t[0]));
	t[1] = kthread_create_on_cpu(look, l, cpu, "pghot_look/%u");
	KUNIT_ASSERT_FALSE(test, IS_ERR(t[1]));
	t[2] = busy ? kthread_create_on_cpu(spin, NULL, cpu, "pghot_spin/%u") : NULL;
	KUNIT_ASSERT_FALSE(test, IS_ERR(t[2]));
	l->sleeper = t[0];
	KUNIT_EXPECT_EQ(test, sched_setscheduler_nocheck(t[0], policy, &param), 0);
	for (i = nr; i--;)
		wake_up_process(t[i]);
	wait_for_completion(&l->over);
	for (i = nr; i--;)
		kthread_stop(t[i]);
	kunit_info(test, "%u looks, contended in %u\n", l->looks, l->contended);
}

/* Who waits for a page on its way is asleep, though it is queued for some time. */
static void who_sleeps_does_not_want_the_cpu(struct kunit *test)
{
	struct look l = { .enough = 1, .most = UINT_MAX };

	look_at(test, &l, SCHED_NORMAL, false);
	KUNIT_EXPECT_GT(test, l.looks, 0);
	KUNIT_EXPECT_LT(test, l.contended, l.looks);
}

/* One that sleeps and would give way too is one, and does not hide another one. */
static void who_sleeps_hides_nobody(struct kunit *test)
{
	struct look l = { .enough = UINT_MAX, .most = 300 };

	look_at(test, &l, SCHED_IDLE, true);
	KUNIT_EXPECT_EQ(test, l.contended, l.looks);
	l.looks = 0;
	l.contended = 0;
	look_at(test, &l, SCHED_NORMAL, true);
	KUNIT_EXPECT_EQ(test, l.contended, l.looks);
}

static struct kunit_case contended_cases[] = {
	KUNIT_CASE_SLOW(who_sleeps_does_not_want_the_cpu),
	KUNIT_CASE_SLOW(who_sleeps_hides_nobody),
	{ }
};

static struct kunit_suite contended_suite = {
	.name = "pghot_contended",
	.test_cases = contended_cases,
};

kunit_test_suite(contended_suite);
