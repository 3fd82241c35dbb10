// SPDX-License-Identifier: GPL-2.0
/*
 * Threads access lines at random, and each samples itself by the kernel's event ibs_op:
 * what the samples say of addresses and of where the data came from, for comparison with
 * what the memory model counted.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/device.h"
#include "lib/lines.h"

#define TYPE	"/sys/bus/event_source/devices/ibs_op/type"
#define RING	(8UL << 20)
/* Of the event's config: only what the last-level cache has not; ops and not cycles. */
#define L3_MISSES	(1UL << 16)
#define OPS		(1UL << 19)
/* Of config2: the driver leaves out what is of the kernel. */
#define FILTERED	1UL

/**
 * struct sample - as the sample_type below asks for it
 */
struct sample {
	struct perf_event_header header;
	uint64_t ip, address, weight, source, physical;
};

static uint64_t mib = 64, accesses = 400000, period = 4096;
static bool only_misses, cycles, sequential;
static struct lines area;
static struct perf_event_mmap_page *ring[MAX_THREADS];
static int event[MAX_THREADS], type;

static const struct workload_option options[] = {
	{ "mib", 'm', "size of the area", .number = &mib, .low = 1, .high = 1 << 20 },
	{ "accesses", 'n', "of each thread", .number = &accesses, .low = 1, .high = UINT64_MAX },
	{ "period", 'p', "of sampling", .number = &period, .low = 0x90, .high = 1 << 26 },
	{ "misses", 'l', "sample only what the last-level cache has not", .flag = &only_misses },
	{ "sequential", 's', "all lines one after the other, and not at random",
	  .flag = &sequential },
	{ "cycles", 'c', "count cycles and not ops", .flag = &cycles },
	{}
};

static void open_event(int thread)
{
	struct perf_event_attr a = {
		.type = type, .size = sizeof(a), .sample_period = period,
		.config = (only_misses ? L3_MISSES : 0) | (cycles ? 0 : OPS),
		.config2 = FILTERED, .exclude_kernel = 1, .disabled = 1, .precise_ip = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT |
			       PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR,
		/* Nobody is to be woken. */
		.watermark = 1, .wakeup_watermark = RING,
	};

	event[thread] = syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (event[thread] < 0)
		workload_fail("cannot open ibs_op: %s", strerror(errno));
	ring[thread] = mmap(NULL, PAGE + RING, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			    event[thread], 0);
	if (ring[thread] == MAP_FAILED)
		workload_fail("cannot map the ring of ibs_op: %s", strerror(errno));
}

static uint64_t in_order(void)
{
	uint64_t differ = 0, n;

	for (n = 0; n < accesses; n++)
		differ |= lines_access(&area, n % area.n, false);
	return differ;
}

static void touch(int thread)
{
	uint64_t x = random_start(thread);

	open_event(thread);
	workload_barrier();
	ioctl(event[thread], PERF_EVENT_IOC_ENABLE, 0);
	if (sequential)
		lines_differ(in_order());
	else
		lines_differ(lines_mixed(&area, &x, 0, (mib << 20) / PAGE, accesses, false));
	ioctl(event[thread], PERF_EVENT_IOC_DISABLE, 0);
}

/**
 * struct sums - of all samples
 * @all: their number
 * @bare: those without an access
 * @area: those of the area
 * @wrong: of these, those whose physical address is not where the page is
 * @own, @cache, @dram, @cxl, @other: those of the area by where the data came from
 * @remote: of @dram and @cxl, those of another socket
 * @dram_weight, @cxl_weight: latency of these, in cycles
 * @lost: that the ring had no room for
 * @throttled: times that the kernel held sampling back
 */
static struct {
	uint64_t all, bare, area, wrong, own, cache, dram, cxl, other, remote;
	uint64_t dram_weight, cxl_weight, lost, throttled;
} sums;

