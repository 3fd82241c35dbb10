/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sequences of operations, read from bytes, carried out on the kernel's code
 * and on a plain model of it, compared after each.
 */
#ifndef _MODEL_OPS_H
#define _MODEL_OPS_H

#include <linux/types.h>

#define OP_BYTES	8	/* one operation; any bytes are a valid one */

/* Where the two disagreed. */
struct ops_failure {
	size_t step;
	char what[200];
};

/**
 * struct ops - a kind of operation sequence
 * @name: what it exercises
 * @run: run @nr operations after @head has set the stage; false if the two
 *	 disagree, and why
 * @describe: one operation in words
 */
struct ops {
	const char *name;
	bool (*run)(u8 head, const u8 *ops, size_t nr, struct ops_failure *why);
	void (*describe)(const u8 *op, char *text, size_t size);
};

extern const struct ops map_ops;
extern const struct ops policy_ops;

/* libFuzzer's bytes: the head, then operations. */
void ops_fuzz(const struct ops *ops, const u8 *data, size_t size);

#endif
