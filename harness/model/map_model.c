// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include <linux/mmzone.h>
#include <linux/numa.h>

#include "map_model.h"

/* Ends of leaves (512 sections each), a gap, and a leaf of its own. */
const unsigned long model_section_nr[MODEL_SECTIONS] = {
	3, 510, 511, 512, 600, 1500,
};

/* Ends of words, of blocks (512 pages each), of groups (4 blocks) and of the section. */
const unsigned long model_page_nr[MODEL_PAGES] = {
	0, 1, 7, 8, 511, 512, 2047, 2048, 16384, 32256, 32767,
};

static unsigned long block_nr(int page)
{
	return model_page_nr[page] / 512;
}

/* First of the model's pages in the same block. */
static int first_of_block(int page)
{
	while (page > 0 && block_nr(page - 1) == block_nr(page))
		page--;
	return page;
}

/* And in the same group. */
static int first_of_group(int page)
{
	while (page > 0 && block_nr(page - 1) / 4 == block_nr(page) / 4)
		page--;
	return page;
}

static struct model_block *block_of_page(struct model *m, int section, int page)
{
	return &m->section[section].block[first_of_block(page)];
}

static struct model_group *group_of_page(struct model *m, int section, int page)
{
	return &m->section[section].group[first_of_group(page)];
}

static void section_clear(struct model_section *s)
{
	int i;

	memset(s->page, 0, sizeof(s->page));
	for (i = 0; i < MODEL_PAGES; i++)
		s->block[i].pending = false;
}

void model_init(struct model *m, bool precise)
{
	int i;

	memset(m, 0, sizeof(*m));
	m->precise = precise;
	m->window_ms = 4000;
	m->threshold = 2;
	for (i = 0; i < MODEL_SECTIONS; i++)
		m->section[i].owner = MODEL_NOBODY;
}

u64 model_freq_max(const struct model *m)
{
	return m->precise ? 127 : 3;
}

unsigned long model_pfn(int section, int page)
{
	return model_section_nr[section] * 32768 + model_page_nr[page];
}

int model_owner(const struct model *m, int section)
{
	return m->section[section].owner;
}

static s64 window_buckets(const struct model *m)
{
	return m->precise ? 16 : 4;
}

static u64 bucket_at(const struct model *m, u64 now_ms)
{
	u64 length = m->window_ms / window_buckets(m);

	/* Callers have a clock of 32 bits. */
	return now_ms % (1ULL << 32) / (length ? length : 1);
}

/* Buckets that make up an era, so that two eras and a window can be told apart. */
static u64 era_at(const struct model *m, u64 now_ms)
{
	return bucket_at(m, now_ms) / (m->precise ? 8183 : 5);
}

/* How many buckets ago the last access was; below 0 if another CPU's was ahead. */
static s64 age(const struct model_page *p, u64 bucket)
{
	return (s64)bucket - (s64)p->bucket;
}

static bool in_window(const struct model *m, const struct model_page *p,
		      u64 now_ms)
{
	return p->count && age(p, bucket_at(m, now_ms)) < window_buckets(m);
}

static u64 seen_count(const struct model *m, const struct model_page *p)
{
	u64 max = model_freq_max(m);

	return p->count < max ? p->count : max;
}

static u32 class_of(const struct model *m, const struct model_page *p)
{
	u64 count = seen_count(m, p);
	u32 class = 0;

	if (!m->precise)
		return count ? count - 1 : 0;
	while (count >= 2) {
		count /= 2;
		class++;
	}
	return class;
}

/* Does the default layout tell by the count that nobody knows the node? */
static bool tells(const struct model *m)
{
	return !m->precise && m->ask && m->threshold > 1;
}

static bool unsure(const struct model *m, const struct model_page *p)
{
	return tells(m) && p->ready && seen_count(m, p) < m->threshold;
}

/* The fewest accesses that a page is hot with. */
static u64 hot_count(const struct model *m)
{
	return tells(m) ? m->threshold - 1 : m->threshold;
}

static int claim_place(struct model_group *g, int nid)
{
	int place;

	if (nid == NUMA_NO_NODE)
		return 0;
	for (place = 0; place < 2; place++)
		if (g->nid[place] == nid)
			return place;
	for (place = 0; place < 2; place++)
		if (g->nid[place] == NUMA_NO_NODE)
			break;
	if (place == 2)
		place = nid % 2;
	g->nid[place] = nid;
	return place;
}

/* Was the last access in the interval, as far as buckets tell? */
static bool within(const struct model *m, const struct model_page *p,
		   u64 now_ms, u32 interval_ms)
{
	u64 now = now_ms % (1ULL << 32);
	u64 since = bucket_at(m, now > interval_ms ? now - interval_ms : 0);

	return age(p, bucket_at(m, now)) <= (s64)(bucket_at(m, now) - since);
}

