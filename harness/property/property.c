// SPDX-License-Identifier: GPL-2.0
/*
 * Random operation sequences against the model.
 *
 *	property map|policy SEED COUNT OPS	COUNT sequences of OPS each
 *	property map|policy HEX			replay one
 *
 * A sequence that fails is shortened to one that still does, and printed so
 * that it can be replayed. Nothing is printed when all is well.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "ops.h"

/* Drop operations, in ever smaller pieces, as long as it still fails. */
static size_t shorten(const struct ops *ops, u8 head, u8 *buf, size_t nr,
		      struct ops_failure *why)
{
	u8 *attempt = malloc(nr * OP_BYTES);
	size_t piece, at;

	for (piece = nr; piece; piece /= 2) {
		for (at = 0; at + piece <= nr;) {
			memcpy(attempt, buf, at * OP_BYTES);
			memcpy(attempt + at * OP_BYTES,
			       buf + (at + piece) * OP_BYTES,
			       (nr - at - piece) * OP_BYTES);
			if (ops->run(head, attempt, nr - piece, why)) {
				at += piece;
				continue;
			}
			nr = why->step + 1;
			memcpy(buf, attempt, nr * OP_BYTES);
		}
	}
	free(attempt);
	return nr;
}

static void report(const struct ops *ops, u8 head, u8 *buf,
		   struct ops_failure *why)
{
	size_t nr = shorten(ops, head, buf, why->step + 1, why), i;
	char text[120];

	ops->run(head, buf, nr, why);
	for (i = 0; i < nr; i++) {
		ops->describe(buf + i * OP_BYTES, text, sizeof(text));
		printf("%3zu %s\n", i, text);
	}
	printf("step %zu: %s\nreplay: property %s %02x", why->step, why->what,
	       ops->name, head);
	for (i = 0; i < nr * OP_BYTES; i++)
		printf("%02x", buf[i]);
	printf("\n");
}

static bool random_runs(const struct ops *ops, u64 seed, u64 count, size_t nr)
{
	u64 *buf = malloc(nr * OP_BYTES);
	struct ops_failure why;
	bool ok = true;

	for (; count && ok; count--, seed++) {
		u64 state = seed;
		u8 head = harness_random(&state);
		size_t i;

		for (i = 0; i < nr; i++)
			buf[i] = harness_random(&state);
		ok = ops->run(head, (u8 *)buf, nr, &why);
		if (!ok) {
			printf("seed %llu:\n", (unsigned long long)seed);
			report(ops, head, (u8 *)buf, &why);
		}
	}
	free(buf);
	return ok;
}

static bool replay(const struct ops *ops, const char *hex)
{
	size_t size = strlen(hex) / 2, i;
	u8 *buf = malloc(size + 1);
	struct ops_failure why;
	unsigned int byte;
	bool ok;

	for (i = 0; i < size; i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			exit(2);
		buf[i] = byte;
	}
	ok = size && ops->run(buf[0], buf + 1, (size - 1) / OP_BYTES, &why);
	if (!ok)
		report(ops, buf[0], buf + 1, &why);
	free(buf);
	return ok;
}

int main(int argc, char **argv)
{
	const struct ops *ops = &map_ops;
	bool ok;

	if (argc != 3 && argc != 5) {
		fprintf(stderr, "usage: property map|policy SEED COUNT OPS\n");
		return 2;
	}
	if (!strcmp(argv[1], policy_ops.name))
		ops = &policy_ops;
	harness_thread_enter();
	if (argc == 3)
		ok = replay(ops, argv[2]);
	else
		ok = random_runs(ops, strtoull(argv[2], NULL, 0),
				 strtoull(argv[3], NULL, 0),
				 strtoull(argv[4], NULL, 0));
	harness_thread_leave();
	return !ok;
}
