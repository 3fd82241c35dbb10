// SPDX-License-Identifier: GPL-2.0
/*
 * What the hotness monitoring unit says against what was accessed: some pages often,
 * some seldom, and more pages than its list has room for.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../memsim/hmu.h"
#include "lib/device.h"

#define PAGES		20480UL	/* more than HMU_ENTRIES */
#define WATCHED		1024UL
#define OFTEN		48
#define SELDOM		4
#define EPOCH_NS	50000000UL

static uint64_t node = 1;
static struct device hmu;
static volatile char *area;

static const struct workload_option options[] = {
	{ "node", 'n', "whose memory is accessed", .number = &node, .low = 0, .high = 63 },
	{}
};

static void find(void)
{
	unsigned int n = 0;

	do {
		hmu = device_open(HMU_DEVICE, n++, HMU_BYTES);
		if (device_read(&hmu, HMU_ID) != HMU_MAGIC)
			workload_fail("the device does not say what it is");
	} while (device_read(&hmu, HMU_NODE) != node);
}

static void touch(uint64_t page, int lines)
{
	int line;

	for (line = 0; line < lines; line++)
		(void)area[page * PAGE + line * LINE];
}

static void start(uint64_t threshold)
{
	device_write(&hmu, HMU_CONTROL, 0);
	device_write(&hmu, HMU_UNIT, 12);
	device_write(&hmu, HMU_EPOCH, EPOCH_NS);
	device_write(&hmu, HMU_THRESHOLD, threshold);
	device_write(&hmu, HMU_SAMPLE, 0);
	device_write(&hmu, HMU_TRACK, HMU_READS);
	device_write(&hmu, HMU_CONTROL, HMU_ENABLE | HMU_INTERRUPT);
	if (device_read(&hmu, HMU_TAIL) || device_read(&hmu, HMU_STATUS) != HMU_ENABLE)
		workload_fail("the unit does not begin anew");
}

/* Nothing else is going on: the CPU halts until the epoch's end. */
static void wait(void)
{
	struct timespec t = { .tv_nsec = EPOCH_NS };

	nanosleep(&t, NULL);
	if (!device_read(&hmu, HMU_EPOCHS))
		workload_fail("the epoch does not end");
}

/* Physical address of a unit, by the device's ranges. */
static uint64_t address_of(uint64_t unit)
{
	uint64_t at = unit << device_read(&hmu, HMU_UNIT), n, bytes;

	for (n = 0; n < device_read(&hmu, HMU_RANGES); n++) {
		bytes = device_read(&hmu, HMU_RANGE(n) + 8);
		if (at < bytes)
			return device_read(&hmu, HMU_RANGE(n)) + at;
		at -= bytes;
	}
	workload_fail("unit %lu is beyond the device's memory", unit);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Hot pages that are on the list; what else is there is counted in @others. */
static uint64_t found(uint64_t *others, uint64_t *count)
{
	uint64_t hot[WATCHED / 4], at, page, right = 0;
	uint64_t head = device_read(&hmu, HMU_HEAD), tail = device_read(&hmu, HMU_TAIL);

	for (page = 0; page < WATCHED / 4; page++)
		hot[page] = device_address((void *)(area + page * 4 * PAGE));
	qsort(hot, WATCHED / 4, sizeof(*hot), compare);
	for (*others = *count = 0; head < tail; head++) {
		uint64_t entry = device_read(&hmu, HMU_LIST + head % HMU_ENTRIES * 8);

		at = address_of(entry >> HMU_COUNT_BITS);
		if (!bsearch(&at, hot, WATCHED / 4, sizeof(*hot), compare)) {
			++*others;
			continue;
		}
		right++;
		*count += entry & ((1 << HMU_COUNT_BITS) - 1);
	}
	device_write(&hmu, HMU_HEAD, tail);
	return right;
}

int main(int argc, char **argv)
{
	uint64_t page, right, others, count, listed, lost, interrupts;
	bool overflow;
	double seconds;

	workload_parse(argc, argv,
		       "Checks the hotness monitoring unit of the memory model.",
		       options);
	find();
	area = device_memory(PAGES * PAGE, node);
	for (page = 0; page < PAGES; page++)
		memset((void *)(area + page * PAGE), 1, PAGE);
	device_interrupts(&hmu);

	workload_begin();
	interrupts = device_interrupted(0);
	start(16);
	for (page = 0; page < WATCHED; page++)
		touch(page, page % 4 ? SELDOM : OFTEN);
	wait();
	right = found(&others, &count);
	interrupts = device_interrupted(0) - interrupts;

	start(1);
	for (page = WATCHED; page < PAGES; page++)
		touch(page, 1);
	wait();
	listed = device_read(&hmu, HMU_TAIL);
	lost = device_read(&hmu, HMU_LOST);
	overflow = device_read(&hmu, HMU_STATUS) & HMU_OVERFLOW;
	device_write(&hmu, HMU_STATUS, HMU_OVERFLOW);
	if (device_read(&hmu, HMU_STATUS) & HMU_OVERFLOW)
		workload_fail("the overflow cannot be cleared");
	device_write(&hmu, HMU_CONTROL, 0);
	seconds = workload_end();

	/* What is on the list is a hot page, each once; the rest is for who asked. */
	if (right > WATCHED / 4)
		workload_fail("%lu entries for %lu hot pages", right, WATCHED / 4);
	workload_verified(right);
	workload_result(seconds, right, "pages", "\"hot\":%lu,\"found\":%lu,\"others\":%lu,\"count\":%lu,\"interrupts\":%lu,\"listed\":%lu,\"lost\":%lu,\"overflow\":%s",
			WATCHED / 4, right, others, count, interrupts, listed, lost,
			overflow ? "true" : "false");
	return 0;
}
