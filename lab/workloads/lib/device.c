// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../memsim/device.h"
#include "device.h"

#define COMMAND		0x04
#define MASTER		0x0004
#define MEMORY		0x0002
#define CAPABILITIES	0x34
#define MSI		0x05
#define MSIX		0x11
#define APIC		0xfee00000U	/* and the CPU in bits 12 to 19 */
#define RESCHEDULE	0xfd	/* RESCHEDULE_VECTOR of x86 */

static int open_in(const char *directory, const char *name, int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		workload_fail("cannot open %s: %s", path, strerror(errno));
	return fd;
}

static uint16_t number_in(const char *directory, const char *name)
{
	char text[16] = {};
	int fd = open_in(directory, name, O_RDONLY);

	if (read(fd, text, sizeof(text) - 1) < 0)
		workload_fail("cannot read %s/%s", directory, name);
	close(fd);
	return strtoul(text, NULL, 16);
}

static struct device open_at(const char *directory, size_t bytes)
{
	struct device d = {
		.config = open_in(directory, "config", O_RDWR),
		.vectors = -1,
	};
	int fd = open_in(directory, "resource2", O_RDWR);
	uint16_t command;
	char path[256];
	void *p;

	if (pread(d.config, &command, sizeof(command), COMMAND) != sizeof(command))
		workload_fail("cannot read the device's command register");
	command |= MASTER | MEMORY;
	if (pwrite(d.config, &command, sizeof(command), COMMAND) != sizeof(command))
		workload_fail("cannot switch the device on");
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		workload_fail("cannot map the device's registers: %s", strerror(errno));
	close(fd);
	d.registers = p;
	snprintf(path, sizeof(path), "%s/resource4", directory);
	if (!access(path, F_OK))
		d.vectors = open_in(directory, "resource4", O_RDWR);
	return d;
}

struct device device_open(uint16_t number, unsigned int n, size_t bytes)
{
	glob_t found;
	size_t i;

	if (glob("/sys/bus/pci/devices/*", 0, NULL, &found))
		workload_fail("there are no PCI devices");
	for (i = 0; i < found.gl_pathc; i++)
		if (number_in(found.gl_pathv[i], "vendor") == DEVICES_VENDOR &&
		    number_in(found.gl_pathv[i], "device") == number && !n--)
			return open_at(found.gl_pathv[i], bytes);
	workload_fail("there is no PCI device %04x:%04x", DEVICES_VENDOR, number);
}

/* Where it is in the configuration space. */
static uint8_t find_capability(const struct device *d, uint8_t which, const char *name)
{
	uint8_t at, capability[2];
	bool good;

	good = pread(d->config, &at, 1, CAPABILITIES) == 1;
	while (good && at) {
		good = pread(d->config, capability, 2, at) == 2;
		if (capability[0] == which)
			break;
		at = capability[1];
	}
	if (!good || !at)
		workload_fail("the device has no %s", name);
	return at;
}

void device_interrupts(const struct device *d)
{
	uint32_t message[2] = { APIC, 0 }, vector = RESCHEDULE;
	uint8_t at = find_capability(d, MSI, "MSI");
	uint16_t control;
	bool good;

	/* 64-bit address, data, and the bit that switches it on. */
	good = pread(d->config, &control, 2, at + 2) == 2 &&
	       pwrite(d->config, message, 8, at + 4) == 8 &&
	       pwrite(d->config, &vector, 2, at + 12) == 2;
	control |= 1;
	if (!good || pwrite(d->config, &control, 2, at + 2) != 2)
		workload_fail("cannot set up the device's MSI");
}

void device_vectors(const struct device *d, unsigned int n, unsigned int cpus)
{
	uint8_t at = find_capability(d, MSIX, "MSI-X");
	volatile uint32_t *table;
	uint16_t control;
	unsigned int i;

	table = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, d->vectors, 0);
	if (table == MAP_FAILED)
		workload_fail("cannot map the device's vectors: %s", strerror(errno));
	/* Address in two parts, data, and a zero that lets it through. */
	for (i = 0; i < n; i++, table += 4) {
		table[0] = APIC | i % cpus << 12;
		table[1] = 0;
		table[2] = RESCHEDULE;
		table[3] = 0;
	}
	if (pread(d->config, &control, 2, at + 2) != 2)
		workload_fail("cannot read the device's MSI-X");
	control |= 0x8000;
	if (pwrite(d->config, &control, 2, at + 2) != 2)
		workload_fail("cannot set up the device's MSI-X");
}

uint64_t device_interrupted(unsigned int cpu)
{
	FILE *f = fopen("/proc/interrupts", "re");
	uint64_t count = 0;
	char line[1024], *word;

	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, " RES:"))
			continue;
		word = strstr(line, "RES:") + 4;
		for (unsigned int i = 0; i <= cpu; i++)
			count = strtoul(word, &word, 10);
		break;
	}
	if (f)
		fclose(f);
	return count;
}

void *device_memory(size_t bytes, int node)
{
	void *p;

	workload_place(&(struct list){ .item = { node }, .n = 1 });
	p = workload_map(bytes);
	if (mlock(p, bytes))
		workload_fail("cannot lock memory: %s", strerror(errno));
	workload_place(&(struct list){});
	return p;
}

uint64_t device_address(const void *p)
{
	uint64_t entry = 0, at = (uint64_t)p;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || pread(fd, &entry, sizeof(entry), at / PAGE * 8) != 8 ||
	    !(entry >> 63))
		workload_fail("cannot find out where memory is");
	close(fd);
	return (entry & ((1UL << 55) - 1)) * PAGE + at % PAGE;
}
