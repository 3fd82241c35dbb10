/* SPDX-License-Identifier: GPL-2.0 */
/* A process whose threads fault on pages of node 2, and what its faults ask for. */
#ifndef PGHOT_UNIT_HINT_FAULT_H
#define PGHOT_UNIT_HINT_FAULT_H

#include "unit.h"
#include "machine.h"

#include <linux/array_size.h>
#include <linux/cpuset.h>
#include <linux/mempolicy.h>
#include <linux/pghot.h>
#include <linux/sched.h>

#include "knob.h"
#include "fault_yield.h"

/* Pages that faults tell of together. */
#define AREA	BIT(PGHOT_YIELD_ORDER)
#define ALL	((nodemask_t) { { ~0UL } })

nodemask_t machine_mems_allowed;
struct mempolicy machine_task_policy;

static struct mm_struct process;
static struct vm_area_struct vma = { .vm_mm = &process };

/* Of the process; and one of the kernel's. */
static struct task_struct first_thread;
static struct task_struct kernel_thread = { .flags = PF_KTHREAD };

/* Where it was told to look last, and how often it was told to. */
static unsigned long near_addr, near_told;

void pghot_near_fault(const struct mm_struct *mm, unsigned long addr, int nid)
{
	near_addr = addr;
	near_told++;
}

/* How often it looked at each page of a process that has them all mapped in turn. */
static unsigned int looked[NODE_PAGES], unmapped[NODE_PAGES];
static bool there_is_nothing;

/* As NUMA balancing does, of memory that the process has on node 2. */
unsigned long change_prot_numa(struct vm_area_struct *mapping, unsigned long start,
			       unsigned long end)
{
	unsigned long i, n = 0;

	if (there_is_nothing)
		return 0;
	for (i = start >> PAGE_SHIFT; i < end >> PAGE_SHIFT; i++) {
		bool is = __pghot_hint_wanted(machine_folio(2, i));

		looked[i]++;
		unmapped[i] += is;
		n += is;
	}
	return n;
}

/* Nobody reads the files of what it registers. */
static unsigned long accesses;
int machine_hint_fault_init(void);

int pghot_register_source(struct pghot_source *source)
{
	source->accesses = &accesses;
	return source->start(source);
}

ssize_t pghot_knob_show(struct kobject *kobj, struct kobj_attribute *attr,
			char *buf)
{
	return 0;
}

ssize_t pghot_knob_store(struct kobject *kobj, struct kobj_attribute *attr,
			 const char *buf, size_t count)
{
	return 0;
}

static void thread(struct task_struct *is)
{
	current = is;
}

/* Nobody forbids anything, and the thread is the first of its process. */
static void start(void)
{
	machine_start(false);
	assert_int_equal(machine_hint_fault_init(), 0);
	machine_mems_allowed = ALL;
	machine_task_policy = (struct mempolicy) {
		.mode = MPOL_PREFERRED, .flags = MPOL_F_MORON,
	};
	process = (struct mm_struct) {
		.owner = &first_thread, .cpuset = ALL, .policy = ALL,
	};
	thread(&first_thread);
}

/* On the @i-th page of node 2, so long after it was scanned. */
static int fault_after(unsigned long i, int nid, u32 ms, int *booked)
{
	struct vm_fault vmf = { .vma = &vma, .address = i << PAGE_SHIFT };
	struct folio *folio = machine_folio(2, i);

	folio->access_time = (jiffies_to_msecs(jiffies) - ms) & PAGE_ACCESS_TIME_MASK;
	*booked = folio_nid(folio);
	return __pghot_hint_fault(folio, &vmf, nid, booked);
}

static int fault(unsigned long i, int nid, int *booked)
{
	return fault_after(i, nid, 0, booked);
}

/* Where the fault is booked, which makes the page ready. */
static inline int booked_on(unsigned long i, int nid)
{
	unsigned long before = machine_stat("ready");
	int booked;

	assert_int_equal(fault(i, nid, &booked), NUMA_NO_NODE);
	assert_int_equal(machine_stat("ready"), before + 1);
	return booked;
}

#endif
