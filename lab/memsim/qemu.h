/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of QEMU's device interface that is used here, as its documentation
 * describes it (docs/devel: qom, memory, and include/qemu/timer.h): no package
 * ships the headers. Found by name at run time, so that one that lacks any of it
 * is refused with a message.
 */
#ifndef MEMSIM_QEMU_H
#define MEMSIM_QEMU_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * Put the address of QEMU's @name into @function, a pointer to a pointer. On failure @error
 * says that it is not there.
 */
static inline bool qemu_find(const char *name, void *function, char *error, size_t size)
{
	void *f = dlsym(RTLD_DEFAULT, name);

	if (!f) {
		snprintf(error, size, "QEMU 10.0 is needed: this one has no %s", name);
		return false;
	}
	memcpy(function, &f, sizeof(f));
	return true;
}

struct type_info {
	const char *name, *parent;
	size_t instance_size, instance_align;
	void (*instance_init)(void *object);
	void (*instance_post_init)(void *object);
	void (*instance_finalize)(void *object);
	bool abstract;
	size_t class_size;
	void (*class_init)(void *class, void *data);
	void (*class_base_init)(void *class, void *data);
	void *class_data;
	void *interfaces;
};

enum { DEVICE_LITTLE_ENDIAN = 2 };

struct access_sizes {
	unsigned int min, max;
	bool unaligned;
};

struct region_ops {
	uint64_t (*read)(void *opaque, uint64_t offset, unsigned int size);
	void (*write)(void *opaque, uint64_t offset, uint64_t value,
		      unsigned int size);
	void *read_with_attrs, *write_with_attrs;
	int endianness;
	struct {
		struct access_sizes sizes;
		void *accepts;
	} valid;
	struct access_sizes impl;
};

struct notifier {
	void (*notify)(struct notifier *n, void *data);
	void *next, **previous;
};

enum { CLOCK_VIRTUAL = 1, NANOSECONDS = 1 };

/* Room for QEMU's own structures: more than any version has needed. */
struct region {
	_Alignas(16) char space[2048];
};

struct timer {
	_Alignas(16) char space[256];
};

struct qemu {
	void *(*type_register_static)(const struct type_info *info);
	void *(*object_resolve_path)(const char *path, bool *ambiguous);
	void (*qemu_add_machine_init_done_notifier)(struct notifier *n);
	void (*memory_region_init_io)(struct region *r, void *owner,
				      const struct region_ops *ops, void *opaque,
				      const char *name, uint64_t size);
	void (*pci_register_bar)(void *pci, int number, uint8_t type,
				 struct region *r);
	bool (*msi_enabled)(const void *pci);
	void (*msi_notify)(void *pci, unsigned int vector);
	int (*msix_init_exclusive_bar)(void *pci, unsigned short vectors,
				       uint8_t bar, void *error);
	void (*msix_vector_use)(void *pci, unsigned int vector);
	int (*msix_enabled)(const void *pci);
	void (*msix_notify)(void *pci, unsigned int vector);
	void (*timer_init_full)(struct timer *t, void *group, int clock,
				int scale, int attributes, void (*f)(void *),
				void *opaque);
	void (*timer_mod_ns)(struct timer *t, int64_t at);
	void (*timer_del)(struct timer *t);
};

#endif
