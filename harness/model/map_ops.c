// SPDX-License-Identifier: GPL-2.0
/* Operations on a hot map and its model. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <linux/array_size.h>
#include <linux/limits.h>
#include <linux/numa.h>

#include "map_model.h"
#include "ops.h"

#define MAX_SECTIONS	2048

enum op {
	OP_RECORD, OP_RECORD2, OP_RECORD3, OP_RECORD4, OP_TAKE, OP_NEXT,
	OP_NEXT2, OP_STOP, OP_MARK, OP_REMOVE, OP_ADD, OP_WINDOW, OP_THRESHOLD,
	OP_TIME, OP_BATCH, OP_EXPIRE, OP_RENEW, OP_NR,
};

static const char *const op_name[OP_NR] = {
	"record", "record", "record", "record", "take", "next", "next", "stop",
	"mark", "remove", "add", "window", "threshold", "time", "batch",
	"expire", "renew",
};

static const int nids[] = {
	0, 1, 2, 3, 0, 1, 1022, NUMA_NO_NODE, 1023, 1024, 1 << 30,
};
static const u32 weights[] = { 1, 1, 1, 2, 3, 0, 126, U32_MAX };

/* Mostly none; within a bucket, some buckets, the window, more than that. */
static const u32 intervals_ms[] = {
	0, 0, 0, 0, 0, 0, 100, 250, 999, 1000, 2500, 4000, 60000, U32_MAX,
};

/* Steps of the clock: within a bucket, some buckets, a window, a turn, ... */
static const u64 steps_ms[] = {
	1, 7, 250, 1000, 4000, 5000, 9999, 15000, 16000, 250 * 16383,
	5000 * 4094, 5000 * 4095, 1ULL << 31, U32_MAX,
};

struct world {
	struct pghot_map map;
	struct pghot_map_node node[MODEL_NODES];
	struct pghot_cursor cursor[MODEL_NODES];
	struct pghot_tunables t;
	struct pghot_entry got[PGHOT_BLOCK_PAGES], want[PGHOT_BLOCK_PAGES];
	struct model m;
	u64 now, expired;
	struct ops_failure *why;
};

static bool failed(struct world *w, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(w->why->what, sizeof(w->why->what), format, args);
	va_end(args);
	return false;
}

#define expect(w, what, got, want)					\
	({								\
		long _got = (long)(got), _want = (long)(want);		\
									\
		_got == _want || failed(w, "%s: got %ld, expected %ld",	\
					what, _got, _want);		\
	})

/* Another CPU's clock may be behind; not by a turn of it. */
static u64 behind(const struct world *w, u32 ms)
{
	return (u32)w->now >= ms ? w->now - ms : w->now;
}

static bool do_record(struct world *w, const u8 *op, int s, int p)
{
	int nid = nids[op[2] % ARRAY_SIZE(nids)];
	u32 weight = weights[op[3] % ARRAY_SIZE(weights)];
	struct pghot_map_node *node = NULL;
	enum pghot_recorded got, want;
	u64 now = behind(w, op[4] % 4);
	struct pghot_access access = {
		.pfn = model_pfn(s, p), .nid = nid, .weight = weight,
		.interval_ms = intervals_ms[op[7] % ARRAY_SIZE(intervals_ms)],
		.anew = op[4] & 64,
	};

	got = pghot_map_record(&w->map, &access, (u32)now, &w->t, &node);
	want = model_record(&w->m, s, p, &access, now);
	if (!expect(w, "record", got, want))
		return false;
	if (want != PGHOT_BECAME_READY)
		return !node || failed(w, "record: node set");
	return node == &w->node[model_owner(&w->m, s)] ||
	       failed(w, "record: wrong node");
}

/* More than are fetched ahead, and which of them made a record ready. */
static struct batch {
	struct pghot_access access[80];
	const struct pghot_access *ready[80];
	struct pghot_map_node *node[80];
	unsigned int nr_ready;
} batch;

static void batch_ready(const struct pghot_access *access,
			struct pghot_map_node *node)
{
	batch.ready[batch.nr_ready] = access;
	batch.node[batch.nr_ready++] = node;
}

