// SPDX-License-Identifier: GPL-2.0
/*
 * Time and threads of the made-up machine. Each kernel thread is one of the
 * host's; a baton goes round, so that one runs at a time and in the same order.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include <linux/kthread.h>
#include <linux/workqueue.h>

#include "unit.h"
#include "machine.h"

unsigned long jiffies;
void (*machine_work)(void);
void (*machine_meanwhile)(void);

int machine_thread_node;
int machine_cpu_node[4] = { 0, 0, 1, 1 };

struct task_struct *current;
static struct task_struct tasks[NODES];
static __thread struct task_struct *self;
static sem_t back;

static void *task_main(void *arg)
{
	self = arg;
	harness_thread_enter();
	sem_wait(&self->turn);
	self->fn(self->data);
	self->running = false;
	harness_thread_leave();
	sem_post(&back);
	return NULL;
}

/* From a thread: the others' turn, until the next tick. */
void machine_tick(void)
{
	sem_post(&back);
	sem_wait(&self->turn);
}

void machine_sleep(unsigned int ticks)
{
	while (ticks--)
		machine_tick();
}

static void give_turn(struct task_struct *task)
{
	if (!task->running)
		return;
	sem_post(&task->turn);
	sem_wait(&back);
}

/* One runs at a time: on one CPU the baton is handed on ten times as fast. */
static void stay_on_cpu(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
}

struct task_struct *kthread_create_on_node(int (*fn)(void *data), void *data,
					   int node, const char *fmt, ...)
{
	struct task_struct *task = tasks;

	if (harness_no_memory())
		return ERR_PTR(-ENOMEM);
	machine_thread_node = node;
	stay_on_cpu();
	while (task->used)
		task++;
	*task = (struct task_struct) { .fn = fn, .data = data, .used = true };
	sem_init(&task->turn, 0, 0);
	sem_init(&back, 0, 0);
	return task;
}

void wake_up_process(struct task_struct *task)
{
	task->running = true;
	pthread_create(&task->thread, NULL, task_main, task);
}

void kthread_stop(struct task_struct *task)
{
	task->stop = true;
	kthread_unpark(task);
	while (task->running)
		give_turn(task);
	pthread_join(task->thread, NULL);
	task->used = false;
}

bool kthread_should_stop(void)
{
	return self->stop;
}

void kthread_park(struct task_struct *task)
{
	task->park = true;
	while (!task->parked)
		give_turn(task);
}

void kthread_unpark(struct task_struct *task)
{
	task->park = false;
}

bool kthread_should_park(void)
{
	return self->park;
}

void kthread_parkme(void)
{
	self->parked = true;
	while (self->park)
		machine_tick();
	self->parked = false;
}

unsigned int machine_awake(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < NODES; i++)
		n += tasks[i].used && !tasks[i].park;
	return n;
}

static struct delayed_work *delayed;

bool machine_delay_work(struct delayed_work *work, unsigned long ticks)
{
	if (work->pending)
		return false;
	work->pending = true;
	work->due = jiffies + ticks;
	work->next = delayed;
	delayed = work;
	return true;
}

void machine_forget_work(void)
{
	for (; delayed; delayed = delayed->next)
		delayed->pending = false;
}

/*
 * Those that are due, which may come again. Where a thread waits with folios that it
 * has isolated nobody may take memory hotplug here: they are put off.
 */
static void do_delayed(void)
{
	struct delayed_work **link = &delayed, *work;

	if (machine_isolated)
		return;
	while ((work = *link)) {
		if ((long)(jiffies - work->due) < 0) {
			link = &work->next;
			continue;
		}
		*link = work->next;
		work->pending = false;
		work->work.func(&work->work);
		link = &delayed;
	}
}

void machine_run(unsigned int ms)
{
	unsigned int i;

	while (ms--) {
		jiffies++;
		if (machine_work)
			machine_work();
		do_delayed();
		for (i = 0; i < NODES; i++)
			give_turn(&tasks[i]);
	}
}
