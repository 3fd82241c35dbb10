// SPDX-License-Identifier: GPL-2.0
/* Tests of owners.c: who allows a page where, with made-up policies and processes. */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/mempolicy.h>
#include <linux/mm.h>

#include "../internal.h"
#include "shared.h"

/* Nodes of policies that nobody has to have: the page is on SRC. */
#define SRC		2
#define ALL		0xf

struct modes {
	const char *name;
	unsigned short mode;
	unsigned short flags;
	unsigned long nodes;
	unsigned long allowed;
};

static const struct modes modes[] = {
	{ "bind elsewhere", MPOL_BIND, 0, 0x1, 0x1 },
	{ "bind here", MPOL_BIND, 0, BIT(SRC), 0 },
	{ "bind here and elsewhere", MPOL_BIND, 0, BIT(SRC) | 0x1, 0 },
	{ "preferred here", MPOL_PREFERRED, 0, BIT(SRC), 0 },
	{ "preferred elsewhere", MPOL_PREFERRED, 0, 0x2, 0x2 },
	{ "preferred many, here too", MPOL_PREFERRED_MANY, 0, ALL, 0 },
	{ "preferred many elsewhere", MPOL_PREFERRED_MANY, 0, 0x3, 0x3 },
	{ "interleave here", MPOL_INTERLEAVE, 0, BIT(SRC) | 0x1, 0 },
	{ "interleave elsewhere", MPOL_INTERLEAVE, 0, 0x3, 0x3 },
	{ "weighted interleave here", MPOL_WEIGHTED_INTERLEAVE, 0, ALL, 0 },
	{ "weighted interleave elsewhere", MPOL_WEIGHTED_INTERLEAVE, 0, 0x3, 0x3 },
	/* It has no nodes: what stands there is of whoever had the memory before. */
	{ "local", MPOL_LOCAL, 0, 0x1, 0 },
	{ "balance here and elsewhere", MPOL_BIND,
	  MPOL_F_MOF | MPOL_F_MORON, BIT(SRC) | 0x2, BIT(SRC) | 0x2 },
	{ "balance here", MPOL_BIND, MPOL_F_MOF | MPOL_F_MORON, BIT(SRC), BIT(SRC) },
	{ "balance many", MPOL_PREFERRED_MANY, MPOL_F_MOF | MPOL_F_MORON,
	  BIT(SRC) | 0x1, BIT(SRC) | 0x1 },
};

