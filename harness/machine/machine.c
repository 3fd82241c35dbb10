// SPDX-License-Identifier: GPL-2.0
/* Nodes, memory and folios of the made-up machine. */
#include <stdlib.h>
#include <string.h>

#include <linux/memory-tiers.h>
#include <linux/memory_hotplug.h>
#include <linux/migrate.h>
#include <linux/slab.h>

#include "unit.h"
#include "internal.h"
#include "machine.h"
#include "../../linux/mm/pghot/promoter.h"

#define NR_PFNS			section_nr_to_pfn(MACHINE_SECTIONS)
#define HIGH_WMARK		1024
#define PROMO_WMARK		2048

int sysctl_numa_balancing_mode;
unsigned int sysctl_numa_balancing_scan_period_max = 60000;
struct pghot_stat_counts pghot_stat_counts;
/* Where there is no such source. */
__attribute__((weak)) struct pghot_scan_pfns pghot_scan_pfns = { .nr = ULONG_MAX };
__attribute__((weak)) DEFINE_STATIC_KEY_FALSE(pghot_page_cache_key);
const char *const pghot_stat_names[] = {
#define NAME(name, ...)	#name,
	PGHOT_STATS(NAME)
#undef NAME
};

bool machine_irqs_off, machine_preempt_off, machine_preempt_rt;
static unsigned long machine_accesses;
struct pghot_source machine_source = {
	.name = "machine", .nmi = true, .accesses = &machine_accesses,
};

nodemask_t node_states[NR_NODE_STATES];
unsigned int nr_node_ids = NODES;
pg_data_t machine_node[MAX_NUMNODES];

int machine_hotplug_off;
unsigned long machine_isolated;
unsigned long machine_asked, machine_process_asked;
unsigned long machine_looked, machine_bits_looked;
unsigned long machine_questions, machine_drained;
u32 machine_cold_ms;
bool machine_reuses;
bool machine_lru_gen;
unsigned int machine_moves_a_tick;
bool machine_crowded;

static struct page *pages;
static struct folio *folios;

int machine_top = LOWER;

bool node_is_toptier(int nid)
{
	return nid < machine_top;
}

/* Each socket has a top-tier node and, further away, a lower one. */
static const int usual_distance[NODES][NODES] = {
	{ 10, 21, 24, 28 },
	{ 21, 10, 28, 24 },
	{ 24, 28, 10, 28 },
	{ 28, 24, 28, 10 },
};

const int machine_apart[NODES][NODES] = {
	{ 10, 32, 24, 40 },
	{ 32, 10, 40, 24 },
	{ 24, 40, 10, 40 },
	{ 40, 24, 40, 10 },
};

const int (*machine_distance)[NODES] = usual_distance;

int node_distance(int from, int to)
{
	return machine_distance[from][to];
}

struct page *pfn_to_online_page(unsigned long pfn)
{
	machine_looked++;
	return pfn < NR_PFNS && pages[pfn].folio ? &pages[pfn] : NULL;
}

struct page *pfn_to_page(unsigned long pfn)
{
	return &pages[pfn];
}

/* Also of one that is not there any more. */
int page_to_nid(const struct page *page)
{
	return pfn_to_section_nr(page - pages) / MACHINE_SECTION(1);
}

static void put_page(unsigned long pfn, int nid)
{
	pages[pfn].folio = &folios[pfn];
	folios[pfn] = (struct folio) {
		.mapping = &folios[pfn], .pfn = pfn, .nid = nid,
		.target = NUMA_NO_NODE, .refs = 1, .on_lru = true,
	};
}

void machine_node_up(int nid)
{
	bool top = node_is_toptier(nid);

	machine_node[nid] = (pg_data_t) {
		.nr_zones = 1,
		.node_start_pfn = machine_pfn(nid, 0),
		.node_spanned_pages = NODE_PAGES,
		.node_present_pages = top ? TOP_PAGES : NODE_PAGES,
		.node_zones = { {
			.present_pages = top ? TOP_PAGES : NODE_PAGES,
			.high = HIGH_WMARK, .promo = PROMO_WMARK,
			.max_order = MAX_PAGE_ORDER,
		} },
	};
	node_set(nid, node_states[N_MEMORY]);
	if (top) {
		node_set(nid, node_states[N_CPU]);
		machine_room(nid, TOP_PAGES / 8);
	}
}

void machine_plug(int nid, unsigned long section, unsigned long nr)
{
	unsigned long i;

	for (i = 0; i < nr * PAGES_PER_SECTION; i++)
		put_page(machine_pfn(nid, section * PAGES_PER_SECTION + i), nid);
}

void machine_unplug(int nid, unsigned long section, unsigned long nr)
{
	memset(&pages[machine_pfn(nid, section * PAGES_PER_SECTION)], 0,
	       nr * PAGES_PER_SECTION * sizeof(*pages));
}

