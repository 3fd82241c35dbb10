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
#define UNIT		12	/* log2 */
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
		hmu = device_open(HMU_PCI_DEVICE, n++, HMU_PCI_BYTES);
		if (device_read(&hmu, HMU_PCI_ID) != HMU_PCI_MAGIC)
			workload_fail("the device does not say what it is");
	} while (device_read(&hmu, HMU_PCI_NODE) != node);
	if (device_read(&hmu, HMU_PCI_CHMU) != HMU_CHMU)
		workload_fail("the unit's registers are elsewhere");
}

static uint64_t status(void)
{
	return device_read(&hmu, HMU_INSTANCE(0) + CHMU_STATUS);
}

/* Have the unit do something, and wait until it has. */
static void control(uint64_t value)
{
	device_write(&hmu, HMU_INSTANCE(0) + CHMU_CFG0, value);
	if (!(status() & CHMU_STATUS_OPERATION))
		workload_fail("an operation takes no time");
	while (status() & CHMU_STATUS_OPERATION)
		;
}

static void touch(uint64_t page, int lines)
{
	int line;

	for (line = 0; line < lines; line++)
		(void)area[page * PAGE + line * LINE];
}

static void stop(void)
{
	control(0);
	if (status() & CHMU_STATUS_ENABLED)
		workload_fail("the unit cannot be disabled");
}

static void start(uint64_t threshold)
{
	uint64_t at;

	for (at = HMU_BITMAP(0); at < HMU_BITMAP(1); at += 8)
		device_write(&hmu, at, ~0UL);
	device_write(&hmu, HMU_INSTANCE(0) + CHMU_CFG1,
		     HMU_SET(CHMU_CFG1_UNIT, UNIT) |
		     HMU_SET(CHMU_CFG1_EPOCH_SCALE, CHMU_EPOCH_10MS) |
		     HMU_SET(CHMU_CFG1_EPOCH_COUNT, EPOCH_NS / 10000000));
	device_write(&hmu, HMU_INSTANCE(0) + CHMU_CFG2, 1);
	control(CHMU_CFG0_RESET);
	control(HMU_SET(CHMU_CFG0_THRESHOLD, threshold) | CHMU_CFG0_FILL_IRQ |
		HMU_SET(CHMU_CFG0_TRACK, CHMU_TRACK_PLAIN_READS) | CHMU_CFG0_ENABLE);
	if (!(status() & CHMU_STATUS_ENABLED))
		workload_fail("the unit cannot be enabled");
	if (device_read_half(&hmu, HMU_INSTANCE(0) + CHMU_TAIL) ||
	    status() & (CHMU_STATUS_OVERFLOW | CHMU_STATUS_FILLED))
		workload_fail("the unit does not begin anew");
}

/* Nothing else is going on: the CPU halts until the epoch's end. */
static void wait(void)
{
	struct timespec t = { .tv_nsec = EPOCH_NS };

	nanosleep(&t, NULL);
	if (!(status() & CHMU_STATUS_FILLED))
		workload_fail("the epoch does not end");
}

/* Physical address of a unit, by the device's ranges. */
static uint64_t address_of(uint64_t unit)
{
	uint64_t at = unit << UNIT, n, bytes;

	for (n = 0; n < device_read(&hmu, HMU_PCI_RANGES); n++) {
		bytes = device_read(&hmu, HMU_PCI_RANGE(n) + 8);
		if (at < bytes)
			return device_read(&hmu, HMU_PCI_RANGE(n)) + at;
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
	uint64_t head = device_read_half(&hmu, HMU_INSTANCE(0) + CHMU_HEAD);
	uint64_t tail = device_read_half(&hmu, HMU_INSTANCE(0) + CHMU_TAIL);

	for (page = 0; page < WATCHED / 4; page++)
		hot[page] = device_address((void *)(area + page * 4 * PAGE));
	qsort(hot, WATCHED / 4, sizeof(*hot), compare);
	for (*others = *count = 0; head < tail; head++) {
		uint64_t entry = device_read(&hmu, HMU_HOTLIST(0) + head * CHMU_ENTRY_BYTES);

		at = address_of(entry >> HMU_COUNT_BITS);
		if (!bsearch(&at, hot, WATCHED / 4, sizeof(*hot), compare)) {
			++*others;
			continue;
		}
		right++;
		*count += entry & ((1 << HMU_COUNT_BITS) - 1);
	}
	device_write_half(&hmu, HMU_INSTANCE(0) + CHMU_HEAD, tail);
	return right;
}

int main(int argc, char **argv)
{
	uint64_t page, right, others, count, listed, interrupts;
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
	stop();

	start(1);
	for (page = WATCHED; page < PAGES; page++)
		touch(page, 1);
	wait();
	listed = device_read_half(&hmu, HMU_INSTANCE(0) + CHMU_TAIL);
	overflow = status() & CHMU_STATUS_OVERFLOW;
	device_write(&hmu, HMU_INSTANCE(0) + CHMU_STATUS, CHMU_STATUS_OVERFLOW);
	if (status() & CHMU_STATUS_OVERFLOW)
		workload_fail("the overflow cannot be cleared");
	stop();
	seconds = workload_end();

	/* What is on the list is a hot page, each once; the rest is for who asked. */
	if (right > WATCHED / 4)
		workload_fail("%lu entries for %lu hot pages", right, WATCHED / 4);
	workload_verified(right);
	workload_result(seconds, right, "pages", "\"hot\":%lu,\"found\":%lu,\"others\":%lu,\"count\":%lu,\"interrupts\":%lu,\"listed\":%lu,\"overflow\":%s",
			WATCHED / 4, right, others, count, interrupts, listed,
			overflow ? "true" : "false");
	return 0;
}