/* Many accesses to few pages: what one does to a record, the next one meets. */
static bool do_batch(struct world *w, const u8 *op)
{
	unsigned int nr = op[2] % (ARRAY_SIZE(batch.access) + 1), i;
	unsigned int got, tracked = 0, ready = 0;
	u32 random = op[1] | op[3] << 8 | op[4] << 16 | (u32)op[5] << 24;
	u64 now = behind(w, op[6] % 4);
	u8 s[ARRAY_SIZE(batch.access)], p[ARRAY_SIZE(batch.access)];

	for (i = 0; i < nr; i++) {
		random = random * 1664525 + 1013904223;
		s[i] = (random >> 8) % MODEL_SECTIONS;
		p[i] = (random >> 12) % MODEL_PAGES;
		batch.access[i] = (struct pghot_access) {
			.pfn = model_pfn(s[i], p[i]),
			.nid = nids[(random >> 20) % ARRAY_SIZE(nids)],
			.weight = weights[(random >> 24) % ARRAY_SIZE(weights)],
			.interval_ms = intervals_ms[(random >> 16) %
						    ARRAY_SIZE(intervals_ms)],
			.anew = random >> 30 == 3,
		};
	}
	batch.nr_ready = 0;
	got = pghot_map_record_batch(&w->map, batch.access, nr, (u32)now, &w->t,
				     batch_ready);
	for (i = 0; i < nr; i++) {
		const struct pghot_access *a = &batch.access[i];
		enum pghot_recorded want = model_record(&w->m, s[i], p[i], a,
							now);

		tracked += want != PGHOT_UNTRACKED;
		if (want != PGHOT_BECAME_READY)
			continue;
		if (ready >= batch.nr_ready || batch.ready[ready] != a ||
		    batch.node[ready] != &w->node[model_owner(&w->m, s[i])])
			return failed(w, "batch: access %u made none ready",
				      i);
		ready++;
	}
	return expect(w, "batch: ready", batch.nr_ready, ready) &&
	       expect(w, "batch: tracked", got, tracked);
}

static bool same_entries(struct world *w, unsigned int got, unsigned int want)
{
	unsigned int i;

	if (!expect(w, "collect: entries", got, want))
		return false;
	for (i = 0; i < want; i++) {
		const struct pghot_entry *a = &w->got[i], *b = &w->want[i];

		if (!expect(w, "entry: pfn", a->pfn, b->pfn) ||
		    !expect(w, "entry: nid", a->nid, b->nid) ||
		    !expect(w, "entry: class", a->class, b->class) ||
		    !expect(w, "entry: hot", a->hot, b->hot))
			return false;
	}
	return true;
}

/* One step of a walk, and what its walker does to the block it found. */
static bool do_next(struct world *w, const u8 *op, int node)
{
	bool found, more = false, model_more = false;
	unsigned int got, want, i;
	unsigned long pfn = 0;
	u32 min_class = op[3] % (PGHOT_CLASSES + 1);
	int s, p;

	found = pghot_map_next_block(&w->map, &w->node[node], &w->cursor[node],
				     &pfn);
	if (!expect(w, "next: found", found,
		    model_next_block(&w->m, node, &s, &p)))
		return false;
	if (!found) {
		w->cursor[node] = (struct pghot_cursor) { 0 };
		return true;
	}
	if (!expect(w, "next: pfn", pfn,
		    model_pfn(s, p) / PGHOT_BLOCK_PAGES * PGHOT_BLOCK_PAGES))
		return false;

	got = pghot_map_collect(&w->map, pfn, min_class, (u32)w->now, &w->t,
				w->got, &more);
	want = model_collect(&w->m, s, p, min_class, w->now, w->want,
			     &model_more);
	if (!same_entries(w, got, want) ||
	    !expect(w, "collect: more", more, model_more))
		return false;
	for (i = 0; i < got && op[4] & 1; i++) {
		for (p = 0; model_pfn(s, p) != w->got[i].pfn;)
			p++;
		/* Both ways are the same where nothing comes in between. */
		if (!expect(w, "take of an entry", op[4] & 4 ?
			    pghot_map_take_seen(&w->map, &w->got[i]) :
			    pghot_map_take(&w->map, w->got[i].pfn),
			    model_take(&w->m, s, p)))
			return false;
	}
	if (op[4] & 2) {
		pghot_map_mark(&w->map, pfn);
		model_mark(&w->m, s, p);
	}
	return true;
}

/* The model's walks go on where they are in any case. */
static bool do_stop(struct world *w, int node)
{
	pghot_map_stop(&w->map, &w->cursor[node]);
	return true;
}

/* What was accessed since a time within the window, or before it. */
static bool do_renew(struct world *w, const u8 *op, int s, int p)
{
	u64 since = behind(w, intervals_ms[op[7] % ARRAY_SIZE(intervals_ms)]);
	struct pghot_entry e = { .pfn = model_pfn(s, p) };
	bool renewed;

	renewed = pghot_map_renew(&w->map, &e, (u32)since, (u32)w->now, &w->t);
	return expect(w, "renew", renewed,
		      model_renew(&w->m, s, p, since, w->now)) &&
	       expect(w, "renew: hot", e.hot, renewed);
}

static bool do_remove(struct world *w, const u8 *op, int s)
{
	unsigned long first = model_section_nr[s], nr = 1UL << op[2] % 12;
	unsigned long want = 0;

	for (; s < MODEL_SECTIONS && model_section_nr[s] < first + nr; s++)
		want += model_remove(&w->m, s);
	return expect(w, "remove", pghot_map_remove(&w->map, first, nr), want);
}

static void expire(struct world *w, bool all)
{
	int node;

	for (node = 0; node < MODEL_NODES; node++) {
		pghot_map_expire(&w->map, &w->node[node], (u32)w->now, &w->t,
				 all);
		model_expire(&w->m, node, w->now, all);
	}
	w->expired = w->now;
}

