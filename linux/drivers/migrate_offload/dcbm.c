// SPDX-License-Identifier: GPL-2.0
/*
 * A copy engine of DMA channels: those of a DMA engine that can copy memory, that says
 * when it failed to, and that nobody else uses. It is there while its parameter channels
 * is not 0.
 *
 * A channel is never stopped while it may still write. Where one takes much too long
 * nothing more is given to any. Whoever waits for it waits no more, as a driver may forget
 * to call back, as idxd does when its device halts: nothing was copied then, and where the
 * channel may write is kept from all others until it says that it is done. Channels stay as
 * they are as long.
 */
#define pr_fmt(fmt) "dcbm: " fmt

#include <linux/atomic.h>
#include <linux/bottom_half.h>
#include <linux/dmaengine.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/migrate_copy.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "dcbm.h"

#define LATE_S		10
/* Of when it takes too long; tests have less patience. */
static unsigned long late_jiffies = LATE_S * HZ;
/* A channel is asked for no less: what it takes to tell it, and to hear of it. */
#define SHARE_MIN	(128UL << 10)

/* Serialises changes of channels, which are none while the engine is registered. */
static DEFINE_MUTEX(channels_lock);
/* A channel is so late that nothing more is to be given to any. */
static bool retired;
/* Jobs that began and did not end, and that none is to begin: channels are to change. */
static atomic_t jobs_begun;
static bool stopping;

void dcbm_copy_ended(void *data, const struct dmaengine_result *result)
{
	struct dcbm_copy *copy = data;
	struct dcbm_job *own = copy->own;

	/* There is a result: it is DMA_TRANS_NOERROR where a driver has none to give. */
	copy->ok = result->result == DMA_TRANS_NOERROR;
	if (atomic_sub_return(1, &own->left))
		return;
	if (atomic_cmpxchg(&own->state, DCBM_AWAITED, DCBM_ENDED) == DCBM_AWAITED) {
		own->job->done_ns = ktime_get_ns();
		complete(&own->done);
	} else {
		queue_work(system_dfl_wq, &own->late);
	}
}

/* Whoever waits until there are none, or no hope for that. */
static void jobs_wake(void)
{
	wake_up_var(&jobs_begun);
}

static void job_end(void)
{
	if (atomic_dec_and_test(&jobs_begun))
		jobs_wake();
}

static bool job_begin(void)
{
	atomic_inc(&jobs_begun);
	/* Either this sees that it stops, or jobs_stop() sees the job. */
	smp_mb__after_atomic();
	if (!READ_ONCE(stopping))
		return true;
	job_end();
	return false;
}

/*
 * Have no job begin until jobs_go_on(), and wait for those that did, but not for one that
 * is known to be late, and no longer than it takes to know; return false if there are some.
 */
static bool jobs_stop(void)
{
	WRITE_ONCE(stopping, true);
	/* See job_begin(). */
	smp_mb();
	wait_var_event_timeout(&jobs_begun,
			       !atomic_read(&jobs_begun) || READ_ONCE(retired),
			       late_jiffies);
	return !atomic_read(&jobs_begun);
}

static void jobs_go_on(void)
{
	WRITE_ONCE(stopping, false);
}

/*
 * Nothing tells of what is silent until somebody asks. plx_dma takes a lock for that which
 * its tasklet takes, and leaves it to the caller to keep that one away.
 */
static void job_ask(const struct dcbm_job *own)
{
	unsigned int n;

	local_bh_disable();
	for (n = 0; n < own->nr; n++) {
		const struct dcbm_copy *copy = &own->copy[n];

		if (test_bit(copy->channel, &own->silent))
			dmaengine_tx_status(dcbm_channels[copy->channel].chan,
					    copy->cookie, NULL);
	}
	local_bh_enable();
}

/* All channels are done with it. Here the last bytes may be written where they go. */
static void job_unmap(const struct dcbm_job *own)
{
	unsigned int n;

	for (n = 0; n < own->nr; n++)
		dcbm_unmap(&own->copy[n]);
}

static void job_free(struct dcbm_job *own)
{
	unsigned int n;

	for_each_set_bit(n, &own->channel, DCBM_CHANNELS_MAX)
		atomic_dec(&dcbm_channels[n].jobs);
	kfree(own);
	/* From here on channels may go. */
	job_end();
}

