// SPDX-License-Identifier: GPL-2.0
/*
 * Copies memory with the copy engine: is every byte there, what does a job take beside
 * the CPU's own copy, and what becomes of one that cannot be done.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../memsim/dma.h"
#include "lib/device.h"

#define JOBS	256UL
#define AREA	(JOBS * PAGE)
#define BATCHES	8UL	/* of 32 jobs at least: all pages once */
#define OTHER	(8UL << 20)	/* four times the last-level cache of any machine */

static uint64_t from_node, to_node = 1;
static struct device dma;
static volatile struct dma_descriptor *ring;
static uint64_t ring_at, channels, cpus;
static char *from, *to, *other;
static uint64_t from_at[JOBS], to_at[JOBS];

static const struct workload_option options[] = {
	{ "from", 'f', "node", .number = &from_node, .low = 0, .high = 63 },
	{ "to", 't', "node", .number = &to_node, .low = 0, .high = 63 },
	{}
};

/* A page holds 128 descriptors: each channel has a part of its own. */
static void set_up(uint64_t entries)
{
	uint64_t n;

	for (n = 0; n < channels; n++) {
		device_write(&dma, DMA_CHANNEL(n) + DMA_RING,
			     ring_at + n * entries * sizeof(*ring));
		device_write(&dma, DMA_CHANNEL(n) + DMA_ENTRIES, entries);
	}
}

static void job(uint64_t slot, uint64_t at, uint64_t into, uint32_t bytes)
{
	ring[slot].from = at;
	ring[slot].to = into;
	ring[slot].bytes = bytes;
	ring[slot].flags = DMA_NOTIFY;
	ring[slot].status = 0;
}

static void wait(uint64_t channel, uint64_t jobs)
{
	while (device_read(&dma, DMA_CHANNEL(channel) + DMA_DONE) != jobs)
		__builtin_ia32_pause();
}

static int by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * All pages by @n channels, up to 32 at a time each; the nanoseconds a page took in the
 * median batch: now and then the kernel has something else to do meanwhile.
 */
static double copy_all(uint64_t n)
{
	uint64_t share = n > 4 ? 128 / n : 32, batch, c, i;
	double ns[BATCHES], began;

	set_up(share);
	for (batch = 0; batch < BATCHES; batch++) {
		began = workload_now();
		for (c = 0; c < n; c++) {
			for (i = 0; i < share; i++) {
				uint64_t page = ((batch * n + c) * share + i) % JOBS;

				job(c * share + i, from_at[page], to_at[page], PAGE);
			}
			device_write(&dma, DMA_CHANNEL(c) + DMA_POSTED, (batch + 1) * share);
		}
		for (c = 0; c < n; c++)
			wait(c, (batch + 1) * share);
		ns[batch] = (workload_now() - began) * 1e9 / (n * share);
	}
	qsort(ns, BATCHES, sizeof(*ns), by_time);
	return (ns[BATCHES / 2 - 1] + ns[BATCHES / 2]) / 2;
}

/*
 * The same pages by the CPU, in the way of the kernel's copy_page(): 8 bytes per
 * instruction of the model. They are in no cache, as pages that are promoted.
 */
static double copy_by_cpu(void)
{
	uint64_t i, words = AREA / sizeof(uint64_t);
	char *at = from, *into = to;
	double began;

	for (i = 0; i < OTHER; i += LINE)
		*(volatile char *)(other + i);
	began = workload_now();
	__asm__ volatile("rep movsq" : "+S" (at), "+D" (into), "+c" (words) : : "memory");
	return (workload_now() - began) * 1e9;
}

static void fill(unsigned char seed)
{
	uint64_t x = random_start(seed), i;

	for (i = 0; i < AREA / sizeof(x); i++)
		((uint64_t *)from)[i] = random_next(&x);
	memset(to, 0, AREA);
}

static void compare(const char *what)
{
	uint64_t i;

	if (getenv("BENCH_CORRUPT"))
		to[AREA - 1]++;
	if (memcmp(from, to, AREA))
		workload_fail("%s: the copy differs", what);
	for (i = 0; i < 32; i++)
		if (ring[i].status != DMA_OK)
			workload_fail("%s: job %lu has status %lu", what, i,
				      ring[i].status);
	workload_verified(AREA);
}

