// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "devices.h"
#include "die.h"
#include "guest.h"
#include "qemu.h"

#define BAR		2
#define BAR_VECTORS	4
#define MAX_DEVICES	32
/* Far more than the structure with a PCI device's numbers takes. */
#define CLASS_BYTES	256

/**
 * struct device - one of them
 * @ops: of which kind
 * @id: name that the command line gives it
 * @model: its registers and what is behind them
 * @pci: QEMU's object
 */
struct device {
	const struct device_ops *ops;
	char id[16];
	void *model;
	void *pci;
	struct region region;
	struct timer timer;
};

static struct qemu qemu;
static struct memory *memory;
static void (*spend)(uint32_t ns);
static struct device devices[MAX_DEVICES];
static unsigned int count;

static void interrupt(struct device *d, uint64_t vectors)
{
	if (!vectors)
		return;
	if (!d->ops->vectors || !qemu.msix_enabled(d->pci)) {
		if (qemu.msi_enabled(d->pci))
			qemu.msi_notify(d->pci, 0);
		return;
	}
	for (; vectors; vectors &= vectors - 1)
		qemu.msix_notify(d->pci, __builtin_ctzll(vectors));
}

/* An interrupt for each that the model tells apart. */
static void add_vectors(struct device *d)
{
	unsigned int n, vectors = d->ops->vectors(memory->c);

	if (qemu.msix_init_exclusive_bar(d->pci, vectors, BAR_VECTORS, NULL))
		die("QEMU gives no interrupts to ", d->ops->type);
	for (n = 0; n < vectors; n++)
		qemu.msix_vector_use(d->pci, n);
}

/* Let the model do what is due; be here again when there is more. */
static void advance(struct device *d, uint64_t now)
{
	uint64_t next;

	interrupt(d, d->ops->advance(d->model, now));
	next = d->ops->next(d->model);
	if (next)
		qemu.timer_mod_ns(&d->timer, next > now ? next : now + 1);
	else
		qemu.timer_del(&d->timer);
}

static void on_timer(void *device)
{
	/*
	 * Between turns the time is the slowest CPU's. Others may be two turns
	 * ahead, and find in memory what was late for them; registers are exact.
	 */
	advance(device, clock_shared());
}

/* A register is read and written whole, or nothing comes of it. */
static bool whole(const struct device *d, uint64_t offset, unsigned int size)
{
	return size == (d->ops->size ? d->ops->size(offset) : 8);
}

static uint64_t on_read(void *device, uint64_t offset, unsigned int size)
{
	struct device *d = device;

	clock_cpu();
	spend(memory->c->mmio_read_ns);
	advance(d, clock_now());
	return whole(d, offset, size) ? d->ops->read(d->model, offset) : 0;
}

static void on_write(void *device, uint64_t offset, uint64_t value,
		     unsigned int size)
{
	struct device *d = device;

	clock_cpu();
	spend(memory->c->mmio_write_ns);
	/* What was due before comes before. */
	advance(d, clock_now());
	if (whole(d, offset, size))
		d->ops->write(d->model, offset, value, clock_now());
	advance(d, clock_now());
}

/* All of QEMU's devices are there, and the guest has not started yet. */
static void add_registers(struct notifier *notifier, void *data)
{
	static const struct region_ops ops = {
		.read = on_read, .write = on_write,
		.endianness = DEVICE_LITTLE_ENDIAN,
		.valid = { .sizes = { 2, 8, false } }, .impl = { 2, 8, false },
	};
	struct device *d;
	char path[64];

	(void)notifier;
	(void)data;
	for (d = devices; d < devices + count; d++) {
		snprintf(path, sizeof(path), "/machine/peripheral/%s", d->id);
		d->pci = qemu.object_resolve_path(path, NULL);
		/* Described, but not asked for on the command line. */
		if (!d->pci)
			continue;
		qemu.memory_region_init_io(&d->region, d->pci, &ops, d,
					   d->ops->type, d->ops->bytes);
		qemu.pci_register_bar(d->pci, BAR, 0, &d->region);
		if (d->ops->vectors)
			add_vectors(d);
		qemu.timer_init_full(&d->timer, NULL, CLOCK_VIRTUAL, NANOSECONDS,
				     0, on_timer, d);
	}
}