static void job_put_kept(const struct dcbm_job *own)
{
	unsigned int n;

	for (n = 0; n < own->nr_kept; n++) {
		folio_put(own->kept[n].src);
		folio_put(own->kept[n].dst);
	}
}

/* Until it has ended; then job_late() cancels this. */
static void job_ask_late(struct work_struct *work)
{
	struct dcbm_job *own = container_of(work, struct dcbm_job, ask.work);

	job_ask(own);
	queue_delayed_work(system_dfl_wq, &own->ask, late_jiffies / LATE_S);
}

static void job_late(struct work_struct *work)
{
	struct dcbm_job *own = container_of(work, struct dcbm_job, late);

	cancel_delayed_work_sync(&own->ask);
	job_unmap(own);
	job_put_kept(own);
	job_free(own);
}

/*
 * Nobody waits for a job any more: it copied nothing. Where its folios were to go a channel
 * may still write, so that these references keep all others from there: that on a destination
 * has it not be freed, and that on its source has the CPU not copy it there, as whoever
 * migrates a folio does not move one that somebody else has. False: it has just ended.
 */
static bool job_leave(struct dcbm_job *own)
{
	struct migrate_copy_job *job = own->job;

	for (own->nr_kept = 0; own->nr_kept < job->nr; own->nr_kept++) {
		own->kept[own->nr_kept] = job->pair[own->nr_kept];
		folio_get(job->pair[own->nr_kept].src);
		folio_get(job->pair[own->nr_kept].dst);
	}
	/* Before it is left: job_late() is to find it. */
	if (own->silent)
		queue_delayed_work(system_dfl_wq, &own->ask, late_jiffies / LATE_S);
	if (atomic_cmpxchg(&own->state, DCBM_AWAITED, DCBM_LEFT) == DCBM_AWAITED) {
		bitmap_zero(job->copied, job->nr);
		return true;
	}
	cancel_delayed_work_sync(&own->ask);
	job_put_kept(own);
	return false;
}

/* Give a job to channels. */
static int job_give(struct migrate_copy_job *job)
{
	size_t total = job->nr * (PAGE_SIZE << job->order), share;
	unsigned int taken[DCBM_CHANNELS_MAX], nr, n, pieces;
	struct dcbm_job *own;

	/* None is smaller than a folio but where a share or what a channel takes ends. */
	pieces = job->nr + DCBM_CHANNELS_MAX + total / dcbm_piece_least;
	own = kmalloc(struct_size(own, copy, pieces) + job->nr * sizeof(*own->kept),
		      MIGRATE_COPY_GFP);
	if (!own)
		return -EBUSY;
	nr = dcbm_take(taken, clamp(total / SHARE_MIN, 1, DCBM_CHANNELS_MAX), job->to,
		       job->from);
	if (!nr) {
		kfree(own);
		return -EBUSY;
	}
	memset(own, 0, offsetof(struct dcbm_job, copy));
	own->job = job;
	own->began = jiffies;
	own->kept = (void *)&own->copy[pieces];
	INIT_DELAYED_WORK(&own->ask, job_ask_late);
	INIT_WORK(&own->late, job_late);
	atomic_set(&own->left, 1);
	init_completion(&own->done);
	job->private = own;
	share = PAGE_ALIGN(DIV_ROUND_UP(total, nr));
	for (n = 0; n < nr; n++) {
		dcbm_give(own, taken[n], min(n * share, total),
			  min((n + 1) * share, total));
		if (test_bit(taken[n], &own->channel))
			dma_async_issue_pending(dcbm_channels[taken[n]].chan);
		else
			atomic_dec(&dcbm_channels[taken[n]].jobs);
	}
	if (!atomic_sub_return(1, &own->left)) {
		job->done_ns = ktime_get_ns();
		atomic_set(&own->state, DCBM_ENDED);
		complete(&own->done);
	}
	return 0;
}

static int dcbm_start(struct migrate_copy_engine *engine,
		      struct migrate_copy_job *job)
{
	int err;

	if (READ_ONCE(retired))
		return -EIO;
	if (!job_begin())
		return -EBUSY;
	err = job_give(job);
	if (err)
		job_end();
	return err;
}

/*
 * Wait for a job as long as it is not late; false: it is. That counts from when it was given:
 * whoever had two given to a channel that hangs does not wait for one after the other. But a
 * tenth of it at least, as whoever waits may have had no CPU for as long.
 */
