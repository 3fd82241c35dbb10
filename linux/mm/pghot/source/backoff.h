/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which page tables are left out, because nothing of a lower tier was found in
 * them: for one pass, then for three at a time. No kernel state.
 *
 * What is known of them is in a table of fixed size, in the place that their hash
 * says. Two may have the same place: who is looked at last has it, and the other
 * one is looked at again. A tag tells them apart, but for one in 256.
 */
#ifndef _MM_PGHOT_SOURCE_BACKOFF_H
#define _MM_PGHOT_SOURCE_BACKOFF_H

#include <linux/minmax.h>
#include <linux/types.h>

/* Times that a table was found to hold nothing, as far as that is counted. */
#define PGHOT_BACKOFF_MOST	2U

/**
 * struct pghot_backoff - what is known of a page table
 * @tag: which one it is
 * @empty: times that it was found to hold nothing
 * @left: passes that leave it out from now on
 */
struct pghot_backoff {
	u8 tag;
	u8 empty : 4;
	u8 left : 4;
};

/**
 * pghot_backoff_skips - is a page table left out in this pass
 * @b: its place
 * @tag: which one it is
 *
 * Return: true if so.
 */
static inline bool pghot_backoff_skips(struct pghot_backoff *b, u8 tag)
{
	if (b->tag != tag || !b->left)
		return false;
	b->left--;
	return true;
}

/**
 * pghot_backoff_looked - a page table was looked at
 * @b: its place
 * @tag: which one it is
 * @some: it holds something
 *
 * One that holds something takes nobody's place.
 */
static inline void pghot_backoff_looked(struct pghot_backoff *b, u8 tag,
					bool some)
{
	unsigned int empty = b->tag == tag ? b->empty : 0;

	if (some) {
		if (b->tag == tag)
			*b = (struct pghot_backoff) {};
		return;
	}
	empty = min(empty + 1, PGHOT_BACKOFF_MOST);
	*b = (struct pghot_backoff) {
		.tag = tag,
		.empty = empty,
		.left = (1U << empty) - 1,
	};
}

#endif /* _MM_PGHOT_SOURCE_BACKOFF_H */