static void count_source(const struct sample *s)
{
	union perf_mem_data_src source = { .val = s->source };

	switch (source.mem_lvl_num) {
	case PERF_MEM_LVLNUM_L1:
		sums.own++;
		break;
	case PERF_MEM_LVLNUM_L3:
	case PERF_MEM_LVLNUM_ANY_CACHE:
		sums.cache++;
		break;
	case PERF_MEM_LVLNUM_RAM:
		sums.dram++;
		sums.dram_weight += s->weight;
		sums.remote += source.mem_remote;
		break;
	case PERF_MEM_LVLNUM_CXL:
		sums.cxl++;
		sums.cxl_weight += s->weight;
		sums.remote += source.mem_remote;
		break;
	default:
		sums.other++;
	}
}

static void count(const struct sample *s)
{
	uint64_t start = (uintptr_t)area.word;

	sums.all++;
	if (!s->address) {
		sums.bare++;
		return;
	}
	if (s->address - start >= area.n * LINE)
		return;
	sums.area++;
	if (s->physical != device_address((void *)(uintptr_t)s->address))
		sums.wrong++;
	count_source(s);
}

static void read_ring(int thread)
{
	const char *data = (const char *)ring[thread] + PAGE;
	uint64_t head = __atomic_load_n(&ring[thread]->data_head, __ATOMIC_ACQUIRE), at;
	union {
		struct perf_event_header header;
		struct sample sample;
		char bytes[256];
	} record;

	if (head > RING)
		workload_fail("a ring of %lu bytes has been written %lu", RING, head);
	for (at = 0; at < head; at += record.header.size) {
		memcpy(&record, data + at, sizeof(record.header));
		if (record.header.size > sizeof(record) ||
		    record.header.size < sizeof(record.header))
			workload_fail("a record of %u bytes", record.header.size);
		memcpy(&record, data + at, record.header.size);
		if (record.header.type == PERF_RECORD_SAMPLE)
			count(&record.sample);
		else if (record.header.type == PERF_RECORD_LOST)
			sums.lost++;
		else if (record.header.type == PERF_RECORD_THROTTLE)
			sums.throttled++;
	}
}

/* All that all CPUs have had. */
static uint64_t interrupts(void)
{
	FILE *f = fopen("/proc/interrupts", "re");
	uint64_t sum = 0, n;
	char line[4096];

	while (f && fgets(line, sizeof(line), f)) {
		char *at = strstr(line, "NMI:"), *end;

		for (at = at ? at + 4 : NULL; at; at = end) {
			n = strtoull(at, &end, 10);
			if (end == at)
				break;
			sum += n;
		}
	}
	if (!f)
		workload_fail("cannot read /proc/interrupts: %s", strerror(errno));
	fclose(f);
	return sum;
}

static int read_type(void)
{
	FILE *f = fopen(TYPE, "re");
	int number = -1;

	if (!f || fscanf(f, "%d", &number) != 1)
		workload_fail("this CPU does not sample instructions: there is no %s", TYPE);
	fclose(f);
	return number;
}

int main(int argc, char **argv)
{
	int threads, thread;
	uint64_t before;
	double seconds;

	workload_parse(argc, argv, "What instruction based sampling says of random accesses.",
		       options);
	threads = workload.cpus.n ? workload.cpus.n : 1;
	if (threads > MAX_THREADS)
		workload_fail("more than %d CPUs", MAX_THREADS);
	type = read_type();
	area = lines_map(mib, &workload.place, 1);
	before = interrupts();
	seconds = workload_measure(threads, touch);
	before = interrupts() - before;
	for (thread = 0; thread < threads; thread++)
		read_ring(thread);
	lines_verify(&area);
	workload_result(seconds, sums.all / seconds, "samples/s",
			"\"samples\":%lu,\"bare\":%lu,\"area\":%lu,\"wrong\":%lu,\"own\":%lu,\"cache\":%lu,\"dram\":%lu,\"cxl\":%lu,\"other\":%lu,\"remote\":%lu,\"dram_ns\":%.1f,\"cxl_ns\":%.1f,\"lost\":%lu,\"throttled\":%lu,\"interrupts\":%lu",
			sums.all, sums.bare, sums.area, sums.wrong, sums.own, sums.cache,
			sums.dram, sums.cxl, sums.other, sums.remote,
			sums.dram ? (double)sums.dram_weight / sums.dram : 0,
			sums.cxl ? (double)sums.cxl_weight / sums.cxl : 0, sums.lost,
			sums.throttled, before);
	return 0;
}