void machine_power_on(void)
{
	jiffies = INITIAL_JIFFIES + 100000;
	machine_asked = 0;
	machine_process_asked = 0;
	machine_looked = 0;
	machine_bits_looked = 0;
	machine_questions = 0;
	machine_drained = 0;
	machine_cold_ms = 0;
	machine_lru_gen = true;
	machine_reuses = false;
	machine_moves_a_tick = 0;
	machine_crowded = false;
	machine_work = NULL;
	machine_forget_work();
	sysctl_numa_balancing_mode = NUMA_BALANCING_MEMORY_TIERING;
	sysctl_numa_balancing_promote_rate_limit = 65536;
	machine_source.evidence = PGHOT_ACCESSES;
	machine_accesses = 0;
	memset(&pghot_stat_counts, 0, sizeof(pghot_stat_counts));
	memset(node_states, 0, sizeof(node_states));
	pages = calloc(NR_PFNS, sizeof(*pages));
	folios = calloc(NR_PFNS, sizeof(*folios));
}

void machine_power_off(void)
{
	free(pages);
	free(folios);
	machine_distance = usual_distance;
	assert_int_equal(machine_hotplug_off, 0);
}

void machine_room(int nid, unsigned long nr)
{
	machine_node[nid].node_zones[0].free = HIGH_WMARK + nr;
}

void machine_plenty(int nid)
{
	machine_node[nid].node_zones[0].free = TOP_PAGES;
}

void machine_take_away(int nid)
{
	node_clear(nid, node_states[N_MEMORY]);
}

unsigned long machine_pfn(int nid, unsigned long i)
{
	return section_nr_to_pfn(MACHINE_SECTION(nid)) + i;
}

struct folio *machine_folio(int nid, unsigned long i)
{
	return pages[machine_pfn(nid, i)].folio;
}

struct folio *machine_large(int nid, unsigned long i, unsigned int order)
{
	struct folio *folio = &folios[machine_pfn(nid, i)];
	unsigned long k;

	folio->order = order;
	for (k = 0; k < 1UL << order; k++)
		pages[machine_pfn(nid, i + k)].folio = folio;
	return folio;
}

void machine_immovable(int nid)
{
	static struct mem_cgroup lower = { .allowed.bits = { ~(BIT(LOWER) - 1) } };

	machine_folio(nid, 0)->refs = 0;
	machine_folio(nid, 0)->mapping = NULL;
	machine_folio(nid, 1)->nid = 0;
	machine_folio(nid, 2)->file = true;
	machine_folio(nid, 2)->dirty = true;
	machine_folio(nid, 3)->memcg = &lower;
	machine_folio(nid, 4)->pinned = true;
	machine_folio(nid, 5)->dma = true;
}

void machine_touch(int nid, unsigned long i)
{
	struct folio *folio = machine_folio(nid, i);

	folio->young = true;
	folio->idle = false;
	folio->accessed_ms = pghot_now_ms();
}

u32 machine_all(const struct pghot_access *access, void *data)
{
	return access->weight;
}

void machine_access(int nid, unsigned long i, int target, unsigned int n)
{
	struct pghot_access access = {
		.pfn = machine_pfn(nid, i), .nid = target, .weight = n,
	};

	machine_touch(nid, i);
	pghot_record(&access, &machine_source);
}

void machine_ready(int nid, unsigned long i, int target)
{
	machine_access(nid, i, target, pghot_tunables.freq_threshold);
}

void machine_ready_first(int nid, unsigned long nr, int target)
{
	unsigned long i;

	for (i = 0; i < nr; i++)
		machine_ready(nid, i, target);
}

void machine_demote(int nid, unsigned long i)
{
	struct folio *folio = machine_folio(nid, i);

	machine_node[folio->target].node_zones[0].free++;
	put_page(folio->pfn, nid);
}

unsigned long machine_moved(int nid, unsigned long from, unsigned long to,
			    int target)
{
	unsigned long n = 0;

	for (; from < to; from++)
		n += machine_folio(nid, from)->target == target;
	return n;
}

unsigned long machine_stat(const char *name)
{
	int i;

	for (i = 0; i < NR_PGHOT_STATS; i++)
		if (!strcmp(name, pghot_stat_names[i]))
			return pghot_stat_counts.count[i];
	fail_msg("no counter %s", name);
	return 0;
}

void machine_check(void)
{
	unsigned long sum = machine_stat("moved");
	int i;

	for (i = 0; i < NR_PGHOT_STATS; i++)
		if (!strncmp(pghot_stat_names[i], "skip_", 5))
			sum += pghot_stat_counts.count[i];
	for (i = LOWER; i < NODES; i++)
		sum += pghot_map_ready(&pghot_node(i)->map, NULL);
	assert_int_equal(machine_stat("ready"), sum);
	for (i = 0; i < LOWER; i++)
		assert_false(pghot_target(i)->lock.held);
}

