// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the machine itself: latency of each node from each of the given CPUs, in huge
 * pages, bandwidth of each node from all of them, what small pages cost more, what lines
 * cost that another CPU wrote, what some kernel work costs, and whether the kernel sees
 * that pages are accessed.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/workload.h"

#define MIB	(1UL << 20)
#define HUGE	(2 * MIB)
#define CHASE	(16 * MIB)
#define STEPS	200000UL
#define STREAM	(8 * MIB)
#define ROUNDS	8	/* until threads that began or end apart count for next to nothing */
#define FAULTS	256UL
#define SHARED	256UL
#define FLUSHES	16UL

static struct list nodes = { .item = { 0 }, .n = 1 };
static double latency[MAX_LIST][MAX_LIST], bandwidth[MAX_LIST];
static double read_ns[MAX_LIST], write_ns[MAX_LIST];
static double small_ns, before_ns, after_ns, fault_ns, flush_ns, quiet_ns;
static void *chase[MAX_LIST], *small;
static char *stream[MAX_THREADS][MAX_LIST];
static int threads;
static uint64_t seen;
static volatile bool spinning;
static volatile int steps;

static const struct workload_option options[] = {
	{ "nodes", 'n', "to measure; without, 0", .nodes = &nodes },
	{}
};

/* Huge pages, so that translating costs nothing, or small ones. */
static char *map_sized(size_t bytes, bool huge)
{
	char *p = workload_map(bytes + HUGE);

	p += -(uintptr_t)p % HUGE;
	if (madvise(p, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
		workload_fail("no choice of the pages' size");
	return p;
}

/* A cycle through all lines in random order. */
static void *make_chase(int node, bool huge)
{
	uint64_t n = CHASE / LINE, x = random_start(node), i;
	uint32_t *order = malloc(n * sizeof(*order));
	char *p;

	workload_place(&(struct list){ .item = { node }, .n = 1 });
	p = map_sized(CHASE, huge);
	memset(p, 0, CHASE);
	workload_place(&(struct list){});
	if (!order)
		workload_fail("no memory left");
	for (i = 0; i < n; i++)
		order[i] = i;
	for (i = n - 1; i > 0; i--) {
		uint64_t j = random_next(&x) % i;
		uint32_t t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
	for (i = 0; i < n; i++)
		*(void **)(p + order[i] * LINE) = p + order[(i + 1) % n] * LINE;
	free(order);
	return p;
}

/* Nanoseconds a step, without the two instructions that count it. */
static double run_chase(void **from)
{
	double began = workload_now(), seconds;
	uint64_t n = STEPS;

	__asm__ volatile("1: mov (%0), %0\n\tdec %1\n\tjnz 1b"
			 : "+r" (from), "+r" (n) : : "memory", "cc");
	seconds = workload_now() - began;
	return seconds * 1e9 / STEPS - 3;
}

/* It comes back to where it began after all lines, and not before. */
static void verify_chase(void **from)
{
	void **at = from;
	uint64_t n = 0;

	do {
		at = *at;
		n++;
	} while (at != from && n < CHASE / LINE);
	if (at != from || n != CHASE / LINE)
		workload_fail("a chase has %lu lines, not %lu", n, CHASE / LINE);
	workload_verified(n);
}

static void measure_latency(int thread)
{
	int turn, i;

	for (turn = 0; turn < threads; turn++) {
		workload_barrier();
		for (i = 0; i < nodes.n && turn == thread; i++)
			latency[thread][i] = run_chase(chase[i]);
		workload_barrier();
	}
}

static void measure_bandwidth(int thread)
{
	double began;
	int i, round;

	for (i = 0; i < nodes.n; i++) {
		const char *p, *end;

		workload_barrier();
		began = workload_now();
		for (round = 0; round < ROUNDS; round++) {
			p = stream[thread][i];
			/* One load a line: the CPU must not be what limits. */
			for (end = p + STREAM; p < end; p += 4 * LINE)
				__asm__ volatile("mov (%0), %%rax\n\t"
						 "mov 64(%0), %%rax\n\t"
						 "mov 128(%0), %%rax\n\t"
						 "mov 192(%0), %%rax"
						 : : "r" (p) : "rax", "memory");
		}
		workload_barrier();
		if (!thread)
			bandwidth[i] = 1.0 * ROUNDS * threads * STREAM / 1e6 /
				       (workload_now() - began);
	}
}

/*
 * Nanoseconds per line of the first ones of a chase, beside its pointer. Backwards: what is
 * fetched ahead would cost nothing.
 */
static double run_lines(bool store)
{
	double began = workload_now();
	char *p = chase[0] + (SHARED - 1) * LINE;
	uint64_t n = SHARED;

	if (store)
		__asm__ volatile("1: mov %%rax, 8(%0)\n\tsub $64, %0\n\t"
				 "dec %1\n\tjnz 1b"
				 : "+r" (p), "+r" (n) : : "memory", "cc");
	else
		__asm__ volatile("1: mov 8(%0), %%rax\n\tsub $64, %0\n\t"
				 "dec %1\n\tjnz 1b"
				 : "+r" (p), "+r" (n) : : "rax", "memory", "cc");
	return (workload_now() - began) * 1e9 / SHARED - 4;
}

/* Without the kernel, whose data would drive the lines out. */
static void wait_for(int step)
{
	while (steps != step)
		__builtin_ia32_pause();
}

/* The first CPU and another one have the same lines in turn. */
static void measure_sharing(int thread)
{
	int step;

	workload_barrier();
	for (step = 0; step < 4 * (threads - 1); step++) {
		int other = step / 4 + 1;

		if (thread != (step % 2 ? other : 0))
			continue;
		wait_for(step);
		if (step % 4 == 1)
			read_ns[thread] = run_lines(false);
		else if (step % 4 == 3)
			write_ns[thread] = run_lines(true);
		else
			run_lines(true);
		steps = step + 1;
	}
	workload_barrier();
}

/* The same chase before and after its pages moved from the last node to the first. */
static void measure_move(void)
{
	before_ns = run_chase(chase[nodes.n - 1]);
	workload_move(chase[nodes.n - 1], CHASE, nodes.item[0]);
	after_ns = run_chase(chase[nodes.n - 1]);
}

static void measure_faults(void)
{
	char *p = workload_map(FAULTS * PAGE);
	double began = workload_now();
	uint64_t i;

	madvise(p, FAULTS * PAGE, MADV_NOHUGEPAGE);
	for (i = 0; i < FAULTS; i++)
		p[i * PAGE] = 1;
	fault_ns = (workload_now() - began) * 1e9 / FAULTS;
	munmap(p, FAULTS * PAGE);
}

/* Changing protection interrupts each CPU on which the program runs. */
static double change_protection(void)
{
	char *p = workload_map(PAGE);
	double began;
	int i;

	*p = 1;
	began = workload_now();
	for (i = 0; i < 100; i++) {
		mprotect(p, PAGE, PROT_READ);
		mprotect(p, PAGE, PROT_READ | PROT_WRITE);
		*p = 1;
	}
	munmap(p, PAGE);
	return (workload_now() - began) * 1e9 / 200;
}

static void with_others(int thread)
{
	workload_barrier();
	if (!thread) {
		flush_ns = change_protection();
		spinning = false;
	}
	while (thread && spinning)
		;
}

static int open_file(const char *name, int flags)
{
	int fd = open(name, flags);

	if (fd < 0)
		workload_fail("cannot open %s", name);
	return fd;
}

static uint64_t read_word(int fd, uint64_t number)
{
	uint64_t word;

	if (pread(fd, &word, sizeof(word), number * sizeof(word)) != sizeof(word))
		workload_fail("cannot read word %lu of a map of pages", number);
	return word;
}

/* Of so many pages Linux does not have translations dropped one by one. */
static void forget_translations(void)
{
	char *p = workload_map(64 * PAGE);

	madvise(p, 64 * PAGE, MADV_NOHUGEPAGE);
	memset(p, 1, 64 * PAGE);
	munmap(p, 64 * PAGE);
}

/*
 * How many pages of a chase the kernel finds accessed, that it took for idle before. It
 * clears accessed bits and no translations: a CPU that has some sets no bit again until
 * others have taken their place.
 */
static void measure_seen(void)
{
	int pagemap = open_file("/proc/self/pagemap", O_RDONLY);
	int idle = open_file("/sys/kernel/mm/page_idle/bitmap", O_RDWR);
	static uint64_t frame[CHASE / PAGE];
	uint64_t i;

	for (i = 0; i < FLUSHES; i++) {
		forget_translations();
		run_chase(small);
	}
	for (i = 0; i < CHASE / PAGE; i++) {
		uint64_t bit;

		frame[i] = read_word(pagemap, (uintptr_t)small / PAGE + i) & ((1UL << 55) - 1);
		bit = 1UL << frame[i] % 64;
		if (pwrite(idle, &bit, sizeof(bit), frame[i] / 64 * sizeof(bit)) != sizeof(bit))
			workload_fail("cannot take page %lu for idle", frame[i]);
	}
	run_chase(small);
	for (i = 0; i < CHASE / PAGE; i++)
		seen += !(read_word(idle, frame[i] / 64) >> frame[i] % 64 & 1);
	close(pagemap);
	close(idle);
}

/* Of each CPU but the first. */
static const char *list(char *text, const double *ns)
{
	int i, n = 0;

	*text = 0;
	for (i = 1; i < threads; i++)
		n += sprintf(text + n, "%s%.2f", i > 1 ? "," : "", ns[i]);
	return text;
}

static void show(void)
{
	static char reads[MAX_LIST * 32], writes[MAX_LIST * 32];
	char text[4096];
	int i, thread, n = 0;

	for (thread = 0; thread < threads; thread++)
		for (i = 0; i < nodes.n; i++)
			n += snprintf(text + n, sizeof(text) - n, "%s%.2f",
				      i ? "," : thread ? "],[" : "[[",
				      latency[thread][i]);
	n += snprintf(text + n, sizeof(text) - n, "]]");
	n += snprintf(text + n, sizeof(text) - n, ",\"bandwidth\":[");
	for (i = 0; i < nodes.n; i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%.1f", i ? "," : "",
			      bandwidth[i]);
	for (i = 0; i < nodes.n; i++)
		verify_chase(chase[i]);
	workload_result(0, latency[0][0], "ns", "\"latency\":%s],\"read_ns\":[%s],\"write_ns\":[%s],\"small_ns\":%.2f,\"before_ns\":%.2f,\"after_ns\":%.2f,\"fault_ns\":%.1f,\"quiet_ns\":%.1f,\"flush_ns\":%.1f,\"pages\":%lu,\"seen\":%lu",
			text, list(reads, read_ns), list(writes, write_ns), small_ns, before_ns, after_ns, fault_ns, quiet_ns, flush_ns,
			CHASE / PAGE, seen);
}

int main(int argc, char **argv)
{
	int i, thread;

	workload_parse(argc, argv, "Latency and bandwidth of each node.", options);
	threads = workload.cpus.n ? workload.cpus.n : 1;
	if (threads > MAX_THREADS)
		workload_fail("more than %d CPUs", MAX_THREADS);
	for (i = 0; i < nodes.n; i++) {
		chase[i] = make_chase(nodes.item[i], true);
		workload_place(&(struct list){ .item = { nodes.item[i] }, .n = 1 });
		for (thread = 0; thread < threads; thread++) {
			stream[thread][i] = map_sized(STREAM, true);
			memset(stream[thread][i], 1, STREAM);
		}
		workload_place(&(struct list){});
	}
	small = make_chase(nodes.item[0], false);
	workload_begin();
	workload_threads(threads, measure_latency);
	memsim_call(MEMSIM_PHASE);
	small_ns = run_chase(small);
	workload_threads(threads, measure_bandwidth);
	memsim_call(MEMSIM_PHASE + 1);
	measure_move();
	memsim_call(MEMSIM_PHASE + 2);
	workload_threads(threads, measure_sharing);
	measure_faults();
	quiet_ns = change_protection();
	spinning = true;
	workload_threads(threads, with_others);
	measure_seen();
	workload_end();
	show();
	return 0;
}
