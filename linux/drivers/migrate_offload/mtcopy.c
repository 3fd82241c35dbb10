// SPDX-License-Identifier: GPL-2.0
/*
 * A copy engine of CPUs: threads near the target copy parts of a job, and so does the
 * one who waits for it.
 *
 * Off at first, for the CPUs are somebody's. It gives way: a thread whose CPU somebody
 * else wants leaves the rest to the others, and whoever waits for the job never waits for
 * a thread that has not begun.
 */
#define pr_fmt(fmt) "mtcopy: " fmt

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/highmem.h>
#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/migrate_copy.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/nodemask.h>
#include <linux/numa.h>
#include <linux/preempt.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

/* Pages that a thread takes at a time: 32 KiB, some microseconds. */
#define PART_PAGES	8U
#define THREADS_MAX	16U
/* So many may be asked to help and not have come yet. */
#define ASKED_MAX	(4 * THREADS_MAX)

static unsigned int threads = 4;

static int threads_set(const char *text, const struct kernel_param *kp)
{
	return param_set_uint_minmax(text, kp, 1, THREADS_MAX);
}

static const struct kernel_param_ops threads_ops = {
	.set = threads_set,
	.get = param_get_uint,
};

/* Threads for a job beside the one that waits, from 1 to THREADS_MAX. */
module_param_cb(threads, &threads_ops, &threads, 0644);

struct mt_thread {
	struct work_struct work;
	struct mt_job *own;
};

/**
 * struct mt_job - a job, in parts
 * @refs: one of its migration, one of each thread that has not ended
 * @job: what to copy; not looked at by whoever got no part
 * @pages: in all of it
 * @next: first page that nobody has taken
 * @left: pages that are not there
 * @bad: folios that could not be read
 * @done: all pages are there
 * @threads: how many were asked to help
 * @thread: these
 *
 * A thread may get its turn long after the job has ended, and finds nothing left.
 */
struct mt_job {
	refcount_t refs;
	struct migrate_copy_job *job;
	unsigned int pages;
	atomic_t next, left;
	DECLARE_BITMAP(bad, MIGRATE_COPY_FOLIOS_MAX);
	struct completion done;
	unsigned int threads;
	struct mt_thread thread[] __counted_by(threads);
};

static struct workqueue_struct *copiers;
static atomic_t asked;

static void mt_put(struct mt_job *own)
{
	if (refcount_dec_and_test(&own->refs))
		kfree(own);
}

static void copy_page_of(struct mt_job *own, unsigned int page)
{
	const struct migrate_copy_job *job = own->job;
	unsigned int nth = page >> job->order;
	unsigned int at = page - (nth << job->order);

	if (copy_mc_highpage(folio_page(job->pair[nth].dst, at),
			     folio_page(job->pair[nth].src, at)))
		set_bit(nth, own->bad);
}

/* Take a part and copy it; false if there is none. */
static bool copy_part(struct mt_job *own)
{
	unsigned int page = atomic_fetch_add(PART_PAGES, &own->next);
	unsigned int end = min(page + PART_PAGES, own->pages);
	unsigned int nr = end - page;

	if (page >= own->pages)
		return false;
	for (; page < end; page++)
		copy_page_of(own, page);
	/* All that was written comes before it. */
	if (!atomic_sub_return(nr, &own->left)) {
		own->job->done_ns = ktime_get_ns();
		complete(&own->done);
	}
	return true;
}

static void mt_work(struct work_struct *work)
{
	struct mt_job *own = container_of(work, struct mt_thread, work)->own;
	bool more;

	atomic_dec(&asked);
	/*
	 * Who waits for a part that was begun has folios unmapped, and cannot take it over: it
	 * is copied to the end first, some microseconds, whoever wants the CPU.
	 */
	do {
		guard(preempt)();
		more = !need_resched() && !cpu_is_contended() && copy_part(own);
	} while (more);
	mt_put(own);
}

/*
 * Whose CPUs copy. For a node without any queue_work_node() takes those of whoever migrates.
 * Of those that are as near to it the source's have what they read at hand.
 */
static int mt_near(const struct migrate_copy_job *job)
{
	int near = numa_nearest_node(job->to, N_CPU);

	if (node_state(job->from, N_CPU) &&
	    node_distance(job->from, job->to) <= node_distance(near, job->to))
		near = job->from;
	return near;
}

static int mtcopy_start(struct migrate_copy_engine *engine,
			struct migrate_copy_job *job)
{
	unsigned int pages = job->nr << job->order, i;
	unsigned int nr = min(READ_ONCE(threads), DIV_ROUND_UP(pages, PART_PAGES) - 1);
	struct mt_job *own;
	int near;

	/* What one can do the CPU does as well. */
	if (!nr || atomic_read(&asked) >= ASKED_MAX)
		return -EBUSY;
	own = kmalloc_flex(*own, thread, nr, MIGRATE_COPY_GFP);
	if (!own)
		return -EBUSY;
	own->threads = nr;
	own->job = job;
	own->pages = pages;
	refcount_set(&own->refs, nr + 1);
	atomic_set(&own->next, 0);
	atomic_set(&own->left, pages);
	bitmap_zero(own->bad, MIGRATE_COPY_FOLIOS_MAX);
	init_completion(&own->done);
	job->private = own;
	near = mt_near(job);
	for (i = 0; i < nr; i++) {
		INIT_WORK(&own->thread[i].work, mt_work);
		own->thread[i].own = own;
		atomic_inc(&asked);
		queue_work_node(near, copiers, &own->thread[i].work);
	}
	return 0;
}

static void mtcopy_finish(struct migrate_copy_engine *engine,
			  struct migrate_copy_job *job)
{
	struct mt_job *own = job->private;

	while (copy_part(own))
		cond_resched();
	wait_for_completion(&own->done);
	bitmap_complement(job->copied, own->bad, job->nr);
	mt_put(own);
}

static const struct migrate_copy_ops mtcopy_ops = {
	.start = mtcopy_start,
	.finish = mtcopy_finish,
};

static struct migrate_copy_engine mtcopy_engine = {
	.name = "mtcopy",
	.ops = &mtcopy_ops,
	.reasons = MIGRATE_COPY_ANY,
	.max_order = MAX_PAGE_ORDER,
	.use = MIGRATE_COPY_OFF,
};

static int __init mtcopy_init(void)
{
	int err;

	copiers = alloc_workqueue("mtcopy", WQ_UNBOUND | WQ_SYSFS, THREADS_MAX);
	if (!copiers)
		return -ENOMEM;
	err = migrate_copy_register(&mtcopy_engine);
	if (err)
		destroy_workqueue(copiers);
	return err;
}
device_initcall(mtcopy_init);
