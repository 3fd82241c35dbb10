/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_RCULIST_H
#define _MACHINE_LINUX_RCULIST_H

#include <linux/list.h>
#include <linux/rcupdate.h>

static inline void list_add_tail_rcu(struct list_head *new,
				     struct list_head *list)
{
	new->next = list;
	new->prev = list->prev;
	rcu_assign_pointer(list->prev->next, new);
	list->prev = new;
}

/* Who is there goes on from it. */
static inline void list_del_rcu(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	WRITE_ONCE(entry->prev->next, entry->next);
	entry->prev = NULL;
}

#define list_for_each_entry_rcu(pos, head, member)			\
	for (pos = container_of(rcu_dereference((head)->next),		\
				__typeof__(*pos), member);		\
	     &pos->member != (head);					\
	     pos = container_of(rcu_dereference(pos->member.next),	\
				__typeof__(*pos), member))

#endif