/* As kmigrated does, which looks at the clock more often: so a long step is many. */
static void advance(struct world *w, u64 step)
{
	bool late = step >= pghot_map_expire_ms(&w->map, &w->t), all;

	w->now += step;
	if (pghot_map_expire_due(&w->map, &w->t, (u32)w->expired, (u32)w->now,
				 &all) || late)
		expire(w, all || late);
}

static bool one(struct world *w, const u8 *op)
{
	int s = op[1] % MODEL_SECTIONS, p = op[5] % MODEL_PAGES;
	int node = op[6] % MODEL_NODES;

	switch (op[0] % OP_NR) {
	case OP_TAKE:
		return expect(w, "take",
			      pghot_map_take(&w->map, model_pfn(s, p)),
			      model_take(&w->m, s, p));
	case OP_NEXT:
	case OP_NEXT2:
		return do_next(w, op, node);
	case OP_STOP:
		return do_stop(w, node);
	case OP_MARK:
		pghot_map_mark(&w->map, model_pfn(s, p));
		model_mark(&w->m, s, p);
		return true;
	case OP_REMOVE:
		return do_remove(w, op, s);
	case OP_ADD:
		model_add(&w->m, s, node);
		return expect(w, "add",
			      pghot_map_add(&w->map, &w->node[node],
					    model_section_nr[s], node), 0);
	case OP_WINDOW:
		w->m.window_ms = 100 + (op[2] << 8 | op[3]) % 59901;
		w->t.window_ms = w->m.window_ms;
		expire(w, true);
		return true;
	case OP_THRESHOLD:
		w->m.threshold = 1 + op[2] % model_freq_max(&w->m);
		w->t.freq_threshold = w->m.threshold;
		w->m.ask = w->t.ask = op[3] & 1;
		return true;
	case OP_TIME:
		advance(w, steps_ms[op[2] % ARRAY_SIZE(steps_ms)] *
			   (1 + op[3] % 4));
		return true;
	case OP_EXPIRE:
		expire(w, op[2] & 1);
		return true;
	case OP_RENEW:
		return do_renew(w, op, s, p);
	case OP_BATCH:
		return do_batch(w, op);
	default:
		return do_record(w, op, s, p);
	}
}

/* What must hold after every operation. */
static bool check(struct world *w)
{
	unsigned long got[PGHOT_CLASSES], want[PGHOT_CLASSES];
	int node, class;

	for (node = 0; node < MODEL_NODES; node++) {
		if (!expect(w, "ready", pghot_map_ready(&w->node[node], got),
			    model_ready(&w->m, node, want)) ||
		    !expect(w, "sections", w->node[node].sections,
			    model_sections(&w->m, node)))
			return false;
		for (class = 0; class < PGHOT_CLASSES; class++)
			if (!expect(w, "histogram", got[class], want[class]))
				return false;
	}
	return true;
}

static bool owners(struct world *w)
{
	int s;

	for (s = 0; s < MODEL_SECTIONS; s++) {
		int node = model_owner(&w->m, s);

		if (pghot_map_owner(&w->map, model_pfn(s, 0)) !=
		    (node == MODEL_NOBODY ? NULL : &w->node[node]))
			return failed(w, "owner of section %lu",
				      model_section_nr[s]);
	}
	return true;
}

static bool map_run(u8 head, const u8 *ops, size_t nr, struct ops_failure *why)
{
	static struct world w;
	bool ok = true;
	size_t i;
	int s;

	memset(&w, 0, sizeof(w));
	w.why = why;
	w.now = w.expired = head & 2 ? U32_MAX - 5000ULL : 1000;
	model_init(&w.m, head & 1);
	w.m.ask = head & 4;
	w.t = (struct pghot_tunables) {
		.freq_threshold = w.m.threshold, .window_ms = w.m.window_ms,
		.ask = head & 4,
	};
	pghot_map_node_init(&w.node[0], 2);
	pghot_map_node_init(&w.node[1], 3);
	why->step = 0;
	if (pghot_map_init(&w.map, MAX_SECTIONS, head & 1))
		return failed(&w, "no memory");
	/* One each to begin with; the others come by operations. */
	for (s = 1; s < 3; s++) {
		model_add(&w.m, s, s - 1);
		pghot_map_add(&w.map, &w.node[s - 1], model_section_nr[s], 0);
	}
	for (i = 0; i < nr && ok; i++) {
		why->step = i;
		ok = one(&w, ops + i * OP_BYTES) && check(&w) && owners(&w);
	}
	pghot_map_exit(&w.map);
	return ok;
}

static void map_describe(const u8 *op, char *text, size_t size)
{
	snprintf(text, size,
		 "%-9s section=%lu page=%lu node=%u args=%u,%u,%u",
		 op_name[op[0] % OP_NR],
		 model_section_nr[op[1] % MODEL_SECTIONS],
		 model_page_nr[op[5] % MODEL_PAGES], op[6] % MODEL_NODES,
		 op[2], op[3], op[4]);
}

const struct ops map_ops = {
	.name = "map", .run = map_run, .describe = map_describe,
};
