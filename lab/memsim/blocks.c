// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "blocks.h"

#define KERNEL_HALF	(1ULL << 63)

static struct block *blocks;

struct block *blocks_add(uint64_t pc, uint32_t instructions)
{
	struct block *b = malloc(sizeof(*b));

	if (!b)
		return NULL;
	*b = (struct block) {
		.pc = pc,
		.instructions = instructions,
		.mode = pc & KERNEL_HALF ? KERNEL : USER,
		.next = blocks,
	};
	blocks = b;
	return b;
}

void blocks_clear(void)
{
	struct block *b;

	for (b = blocks; b; b = b->next)
		b->ns = 0;
}

bool blocks_write(const char *path)
{
	FILE *f = fopen(path, "we");
	const struct block *b;

	if (!f)
		return false;
	for (b = blocks; b; b = b->next)
		if (b->ns)
			fprintf(f, "%" PRIx64 " %" PRIu64 "\n", b->pc, b->ns);
	return !fclose(f);
}
