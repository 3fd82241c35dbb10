// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "huge.h"
#include "pages.h"

#define FIRST_BITS	16

bool pages_init(struct pages *p)
{
	*p = (struct pages) { .bits = FIRST_BITS };
	p->slot = huge_alloc(sizeof(*p->slot) << p->bits);
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
	*p = (struct pages) { .slot = p->slot, .bits = p->bits };
}

/* The slot of a page, or the empty one it would get. */
static struct page *find(const struct pages *p, uint64_t space, uint64_t vpn)
{
	size_t mask = ((size_t)1 << p->bits) - 1;
	size_t i = pages_place(p, space, vpn);

	while (p->slot[i].vpn &&
	       (p->slot[i].vpn != vpn + 1 || p->slot[i].space != space))
		i = (i + 1) & mask;
	return &p->slot[i];
}

static bool grow(struct pages *p)
{
	struct pages more = *p;
	size_t i;

	more.bits++;
	more.slot = huge_alloc(sizeof(*more.slot) << more.bits);
	if (!more.slot)
		return false;
	for (i = 0; i >> p->bits == 0; i++)
		if (p->slot[i].vpn)
			*find(&more, p->slot[i].space, p->slot[i].vpn - 1) =
				p->slot[i];
	free(p->slot);
	*p = more;
	return true;
}

static void saw(struct pages *p, struct page *page, bool top, int64_t now_ns)
{
	if (page->top == top)
		return;
	page->top = top;
	if (top) {
		p->promoted++;
		page->promoted_ns = now_ns;
		return;
	}
	p->demoted++;
	if (page->promoted_ns >= 0 && now_ns - page->promoted_ns <= AGAIN_NS)
		p->demoted_again++;
	page->promoted_ns = -1;
}

bool pages_count(struct pages *p, uint64_t space, uint64_t vpn,
		 unsigned int row, bool top, int64_t now_ns)
{
	struct page *page = find(p, space, vpn);

	if (!page->vpn) {
		if (p->used >= (size_t)1 << (p->bits - 1)) {
			if (!grow(p))
				return false;
			page = find(p, space, vpn);
		}
		*page = (struct page) {
			.space = space, .vpn = vpn + 1, .top = top,
			.promoted_ns = -1,
		};
		p->used++;
	}
	saw(p, page, top, now_ns);
	page->misses[row]++;
	return true;
}

static int by_number(const void *a, const void *b)
{
	const struct page *x = a, *y = b;

	return (x->vpn > y->vpn) - (x->vpn < y->vpn);
}

bool pages_write(const struct pages *p, uint64_t space, unsigned int rows,
		 FILE *f)
{
	struct page *sorted = malloc((p->used + 1) * sizeof(*sorted));
	unsigned int row;
	size_t i, n = 0;

	if (!sorted)
		return false;
	for (i = 0; i >> p->bits == 0; i++)
		if (p->slot[i].vpn && p->slot[i].space == space)
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