/* Jobs that must fail, between two that must not; how many failed. */
static uint64_t bad_jobs(void)
{
	static const uint64_t want[] = { DMA_OK, DMA_ERROR, DMA_ERROR, DMA_ERROR, DMA_OK };
	uint64_t i;

	set_up(32);
	memset(to, 0, AREA);
	job(0, from_at[0], to_at[0], PAGE);
	job(1, from_at[1], 1UL << 45, PAGE);
	job(2, from_at[2], to_at[2], 0);
	job(3, from_at[3], to_at[3], DMA_JOB_MAX + 1);
	/* A byte more than the beginning of a page, at odd addresses. */
	job(4, from_at[4] + 5, to_at[4] + 7, 1001);
	device_write(&dma, DMA_CHANNEL(0) + DMA_POSTED, 5);
	/* More than the ring holds: not taken. */
	device_write(&dma, DMA_CHANNEL(0) + DMA_POSTED, 40);
	wait(0, 5);
	for (i = 0; i < 5; i++)
		if (ring[i].status != want[i])
			workload_fail("bad job %lu has status %lu", i, ring[i].status);
	if (memcmp(from, to, PAGE) ||
	    memcmp(from + 4 * PAGE + 5, to + 4 * PAGE + 7, 1001) ||
	    to[4 * PAGE + 7 + 1001] || to[4 * PAGE + 6] || to[PAGE] || to[2 * PAGE])
		workload_fail("a job copied what it should not");
	return device_read(&dma, DMA_CHANNEL(0) + DMA_FAILED);
}

/* Channels that interrupt the CPU they should, and say why, and they alone. */
static uint64_t own_vectors(void)
{
	uint64_t c, other, before, good = 0, causes;

	set_up(1);
	for (c = 0; c < channels; c++) {
		before = device_interrupted(c % cpus);
		job(c, from_at[c], to_at[c], PAGE);
		device_write(&dma, DMA_CHANNEL(c) + DMA_POSTED, 1);
		wait(c, 1);
		for (causes = 0, other = 0; other < channels; other++)
			causes |= device_read(&dma, DMA_CHANNEL(other) + DMA_CAUSE) << 2 * other;
		device_write(&dma, DMA_CHANNEL(c) + DMA_CAUSE, DMA_CAUSE_DONE);
		/* It comes at the end of the CPU's turn. */
		usleep(1000);
		good += device_interrupted(c % cpus) > before &&
			causes == (uint64_t)DMA_CAUSE_DONE << 2 * c &&
			!device_read(&dma, DMA_CHANNEL(c) + DMA_CAUSE);
	}
	return good;
}

int main(int argc, char **argv)
{
	uint64_t page, interrupts, failed, vectors;
	double one, all, cpu, seconds;

	workload_parse(argc, argv, "Checks the copy engine of the memory model.", options);
	dma = device_open(DMA_DEVICE, 0, DMA_BYTES);
	if (device_read(&dma, DMA_ID) != DMA_MAGIC)
		workload_fail("the device does not say what it is");
	channels = device_read(&dma, DMA_CHANNELS);
	ring = device_memory(PAGE, 0);
	ring_at = device_address((void *)ring);
	from = device_memory(AREA, from_node);
	to = device_memory(AREA, to_node);
	other = device_memory(OTHER, 0);
	for (page = 0; page < JOBS; page++) {
		from_at[page] = device_address(from + page * PAGE);
		to_at[page] = device_address(to + page * PAGE);
	}
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	device_vectors(&dma, channels, cpus);
	device_write(&dma, DMA_CONTROL, DMA_INTERRUPT);

	workload_begin();
	interrupts = device_interrupted(0);
	fill(1);
	one = copy_all(1);
	compare("one channel");
	interrupts = device_interrupted(0) - interrupts;
	fill(2);
	all = copy_all(channels);
	compare("all channels");
	fill(3);
	cpu = copy_by_cpu();
	compare("the CPU");
	failed = bad_jobs();
	vectors = own_vectors();
	seconds = workload_end();

	workload_result(seconds, one, "ns", "\"channels\":%lu,\"jobs\":%lu,\"one_ns\":%.1f,\"all_ns\":%.1f,\"cpu_ns\":%.1f,\"interrupts\":%lu,\"failed\":%lu,\"vectors\":%lu",
			channels, JOBS, one, all, cpu / JOBS, interrupts, failed, vectors);
	return 0;
}