static bool job_wait(struct dcbm_job *own)
{
	unsigned long now = jiffies, late = own->began + late_jiffies;

	if (time_before(late, now + late_jiffies / 10))
		late = now + late_jiffies / 10;

	/* Where a channel did not take the last piece, which is the one that interrupts. */
	while (own->silent) {
		job_ask(own);
		if (wait_for_completion_timeout(&own->done, 1))
			return true;
		if (time_after(jiffies, late))
			return false;
	}
	now = jiffies;
	return wait_for_completion_timeout(&own->done, time_before(now, late) ? late - now : 1);
}

static void retire(const struct migrate_copy_job *job)
{
	if (!xchg(&retired, true))
		pr_err("a channel is late by %d s: no more is given to any, and up to %u KiB stay in use until it is done\n",
		       LATE_S, (unsigned int)((job->nr << job->order) * (PAGE_SIZE >> 10)));
	jobs_wake();
}

static void dcbm_finish(struct migrate_copy_engine *engine,
			struct migrate_copy_job *job)
{
	struct dcbm_job *own = job->private;
	unsigned int n;

	if (!job_wait(own)) {
		if (job_leave(own)) {
			retire(job);
			return;
		}
		/* It has just ended: the machine may have stood still. */
		wait_for_completion(&own->done);
	}
	for (n = 0; n < own->nr; n++) {
		const struct dcbm_copy *copy = &own->copy[n];

		if (!copy->ok)
			bitmap_set(own->bad, copy->first,
				   copy->last - copy->first + 1);
	}
	bitmap_complement(job->copied, own->bad, job->nr);
	job_unmap(own);
	job_free(own);
}

static const struct migrate_copy_ops dcbm_ops = {
	.start = dcbm_start,
	.finish = dcbm_finish,
};

static struct migrate_copy_engine dcbm_engine = {
	.name = "dcbm",
	.ops = &dcbm_ops,
	.reasons = MIGRATE_COPY_ANY,
	.max_order = MAX_PAGE_ORDER,
	.use = MIGRATE_COPY_ON,
};

/*
 * Whoever sets a parameter keeps all others from theirs: this takes no longer than
 * jobs_stop() does, for all that unregistering waits for has been seen to end.
 */
static int set_channels(unsigned int wanted)
{
	int err;

	lockdep_assert_held(&channels_lock);
	if (dcbm_nr_channels) {
		if (!jobs_stop()) {
			jobs_go_on();
			return -EBUSY;
		}
		migrate_copy_unregister(&dcbm_engine);
		dcbm_release();
		jobs_go_on();
	}
	WRITE_ONCE(retired, false);
	if (!wanted)
		return 0;
	err = dcbm_request(wanted);
	if (!err)
		err = migrate_copy_register(&dcbm_engine);
	if (err)
		dcbm_release();
	else if (dcbm_nr_channels < wanted)
		pr_notice("%u of %u channels\n", dcbm_nr_channels, wanted);
	return err;
}

static int channels_set(const char *text, const struct kernel_param *kp)
{
	unsigned int wanted;
	int err = kstrtouint(text, 0, &wanted);

	if (err || wanted > DCBM_CHANNELS_MAX)
		return -EINVAL;
	/* On the command line it comes before there are any: see dcbm_init(). */
	if (system_state < SYSTEM_RUNNING)
		return param_set_uint(text, kp);
	mutex_lock(&channels_lock);
	err = set_channels(wanted);
	mutex_unlock(&channels_lock);
	return err;
}

static unsigned int at_boot;

static int channels_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%u\n", READ_ONCE(dcbm_nr_channels));
}

static const struct kernel_param_ops channels_ops = {
	.set = channels_set,
	.get = channels_get,
};

/* DMA channels to use, up to DCBM_CHANNELS_MAX; 0: the engine is not there. */
module_param_cb(channels, &channels_ops, &at_boot, 0644);

/* After drivers of DMA engines. */
static int __init dcbm_init(void)
{
	int err = 0;

	mutex_lock(&channels_lock);
	if (at_boot)
		err = set_channels(at_boot);
	mutex_unlock(&channels_lock);
	return err;
}
late_initcall(dcbm_init);

#ifdef CONFIG_MIGRATE_OFFLOAD_KUNIT_TEST
#include "dcbm_kunit.c"
#endif