static void modes_desc(const struct modes *m, char *desc)
{
	strscpy(desc, m->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(modes, modes, modes_desc);

static void policy_allows(struct kunit *test)
{
	const struct modes *m = test->param_value;
	struct mempolicy pol = {
		.mode = m->mode, .flags = m->flags,
		.nodes = { { m->nodes } },
	};
	nodemask_t nodes = { { ALL } };

	pghot_policy_filter(&pol, SRC, &nodes);
	KUNIT_EXPECT_EQ(test, nodes_addr(nodes)[0], m->allowed);
}

static void nobody_forbids(struct kunit *test)
{
	struct shared *s = shared_new(test);
	nodemask_t nodes;

	KUNIT_EXPECT_EQ(test, shared_by(s, 3), 3);
	KUNIT_EXPECT_TRUE(test, folio_mapped(s->folio));
	KUNIT_EXPECT_TRUE(test, pghot_owners_allow(s->folio, &nodes));
	KUNIT_EXPECT_TRUE(test, nodes_equal(nodes, node_states[N_MEMORY]));
	shared_free(s);
}

/* This thread owns all the processes. */
static void set_own_policy(struct mempolicy *pol)
{
	task_lock(current);
	current->mempolicy = pol;
	task_unlock(current);
}

static void process_forbids(struct kunit *test)
{
	struct shared *s = shared_new(test);
	struct mempolicy pol = {
		.mode = MPOL_BIND, .nodes = nodemask_of_node(folio_nid(s->folio)),
	};
	struct shared_change change;
	nodemask_t nodes;

	KUNIT_EXPECT_EQ(test, shared_by(s, 1), 1);
	set_own_policy(&pol);
	KUNIT_EXPECT_TRUE(test, pghot_owners_allow(s->folio, &nodes));
	KUNIT_EXPECT_TRUE(test, nodes_empty(nodes));
	/* Also while nothing is in its page table for a moment. */
	shared_change_begin(test, &change, s->mm[0]);
	KUNIT_EXPECT_TRUE(test, pghot_owners_allow(s->folio, &nodes));
	KUNIT_EXPECT_TRUE(test, nodes_empty(nodes));
	shared_change_end(&change);
	set_own_policy(NULL);
	shared_free(s);
}

struct asking {
	struct mm_struct *mm;
	bool has_policy;
	bool done;
};

static int ask_process(void *data)
{
	struct asking *a = data;
	nodemask_t nodes = node_states[N_MEMORY];

	pghot_process_allows(a->mm, a->has_policy, 0, &nodes);
	WRITE_ONCE(a->done, true);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* Is the process asked, from another CPU, while this thread's lock is held? */
static bool asked_meanwhile(struct kunit *test, struct asking *a)
{
	struct task_struct *thread;
	unsigned int cpu, ms = 10000;
	bool done;

	migrate_disable();
	cpu = cpumask_any_but(cpu_online_mask, smp_processor_id());
	a->done = false;
	thread = kthread_create_on_cpu(ask_process, a, cpu, "pghot_ask/%u");
	KUNIT_EXPECT_FALSE(test, IS_ERR(thread));
	if (IS_ERR(thread)) {
		migrate_enable();
		return false;
	}
	task_lock(current);
	wake_up_process(thread);
	do {
		mdelay(1);
		done = READ_ONCE(a->done);
	} while (!done && --ms);
	task_unlock(current);
	migrate_enable();
	kthread_stop(thread);
	return done;
}

/* Each of its threads asks at each hint fault, with a page table lock held. */
static void asking_takes_no_lock(struct kunit *test)
{
	struct shared *s = shared_new(test);
	struct asking a = { };

	KUNIT_EXPECT_EQ(test, shared_by(s, 1), 1);
	a.mm = s->mm[0];
	KUNIT_EXPECT_GT(test, num_online_cpus(), 1);
	if (num_online_cpus() > 1) {
		KUNIT_EXPECT_TRUE(test, asked_meanwhile(test, &a));
		a.has_policy = true;
		KUNIT_EXPECT_TRUE(test, asked_meanwhile(test, &a));
	}
	shared_free(s);
}

/* The policy is the file's, mapped or not. */
static void file_forbids(struct kunit *test)
{
	struct shared *s = shared_new(test);
	struct mempolicy pol = {
		.mode = MPOL_BIND, .nodes = nodemask_of_node(folio_nid(s->folio)),
	};
	struct vm_area_struct *vma;
	nodemask_t nodes;

	KUNIT_EXPECT_EQ(test, shared_by(s, 1), 1);
	mmap_write_lock(s->mm[0]);
	vma = find_vma(s->mm[0], 0);
	KUNIT_EXPECT_EQ(test, vma->vm_ops->set_policy(vma, &pol), 0);
	mmap_write_unlock(s->mm[0]);
	KUNIT_EXPECT_TRUE(test, pghot_owners_allow(s->folio, &nodes));
	KUNIT_EXPECT_TRUE(test, nodes_empty(nodes));

	mmput(s->mm[--s->nr]);
	KUNIT_EXPECT_FALSE(test, folio_mapped(s->folio));
	KUNIT_EXPECT_TRUE(test, pghot_owners_allow(s->folio, &nodes));
	KUNIT_EXPECT_TRUE(test, nodes_empty(nodes));
	shared_free(s);
}

static void locks_are_not_waited_for(struct kunit *test)
{
	struct shared *s = shared_new(test);
	nodemask_t nodes;

	KUNIT_EXPECT_EQ(test, shared_by(s, 1), 1);
	folio_lock(s->folio);
	KUNIT_EXPECT_FALSE(test, pghot_owners_allow(s->folio, &nodes));
	folio_unlock(s->folio);
	i_mmap_lock_write(s->file->f_mapping);
	KUNIT_EXPECT_FALSE(test, pghot_owners_allow(s->folio, &nodes));
	i_mmap_unlock_write(s->file->f_mapping);
	KUNIT_EXPECT_TRUE(test, pghot_owners_allow(s->folio, &nodes));
	shared_free(s);
}

static void too_many_owners_forbid(struct kunit *test)
{
	struct shared *s = shared_new(test);
	nodemask_t nodes;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, shared_by(s, 1), 1);
	kthread_use_mm(s->mm[0]);
	for (i = 1; i < PGHOT_OWNERS_MAX; i++)
		if (IS_ERR_VALUE(shared_map(s->file)))
			break;
	KUNIT_EXPECT_EQ(test, i, PGHOT_OWNERS_MAX);
	KUNIT_EXPECT_TRUE(test, pghot_owners_allow(s->folio, &nodes));
	KUNIT_EXPECT_FALSE(test, nodes_empty(nodes));
	KUNIT_EXPECT_FALSE(test, IS_ERR_VALUE(shared_map(s->file)));
	KUNIT_EXPECT_TRUE(test, pghot_owners_allow(s->folio, &nodes));
	KUNIT_EXPECT_TRUE(test, nodes_empty(nodes));
	kthread_unuse_mm(s->mm[0]);
	shared_free(s);
}

static u64 look_ns(struct kunit *test, struct shared *s)
{
	const unsigned int looks = 2000;
	nodemask_t nodes;
	unsigned int i;
	u64 start = ktime_get_ns();

	for (i = 0; i < looks; i++)
		KUNIT_EXPECT_TRUE(test, pghot_owners_allow(s->folio, &nodes));
	return (ktime_get_ns() - start) / looks;
}

/* What looking costs; nothing to fail by. */
static void cost_of_looking(struct kunit *test)
{
	struct shared *s = shared_new(test);

	kunit_info(test, "mapped by nobody: %llu ns per look\n", look_ns(test, s));
	KUNIT_EXPECT_EQ(test, shared_by(s, 1), 1);
	kunit_info(test, "mapped by 1 process: %llu ns per look\n", look_ns(test, s));
	KUNIT_EXPECT_EQ(test, shared_by(s, PROCESSES - 1), PROCESSES - 1);
	kunit_info(test, "mapped by %u processes: %llu ns per look\n", PROCESSES,
		   look_ns(test, s));
	shared_free(s);
}

static struct kunit_case owners_cases[] = {
	KUNIT_CASE_PARAM(policy_allows, modes_gen_params),
	KUNIT_CASE(nobody_forbids),
	KUNIT_CASE(process_forbids),
	KUNIT_CASE(asking_takes_no_lock),
	KUNIT_CASE(file_forbids),
	KUNIT_CASE(locks_are_not_waited_for),
	KUNIT_CASE_SLOW(too_many_owners_forbid),
	KUNIT_CASE_SLOW(cost_of_looking),
	{}
};

static struct kunit_suite owners_suite = {
	.name = "pghot_owners",
	.test_cases = owners_cases,
};

kunit_test_suite(owners_suite);
