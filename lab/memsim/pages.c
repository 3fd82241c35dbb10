// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pages.h"

#define FIRST_BITS	16
#define GOLDEN		0x9e3779b97f4a7c15ULL

bool pages_init(struct pages *p)
{
	*p = (struct pages) { .bits = FIRST_BITS };
	p->slot = calloc((size_t)1 << p->bits, sizeof(*p->slot));
	return p->slot;
}

void pages_exit(struct pages *p)
{
	free(p->slot);
	*p = (struct pages) {};
}

void pages_clear(struct pages *p)
{
	memset(p->slot, 0, sizeof(*p->slot) << p->bits);
	p->used = 0;
}

/* The slot of @vpn, or the empty one it would get. */
static struct page_count *find(const struct pages *p, uint64_t vpn)
{
	size_t mask = ((size_t)1 << p->bits) - 1;
	size_t i = vpn * GOLDEN >> (64 - p->bits);

	while (p->slot[i].vpn && p->slot[i].vpn != vpn + 1)
		i = (i + 1) & mask;
	return &p->slot[i];
}

static bool grow(struct pages *p)
{
	struct pages more = { .bits = p->bits + 1, .used = p->used };
	size_t i;

	more.slot = calloc((size_t)1 << more.bits, sizeof(*more.slot));
	if (!more.slot)
		return false;
	for (i = 0; i >> p->bits == 0; i++)
		if (p->slot[i].vpn)
			*find(&more, p->slot[i].vpn - 1) = p->slot[i];
	free(p->slot);
	*p = more;
	return true;
}

bool pages_count(struct pages *p, uint64_t vpn, unsigned int row)
{
	struct page_count *c = find(p, vpn);

	if (!c->vpn) {
		if (p->used >= (size_t)1 << (p->bits - 1)) {
			if (!grow(p))
				return false;
			c = find(p, vpn);
		}
		c->vpn = vpn + 1;
		p->used++;
	}
	c->misses[row]++;
	return true;
}

static int by_number(const void *a, const void *b)
{
	const struct page_count *x = a, *y = b;

	return (x->vpn > y->vpn) - (x->vpn < y->vpn);
}

bool pages_write(const struct pages *p, unsigned int rows, FILE *f)
{
	struct page_count *sorted = malloc((p->used + 1) * sizeof(*sorted));
	unsigned int row;
	size_t i, n = 0;

	if (!sorted)
		return false;
	for (i = 0; i >> p->bits == 0; i++)
		if (p->slot[i].vpn)
			sorted[n++] = p->slot[i];
	qsort(sorted, n, sizeof(*sorted), by_number);
	for (i = 0; i < n; i++) {
		fprintf(f, "%" PRIx64, sorted[i].vpn - 1);
		for (row = 0; row < rows; row++)
			fprintf(f, " %" PRIu32, sorted[i].misses[row]);
		fputc('\n', f);
	}
	free(sorted);
	return !ferror(f);
}
