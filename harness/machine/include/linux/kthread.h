/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_KTHREAD_H
#define _MACHINE_LINUX_KTHREAD_H

#include <pthread.h>
#include <semaphore.h>

#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/wait.h>

/* A kernel thread, or who accesses memory: of such there are flags alone. */
struct task_struct {
	unsigned int flags;
	int (*fn)(void *data);
	void *data;
	pthread_t thread;
	sem_t turn;
	bool used, running, stop, park, parked;
};

/* Who accesses memory, in tests of that. */
extern struct task_struct *current;

struct task_struct *kthread_create_on_node(int (*fn)(void *data), void *data,
					   int node, const char *fmt, ...);
bool kthread_should_stop(void);
bool kthread_should_park(void);
void wake_up_process(struct task_struct *thread);
void kthread_stop(struct task_struct *thread);
void kthread_park(struct task_struct *thread);
void kthread_unpark(struct task_struct *thread);
void kthread_parkme(void);
/* For so many ticks, which are milliseconds. */
void machine_sleep(unsigned int ticks);

/* Of the thread that was created last; and CPUs that there are, each one's node. */
extern int machine_thread_node;
extern int machine_cpu_node[4];

#define for_each_present_cpu(cpu) for ((cpu) = 0; (cpu) < 4; (cpu)++)
#define cpu_to_node(cpu)	machine_cpu_node[cpu]
#define kthread_func(task)	((task)->fn)
#define get_task_struct(thread)	(thread)
#define put_task_struct(thread)	do { } while (0)
#define PTR_ERR(ptr)		(-ENOMEM)
#define set_freezable()		do { } while (0)
#define try_to_freeze()		do { } while (0)
#define freezing(task)		false
#define usleep_range_idle(from, to) machine_sleep((from) / 1000)
#define task_pid_nr(thread)	((thread) != NULL)

#endif
