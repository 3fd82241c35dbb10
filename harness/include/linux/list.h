/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_LIST_H
#define _HARNESS_LINUX_LIST_H

#include <stdbool.h>
#include <stddef.h>

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

struct list_head {
	struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool list_empty(const struct list_head *list)
{
	return list->next == list;
}

static inline void list_add_tail(struct list_head *new, struct list_head *list)
{
	new->next = list;
	new->prev = list->prev;
	list->prev->next = new;
	list->prev = new;
}

#define LIST_HEAD(name)		struct list_head name = { &(name), &(name) }

#define list_for_each_entry(pos, head, member)				\
	for (pos = container_of((head)->next, __typeof__(*pos), member); \
	     &pos->member != (head);					\
	     pos = container_of(pos->member.next, __typeof__(*pos), member))

static inline void list_del(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
}

#endif