/*
 * The first report in an era ends for the whole group what is out of the window by
 * its clock. So it is for whoever comes then with a clock that is behind.
 */
static void group_enter_era(struct model *m, int section, int page, u64 now_ms)
{
	struct model_section *s = &m->section[section];
	struct model_group *g = group_of_page(m, section, page);
	u64 bucket = bucket_at(m, now_ms);
	int i;

	if (g->era != MODEL_NO_ERA && era_at(m, now_ms) <= g->era)
		return;
	for (i = 0; i < MODEL_PAGES && g->era != MODEL_NO_ERA; i++) {
		struct model_page *p = &s->page[i];

		if (group_of_page(m, section, i) != g ||
		    in_window(m, p, now_ms))
			continue;
		if (p->ready)
			p->bucket = bucket - window_buckets(m) - 1;
		else
			*p = (struct model_page) { 0 };
	}
	g->era = era_at(m, now_ms);
}

enum pghot_recorded model_record(struct model *m, int section, int page,
				 const struct pghot_access *a, u64 now_ms)
{
	int nid = a->nid < 1023 ? a->nid : NUMA_NO_NODE;
	u64 weight = a->weight;
	struct model_page *p = &m->section[section].page[page];
	struct model_block *b = block_of_page(m, section, page);
	u64 bucket = bucket_at(m, now_ms);
	bool fresh, kept, elsewhere, known, became, was_unsure;
	struct model_page was;
	int place;

	if (m->section[section].owner == MODEL_NOBODY)
		return PGHOT_UNTRACKED;
	group_enter_era(m, section, page, now_ms);
	place = claim_place(group_of_page(m, section, page), nid);
	if (!weight)
		return PGHOT_COUNTED;
	was = *p;
	fresh = in_window(m, p, now_ms);
	was_unsure = unsure(m, p);
	known = nid != NUMA_NO_NODE || (fresh && p->ready && !was_unsure);
	/* Who was not there for a window says so of all but what waits and is in use. */
	kept = fresh ? p->ready || !a->anew : p->ready && !a->anew;
	fresh = fresh && kept;
	if (nid == NUMA_NO_NODE && fresh) {
		nid = p->nid;
		place = p->place;
	}
	elsewhere = m->precise ? p->nid != nid : p->place != place;
	p->place = place;
	p->nid = nid;
	if (a->interval_ms && fresh && within(m, p, now_ms, a->interval_ms)) {
		p->count = seen_count(m, p);
		if (p->count < weight)
			p->count = weight;
	} else {
		if (a->interval_ms)
			p->bucket = bucket - 1;
		else if (!fresh || age(p, bucket) >= 0)
			p->bucket = bucket;
		if (!kept)
			p->count = weight;
		else if (fresh || !a->interval_ms)
			p->count += weight;
		else
			p->count = max(seen_count(m, p), weight);
	}
	/* What is ready is of now, and all else that an interval saw is of before the next one. */
	if (a->interval_ms && (p->ready || p->count >= m->threshold)) {
		if (age(p, bucket) > 0)
			p->bucket = bucket;
	} else if (a->interval_ms && age(p, bucket) == 0) {
		p->bucket = bucket - 1;
	}
	/* There is no count for it. */
	if (tells(m) && was.ready && p->count < m->threshold &&
	    (!kept || was.count + 1 < m->threshold)) {
		*p = was;
		return PGHOT_COUNTED;
	}
	became = !p->ready && p->count >= m->threshold;
	p->ready |= became;
	if (tells(m) && p->ready) {
		if (!known)
			p->count = m->threshold - 1;
		else
			p->count = max(p->count, m->threshold);
	}
	/* It may wait for where it was to go before. */
	if (became || (p->ready && (elsewhere || was_unsure != unsure(m, p))))
		b->pending = true;
	return became ? PGHOT_BECAME_READY : PGHOT_COUNTED;
}

bool model_renew(struct model *m, int section, int page, u64 since_ms,
		 u64 now_ms)
{
	struct model_page *p = &m->section[section].page[page];
	u64 bucket = bucket_at(m, now_ms), since = bucket_at(m, since_ms);

	if (m->section[section].owner == MODEL_NOBODY)
		return false;
	group_enter_era(m, section, page, now_ms);
	if (!p->ready || seen_count(m, p) < hot_count(m) ||
	    bucket - since >= (u64)window_buckets(m))
		return false;
	if ((s64)p->bucket >= (s64)since)
		return false;
	p->bucket = since;
	return true;
}

bool model_take(struct model *m, int section, int page)
{
	struct model_page *p = &m->section[section].page[page];
	bool was = p->ready;

	if (was)
		*p = (struct model_page) { 0 };
	return was;
}

