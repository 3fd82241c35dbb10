// SPDX-License-Identifier: GPL-2.0
/*
 * A copy engine that goes wrong when it is told to, for tests. It copies in a work item
 * of its own, so that what it does comes later and elsewhere, as with a device.
 *
 * debugfs migrate_offload_test/: mode says what goes wrong, present whether it is there
 * at all, jobs how many it was given. It is used always, however slow it is.
 */
#define pr_fmt(fmt) "migrate_offload_test: " fmt

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/highmem.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/migrate_copy.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

enum test_mode {
	TEST_OK,	/* copies all */
	TEST_BUSY,	/* has no room */
	TEST_REFUSE,	/* does not begin */
	TEST_FAIL,	/* begins, and copies nothing */
	TEST_PARTIAL,	/* copies each second folio, and half of each other one */
	TEST_SLOW,	/* is late by some milliseconds */
	TEST_REVERSE,	/* the last folio first, and a job after the next one */
	TEST_CORRUPT,	/* says that it copied, with a byte wrong */
};

static const char * const mode_names[] = {
	[TEST_OK] = "ok",
	[TEST_BUSY] = "busy",
	[TEST_REFUSE] = "refuse",
	[TEST_FAIL] = "fail",
	[TEST_PARTIAL] = "partial",
	[TEST_SLOW] = "slow",
	[TEST_REVERSE] = "reverse",
	[TEST_CORRUPT] = "corrupt",
};

#define SLOW_MS	5

/**
 * struct test_job - a job, to be done
 * @work: does it
 * @job: what to copy
 * @mode: what is to go wrong
 * @done: it is
 */
struct test_job {
	struct delayed_work work;
	struct migrate_copy_job *job;
	enum test_mode mode;
	struct completion done;
};

/* Serialises coming and going. */
static DEFINE_MUTEX(present_lock);
static bool present;
static enum test_mode test_mode;
static atomic_t test_jobs;
static struct workqueue_struct *copier;

static void copy_half(struct migrate_copy_pair *pair)
{
	memcpy_page(folio_page(pair->dst, 0), 0, folio_page(pair->src, 0), 0,
		    PAGE_SIZE / 2);
}

static void corrupt(struct folio *folio)
{
	unsigned char *at = kmap_local_folio(folio, PAGE_SIZE / 2);

	*at ^= 1;
	kunmap_local(at);
}

static void test_copy(struct test_job *own, unsigned int i)
{
	struct migrate_copy_job *job = own->job;
	struct migrate_copy_pair *pair = &job->pair[i];

	if (own->mode == TEST_FAIL)
		return;
	if (own->mode == TEST_PARTIAL && i % 2) {
		copy_half(pair);
		return;
	}
	if (folio_mc_copy(pair->dst, pair->src))
		return;
	if (own->mode == TEST_CORRUPT)
		corrupt(pair->dst);
	__set_bit(i, job->copied);
}

static void test_work(struct work_struct *work)
{
	struct test_job *own = container_of(to_delayed_work(work),
					    struct test_job, work);
	struct migrate_copy_job *job = own->job;
	unsigned int i;

	for (i = 0; i < job->nr; i++)
		test_copy(own, own->mode == TEST_REVERSE ? job->nr - 1 - i : i);
	job->done_ns = ktime_get_ns();
	complete(&own->done);
}

static int test_start(struct migrate_copy_engine *engine,
		      struct migrate_copy_job *job)
{
	enum test_mode mode = READ_ONCE(test_mode);
	int nth = atomic_inc_return(&test_jobs);
	struct test_job *own;
	unsigned long delay = 0;

	if (mode == TEST_BUSY)
		return -EBUSY;
	if (mode == TEST_REFUSE)
		return -EIO;
	own = kmalloc_obj(*own, MIGRATE_COPY_GFP);
	if (!own)
		return -EBUSY;
	own->job = job;
	own->mode = mode;
	init_completion(&own->done);
	INIT_DELAYED_WORK(&own->work, test_work);
	job->private = own;
	if (mode == TEST_SLOW || (mode == TEST_REVERSE && nth % 2))
		delay = msecs_to_jiffies(SLOW_MS);
	queue_delayed_work(copier, &own->work, delay);
	return 0;
}

static void test_finish(struct migrate_copy_engine *engine,
			struct migrate_copy_job *job)
{
	struct test_job *own = job->private;

	wait_for_completion(&own->done);
	kfree(own);
}

static const struct migrate_copy_ops test_ops = {
	.start = test_start,
	.finish = test_finish,
};

static struct migrate_copy_engine test_engine = {
	.name = "test",
	.ops = &test_ops,
	.reasons = MIGRATE_COPY_ANY,
	.max_order = MAX_PAGE_ORDER,
	.use = MIGRATE_COPY_ALWAYS,
};

/* --- debugfs --------------------------------------------------------------- */

static int mode_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "%s\n", mode_names[READ_ONCE(test_mode)]);
	return 0;
}

static ssize_t mode_write(struct file *file, const char __user *from,
			  size_t count, loff_t *pos)
{
	char text[16];
	int mode;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, count))
		return -EFAULT;
	text[count] = '\0';
	mode = sysfs_match_string(mode_names, text);
	if (mode < 0)
		return mode;
	WRITE_ONCE(test_mode, mode);
	return count;
}

static int mode_open(struct inode *inode, struct file *file)
{
	return single_open(file, mode_show, NULL);
}

static const struct file_operations mode_fops = {
	.owner = THIS_MODULE,
	.open = mode_open,
	.read = seq_read,
	.write = mode_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int present_get(void *data, u64 *value)
{
	*value = READ_ONCE(present);
	return 0;
}

static int present_set(void *data, u64 value)
{
	int err = 0;

	if (value > 1)
		return -EINVAL;
	mutex_lock(&present_lock);
	if (value && !present)
		err = migrate_copy_register(&test_engine);
	else if (!value && present)
		migrate_copy_unregister(&test_engine);
	if (!err)
		WRITE_ONCE(present, value);
	mutex_unlock(&present_lock);
	return err;
}

DEFINE_DEBUGFS_ATTRIBUTE(present_fops, present_get, present_set, "%llu\n");

static int __init test_engine_init(void)
{
	struct dentry *dir;

	/* Who migrates to free memory waits for it. */
	copier = alloc_workqueue("migrate_offload_test",
				 WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!copier)
		return -ENOMEM;
	dir = debugfs_create_dir("migrate_offload_test", NULL);
	debugfs_create_file("mode", 0600, dir, NULL, &mode_fops);
	debugfs_create_file_unsafe("present", 0600, dir, NULL, &present_fops);
	debugfs_create_atomic_t("jobs", 0400, dir, &test_jobs);
	return 0;
}
device_initcall(test_engine_init);
