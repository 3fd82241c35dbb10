/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A page of memory that made-up processes share, and the processes; an entry of
 * their page tables that is being changed.
 */
#ifndef _MM_PGHOT_TESTS_SHARED_H
#define _MM_PGHOT_TESTS_SHARED_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/pagemap.h>
#include <linux/pgtable.h>
#include <linux/sched/mm.h>
#include <linux/shmem_fs.h>
#include <linux/uaccess.h>

#define PROCESSES	100

struct shared {
	struct file *file;
	struct folio *folio;
	struct mm_struct *mm[PROCESSES];
	unsigned int nr;
};

static inline unsigned long shared_map(struct file *file)
{
	return vm_mmap(file, 0, PAGE_SIZE, PROT_READ, MAP_SHARED, 0);
}

/* Have so many more processes map the page. Return how many do. */
static inline unsigned int shared_by(struct shared *s, unsigned int nr)
{
	unsigned int mapped = 0;

	for (nr += s->nr; s->nr < nr; s->nr++) {
		struct mm_struct *mm = mm_alloc();
		unsigned long addr;
		u32 word;

		if (!mm)
			break;
		s->mm[s->nr] = mm;
		mm->task_size = TASK_SIZE;
		arch_pick_mmap_layout(mm, &current->signal->rlim[RLIMIT_STACK]);
		kthread_use_mm(mm);
		addr = shared_map(s->file);
		if (!IS_ERR_VALUE(addr) && !get_user(word, (u32 __user *)addr))
			mapped++;
		kthread_unuse_mm(mm);
	}
	return mapped;
}

static inline struct shared *shared_new(struct kunit *test)
{
	struct shared *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->file = shmem_kernel_file_setup("pghot_test", PAGE_SIZE, EMPTY_VMA_FLAGS);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, s->file);
	s->folio = shmem_read_folio(s->file->f_mapping, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, s->folio);
	return s;
}

static inline void shared_free(struct shared *s)
{
	folio_put(s->folio);
	while (s->nr)
		mmput(s->mm[--s->nr]);
	fput(s->file);
}

struct shared_change {
	struct mm_struct *mm;
	bool begun;
	struct completion done;
};

static inline int shared_change_slowly(void *arg)
{
	struct shared_change *c = arg;
	struct vm_area_struct *vma;
	pte_t *ptep, pte;
	spinlock_t *ptl = NULL;

	mmap_read_lock(c->mm);
	vma = find_vma(c->mm, 0);
	ptep = get_locked_pte(c->mm, vma->vm_start, &ptl);
	if (ptep)
		pte = ptep_modify_prot_start(vma, vma->vm_start, ptep);
	WRITE_ONCE(c->begun, true);
	if (ptep) {
		mdelay(100);
		ptep_modify_prot_commit(vma, vma->vm_start, ptep, pte, pte);
		pte_unmap_unlock(ptep, ptl);
	}
	mmap_read_unlock(c->mm);
	complete(&c->done);
	return 0;
}

/*
 * Begin what mprotect() and the NUMA scanner do to the page's entry in a process,
 * on another CPU: it is empty until they are through, and locked.
 */
static inline void shared_change_begin(struct kunit *test,
				       struct shared_change *c,
				       struct mm_struct *mm)
{
	struct task_struct *task;
	unsigned int cpu;

	c->mm = mm;
	c->begun = false;
	init_completion(&c->done);
	task = kthread_create(shared_change_slowly, c, "pghot_change");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	if (cpu < nr_cpu_ids)
		kthread_bind(task, cpu);
	wake_up_process(task);
	while (!READ_ONCE(c->begun))
		cond_resched();
}

static inline void shared_change_end(struct shared_change *c)
{
	wait_for_completion(&c->done);
}

#endif /* _MM_PGHOT_TESTS_SHARED_H */