bool model_add(struct model *m, int section, int node)
{
	struct model_section *s = &m->section[section];
	int i;

	if (s->owner != MODEL_NOBODY)
		return false;
	section_clear(s);
	s->owner = node;
	for (i = 0; i < MODEL_PAGES; i++) {
		s->group[i].nid[0] = s->group[i].nid[1] = NUMA_NO_NODE;
		s->group[i].era = MODEL_NO_ERA;
	}
	return true;
}

static unsigned long section_ready(const struct model_section *s)
{
	unsigned long sum = 0;
	int i;

	for (i = 0; i < MODEL_PAGES; i++)
		sum += s->page[i].ready;
	return sum;
}

unsigned long model_remove(struct model *m, int section)
{
	struct model_section *s = &m->section[section];
	unsigned long ready = section_ready(s);

	section_clear(s);
	s->owner = MODEL_NOBODY;
	return ready;
}

/* What is ready stays so, and has no accesses. */
static void page_expire(struct model_page *p)
{
	if (p->ready)
		p->count = 0;
	else
		*p = (struct model_page) { 0 };
}

void model_expire(struct model *m, int node, u64 now_ms, bool all)
{
	int s, p;

	for (s = 0; s < MODEL_SECTIONS; s++) {
		if (m->section[s].owner != node)
			continue;
		for (p = 0; p < MODEL_PAGES; p++) {
			u64 era = group_of_page(m, s, p)->era;

			if (all || era + 1 < era_at(m, now_ms))
				page_expire(&m->section[s].page[p]);
		}
		for (p = 0; p < MODEL_PAGES; p++) {
			struct model_group *g = &m->section[s].group[p];

			if (g->era != MODEL_NO_ERA &&
			    (all || g->era + 1 < era_at(m, now_ms)))
				g->era = MODEL_NO_ERA;
		}
	}
}

unsigned long model_ready(const struct model *m, int node,
			  unsigned long hist[PGHOT_CLASSES])
{
	unsigned long sum = 0;
	int s, p;

	memset(hist, 0, PGHOT_CLASSES * sizeof(*hist));
	for (s = 0; s < MODEL_SECTIONS; s++) {
		if (m->section[s].owner != node)
			continue;
		for (p = 0; p < MODEL_PAGES; p++) {
			const struct model_page *page = &m->section[s].page[p];

			if (!page->ready)
				continue;
			hist[class_of(m, page)]++;
			sum++;
		}
	}
	return sum;
}

unsigned long model_sections(const struct model *m, int node)
{
	unsigned long sum = 0;
	int i;

	for (i = 0; i < MODEL_SECTIONS; i++)
		sum += m->section[i].owner == node;
	return sum;
}

void model_mark(struct model *m, int section, int page)
{
	if (m->section[section].owner != MODEL_NOBODY)
		block_of_page(m, section, page)->pending = true;
}

bool model_next_block(struct model *m, int node, int *section, int *page)
{
	struct model_cursor *c = &m->cursor[node];
	int s, p;

	for (s = 0; s < MODEL_SECTIONS; s++) {
		unsigned long nr = model_section_nr[s];

		if (m->section[s].owner != node || nr < c->section)
			continue;
		for (p = 0; p < MODEL_PAGES; p++) {
			struct model_block *b = &m->section[s].block[p];

			if (!b->pending ||
			    (nr == c->section && block_nr(p) < c->block))
				continue;
			b->pending = false;
			c->section = nr;
			c->block = block_nr(p) + 1;
			*section = s;
			*page = p;
			return true;
		}
	}
	*c = (struct model_cursor) { 0 };
	return false;
}

unsigned int model_collect(const struct model *m, int section, int page,
			   u32 min_class, u64 now_ms,
			   struct pghot_entry *entries, bool *more)
{
	const struct model_section *s = &m->section[section];
	int first = first_of_block(page), i;
	unsigned int n = 0;

	for (i = first; i < MODEL_PAGES && block_nr(i) == block_nr(first);
	     i++) {
		const struct model_page *p = &s->page[i];
		bool hot = in_window(m, p, now_ms) &&
			   seen_count(m, p) >= hot_count(m);
		int nid;

		if (!p->ready)
			continue;
		if (class_of(m, p) < min_class && hot) {
			*more = true;
			continue;
		}
		nid = m->precise ? p->nid :
				   s->group[first_of_group(i)].nid[p->place];
		entries[n++] = (struct pghot_entry) {
			.pfn = model_pfn(section, i),
			.nid = unsure(m, p) ? NUMA_NO_NODE : nid,
			.class = class_of(m, p),
			.hot = hot,
		};
	}
	return n;
}
