/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which page tables are left out, because nothing of a lower tier was found in
 * them: for one pass, then for three at a time. No kernel state.
 *
 * What is known of them is in a table of fixed size, in the place that their hash
 * says. Two may have the same place: who has it keeps it until it was left out, and
 * the other one is looked at in each pass. A tag tells them apart, but for one in 256.
 * So that none of those is left out for ever, and none that is gone keeps its place for
 * ever, the table is emptied after some passes, and who has which place is dealt out anew.
 */
#ifndef _MM_PGHOT_SOURCE_BACKOFF_H
#define _MM_PGHOT_SOURCE_BACKOFF_H

#include <linux/bits.h>
#include <linux/hash.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* So many passes until all is forgotten: each table is looked at once more for it. */
#define PGHOT_BACKOFF_PASSES	16U
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
 * pghot_backoff_begins - is all to be forgotten before a pass
 * @pass: number of the pass
 *
 * Return: true if so.
 */
static inline bool pghot_backoff_begins(unsigned long pass)
{
	return pass % PGHOT_BACKOFF_PASSES == 0;
}

/**
 * pghot_backoff_place - which place a page table has
 * @table: what tells it from all others
 * @pass: number of the pass
 * @bits: logarithm of the number of places
 * @tag: set to its tag
 *
 * Hashed twice: two that have all in common would else have so whatever is added.
 *
 * Return: its place.
 */
static inline u32 pghot_backoff_place(u64 table, unsigned long pass, unsigned int bits,
				      u8 *tag)
{
	u64 once = (table + pass / PGHOT_BACKOFF_PASSES) * GOLDEN_RATIO_64;
	u32 hash = hash_64(once ^ once >> 32, bits + BITS_PER_BYTE * sizeof(*tag));

	*tag = hash >> bits;
	return hash & (BIT(bits) - 1);
}

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
 * One that holds something takes nobody's place, and none takes that of one that is
 * still to be left out.
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
	if (b->tag != tag && b->left)
		return;
	empty = min(empty + 1, PGHOT_BACKOFF_MOST);
	*b = (struct pghot_backoff) {
		.tag = tag,
		.empty = empty,
		.left = (1U << empty) - 1,
	};
}

#endif /* _MM_PGHOT_SOURCE_BACKOFF_H */