/* Of all that a folio's owners may have to say, what its cpuset says. */
bool pghot_owners_allow(struct folio *folio, nodemask_t *nodes)
{
	machine_asked++;
	*nodes = node_states[N_MEMORY];
	mem_cgroup_node_filter_allowed(folio->memcg, nodes);
	return true;
}

/* Nobody pays. */
void pghot_bill_add(struct pghot_bill *bill, struct folio *folio)
{
}

void pghot_bill_settle(struct pghot_bill *bill, u64 ns)
{
}

void pghot_process_allows(struct mm_struct *mm, bool has_policy, int src,
			  nodemask_t *nodes)
{
	machine_process_asked++;
	nodes_and(*nodes, *nodes, mm->cpuset);
	if (!has_policy)
		nodes_and(*nodes, *nodes, mm->policy);
}

enum pghot_accessed pghot_flush_accessed(struct folio *folio)
{
	unsigned int left = PGHOT_OWNERS_MAX;

	return pghot_clear_accessed(folio, &left);
}

enum pghot_accessed pghot_clear_accessed(struct folio *folio,
					 unsigned int *left)
{
	unsigned int entries = max(folio->entries, 1U);
	bool young = folio->young;

	machine_bits_looked += entries;
	assert_true(*left >= entries);
	*left -= entries;
	if (folio->locked)
		return PGHOT_ACCESS_UNKNOWN;
	folio->young = false;
	return young ? PGHOT_ACCESSED : PGHOT_NOT_ACCESSED;
}

/* Who has the folio mapped is to say from where; a test does. */
enum pghot_verdict pghot_ask(struct pghot_ask *ask, struct folio *folio)
{
	if (!folio->mapped)
		return PGHOT_PROMOTED;
	if (folio->locked)
		return PGHOT_BUSY;
	if (ask->nr == PGHOT_ASK_PAGES)
		pghot_ask_flush(ask);
	ask->nr++;
	return PGHOT_ASKED;
}

void pghot_ask_flush(struct pghot_ask *ask)
{
	machine_questions += ask->nr;
	ask->nr = 0;
}

void lru_add_drain_all(void)
{
	unsigned long i;

	assert_int_equal(machine_isolated, 0);
	machine_drained++;
	for (i = 0; i < NR_PFNS; i++)
		if (folios[i].in_batch)
			folios[i].on_lru = true;
}

void get_online_mems(void)
{
	assert_int_equal(machine_isolated, 0);
	assert_int_not_equal(machine_hotplug_off, MACHINE_HOTPLUG);
	machine_hotplug_off++;
}

void put_online_mems(void)
{
	assert_int_equal(machine_isolated, 0);
	machine_hotplug_off--;
}

int migrate_misplaced_folio_prepare(struct folio *folio,
				    struct vm_area_struct *vma, int node)
{
	if (folio->busy || !migrate_balanced_pgdat(NODE_DATA(node),
						   folio_nr_pages(folio)))
		return -EAGAIN;
	folio->on_lru = false;
	folio->refs++;
	machine_isolated++;
	return 0;
}

static unsigned long moves(struct folio *folio)
{
	/* One is of who isolated it. */
	if (folio->pinned || folio->refs > 2)
		return 0;
	return folio_nr_pages(folio) - folio->splits;
}

/* Moving may take time. */
static void move_takes(void)
{
	static unsigned int moved;

	if (machine_moves_a_tick && ++moved % machine_moves_a_tick == 0)
		machine_tick();
}

/* What moved leaves free pages behind; what was split, small folios. */
unsigned int migrate_misplaced_folios(struct list_head *list, int node,
				      bool promote, unsigned int *nr_pages)
{
	unsigned int left = 0;

	*nr_pages = 0;
	while (!list_empty(list)) {
		struct folio *folio = container_of(list->next, struct folio,
						   lru);
		unsigned long n = moves(folio);

		list_del(&folio->lru);
		machine_isolated--;
		/* One that moves nobody else has. */
		assert_true(n ? folio->refs == 2 : folio->refs >= 2);
		folio->refs = n ? 0 : folio->refs - 1;
		folio->on_lru = true;
		left += n ? folio->splits : 1;
		*nr_pages += n;
		if (!n)
			continue;
		folio->mapping = NULL;
		folio->target = node;
		machine_cold_ms = max(machine_cold_ms,
				      pghot_now_ms() - folio->accessed_ms);
		assert_true(machine_node[node].node_zones[0].free >= n);
		machine_node[node].node_zones[0].free -= n;
		if (machine_reuses)
			put_page(folio->pfn, folio->nid);
		move_takes();
	}
	return left;
}