/* "edu" has its numbers in this order, which is where ours go. */
static void set_numbers(void *class, void *data)
{
	static const uint8_t edu[] = { 0x34, 0x12, 0xe8, 0x11, 0x10 };
	const struct device_ops *ops = data;
	uint8_t *at = memmem(class, CLASS_BYTES, edu, sizeof(edu));
	uint16_t old, numbers[] = { DEVICES_VENDOR, ops->device };

	if (at)
		memcpy(&old, at + 6, sizeof(old));
	if (!at || old != 0xff)
		die("QEMU 10.0 is needed: no place for the PCI numbers of ",
		    ops->type);
	memcpy(at, numbers, sizeof(numbers));
	memcpy(at + 6, &ops->class, sizeof(ops->class));
}

static void access_guest(uint64_t pa, void *buffer, size_t bytes, bool write)
{
	guest_access_memory(pa, buffer, bytes, write);
	if (write)
		memory_written(memory, pa, bytes);
}

static bool find(char *error, size_t size)
{
	static const struct {
		const char *name;
		size_t at;
	} wanted[] = {
#define WANTED(name) { #name, offsetof(struct qemu, name) }
		WANTED(type_register_static),
		WANTED(object_resolve_path),
		WANTED(qemu_add_machine_init_done_notifier),
		WANTED(memory_region_init_io),
		WANTED(pci_register_bar),
		WANTED(msi_enabled),
		WANTED(msi_notify),
		WANTED(msix_init_exclusive_bar),
		WANTED(msix_vector_use),
		WANTED(msix_enabled),
		WANTED(msix_notify),
		WANTED(timer_init_full),
		WANTED(timer_mod_ns),
		WANTED(timer_del),
	};
	size_t i;

	for (i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (!qemu_find(wanted[i].name, (char *)&qemu + wanted[i].at, error, size))
			return false;
	return true;
}

/* The one of node @node, or of the machine. */
static bool add(const struct device_ops *ops, struct memory *m,
		unsigned int node, char *error, size_t size)
{
	struct device *d = &devices[count];

	if (count == MAX_DEVICES) {
		snprintf(error, size, "more than %d devices", MAX_DEVICES);
		return false;
	}
	d->ops = ops;
	d->model = ops->create(m, node, access_guest);
	if (!d->model) {
		snprintf(error, size, "no memory left");
		return false;
	}
	if (ops->per_node)
		snprintf(d->id, sizeof(d->id), "%s%u", ops->id, node);
	else
		snprintf(d->id, sizeof(d->id), "%s", ops->id);
	count++;
	return true;
}

static bool add_all(const struct device_ops *ops, struct memory *m, char *error,
		    size_t size)
{
	unsigned int nodes = ops->per_node ? m->c->nodes : 1, node;

	for (node = 0; node < nodes; node++)
		if (ops->present(m->c, node) && !add(ops, m, node, error, size))
			return false;
	return true;
}

static void register_kind(const struct device_ops *ops)
{
	struct type_info info = {
		.name = ops->type, .parent = "edu", .class_init = set_numbers,
		.class_data = (void *)ops,
	};

	qemu.type_register_static(&info);
}

bool devices_init(struct memory *m, const struct device_ops *const *kinds,
		  void (*wait)(uint32_t ns), char *error, size_t size)
{
	static struct notifier notifier = { .notify = add_registers };
	const struct device_ops *const *kind;

	memory = m;
	spend = wait;
	for (kind = kinds; *kind; kind++)
		if (!add_all(*kind, m, error, size))
			return false;
	if (!count)
		return true;
	if (!find(error, size))
		return false;
	for (kind = kinds; *kind; kind++)
		register_kind(*kind);
	qemu.qemu_add_machine_init_done_notifier(&notifier);
	return true;
}
